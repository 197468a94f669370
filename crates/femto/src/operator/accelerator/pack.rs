//! Packing a block: its elements, their nodes, geometry and fields.

use super::arrays::DeviceArray;
use crate::Number;
use crate::operator::binding::GroupPacker;
use crate::operator::{Binding, OperatorError};
use crate::vector::upload_f64;
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::parallel;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{Block, Elements, GROUP, Target};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The elements of one kind of map, to be packed.
pub(super) struct Packer<'a> {
    pub(super) binding: &'a Binding<'a>,
    pub(super) block: &'a Block,
    /// The elements, ascending.
    pub(super) elements: Vec<u32>,
    /// L-vector nodes `[element][node]`, listed when first asked for.
    nodes: OnceLock<Vec<u32>>,
    /// See [`Elements::position`].
    origin: OnceLock<[f64; 3]>,
    /// See [`Elements::layers`].
    layers: OnceLock<usize>,
    kind: usize,
}

impl<'a> Packer<'a> {
    /// One for each kind of map, in the plan's order.
    pub(super) fn all(binding: &'a Binding<'a>) -> Vec<Self> {
        let of_kind = |(kind, plan): (usize, &'a crate::operator::plan::KindPlan)| Self {
            binding,
            block: &plan.block,
            nodes: OnceLock::new(),
            origin: OnceLock::new(),
            layers: OnceLock::new(),
            elements: elements(binding, |other| other == kind),
            kind,
        };
        binding.plan.kinds.iter().enumerate().map(of_kind).collect()
    }

    /// The layers of columns if the elements are whole ones and their nodes are numbered evenly from layer to layer, which they
    /// are not if a column is too tall for a chunk or beside cells of another shape; otherwise 1.
    fn even_layers(&self) -> usize {
        let (space, geometry) = (self.binding.space, self.binding.geometry);
        let layers = geometry.columns().map_or(1, |columns| columns.layers);
        if layers == 1 {
            return 1;
        }
        let is_whole = |column: &[u32]| {
            let first = column[0] as usize;
            first.is_multiple_of(layers)
                && column.iter().zip(first..).all(|(&n, m)| n as usize == m)
        };
        let are_whole = self.elements.len().is_multiple_of(layers)
            && parallel::all(self.elements.len() / layers, |column| {
                is_whole(&self.elements[column * layers..][..layers])
            });
        if !are_whole {
            return 1;
        }
        if layers == space.restriction().layers {
            return layers;
        }
        let [lowest, second] = [0, 1].map(|n| self.nodes_of(n));
        let steps = lowest.iter().zip(&second);
        let steps: Vec<u32> = steps.map(|(low, high)| high.wrapping_sub(*low)).collect();
        let is_even = |column: usize| {
            let [mut low, mut high] = [lowest.clone(), second.clone()];
            let mut elements = self.elements[column * layers..][..layers].windows(2);
            elements.all(|pair| {
                space.write_element_nodes(pair[0] as usize, &mut low);
                space.write_element_nodes(pair[1] as usize, &mut high);
                let mut pairs = low.iter().zip(&high).zip(&steps);
                pairs.all(|((low, high), step)| high.wrapping_sub(*low) == *step)
            })
        };
        match parallel::all(self.elements.len() / layers, is_even) {
            true => layers,
            false => 1,
        }
    }

    /// Packed geometry, `[element][number]`; `None` if nothing is stored.
    pub(super) fn geometry<T: Number>(
        &self,
        device: &Accelerator,
        target: &Target,
    ) -> Result<Option<DeviceArray<T>>, OperatorError> {
        if self.block.device_numbers() == 0 {
            return Ok(None);
        }
        let stored = self
            .block
            .stored_precision(target.factors, target.precision);
        Ok(Some(match stored {
            Precision::Fp32 if T::PRECISION != Precision::Fp32 => {
                DeviceArray::Single(device.upload(&self.rows::<f32>())?)
            }
            _ => DeviceArray::Reals(device.upload(&self.rows::<T>())?),
        }))
    }

    fn rows<N: Number>(&self) -> Vec<N> {
        let (len, maps) = (self.block.device_numbers(), self.binding.maps());
        let packer = GroupPacker {
            binding: self.binding,
            block: self.block,
            maps: &maps,
            for_device: true,
        };
        let mut packed = vec![N::default(); len * self.elements.len()];
        parallel::blocks(&mut packed, len * GROUP, |first, rows| {
            let (mut at, mut row) = (GeometryAtPoints::default(), vec![0.0; len * GROUP]);
            let groups = self.elements[first * GROUP..].chunks(GROUP);
            for (elements, out) in groups.zip(rows.chunks_mut(len * GROUP)) {
                let row = &mut row[..out.len()];
                packer.pack(elements, &mut at, row);
                for (out, number) in out.iter_mut().zip(row) {
                    *out = N::from_f64(*number);
                }
            }
        });
        packed
    }

    /// The fields of one kind, `[element][field][number]`.
    pub(super) fn fields<T: Number>(
        &self,
        device: &Accelerator,
        kind: FieldKind,
    ) -> Result<Option<AcceleratorBuffer<T>>, OperatorError> {
        let values = self.field_values(&self.elements, kind);
        if values.is_empty() {
            return Ok(None);
        }
        Ok(Some(upload_f64(device, &values)?))
    }

    fn field_values(&self, elements: &[u32], kind: FieldKind) -> Vec<f64> {
        let len = self.binding.fields_at(kind, 0).map(<[f64]>::len).sum();
        if len == 0 {
            return Vec::new();
        }
        let mut values = vec![0.0; elements.len() * len];
        parallel::chunks(&mut values, len, |place, row| {
            let cell = self.binding.mesh_cell(elements[place] as usize);
            let own = self.binding.fields_at(kind, cell).flatten();
            row.iter_mut().zip(own).for_each(|(out, &x)| *out = x);
        });
        values
    }

    /// A vertex of the block, or zero if the form reads positions: single precision keeps differences from it.
    fn origin(&self) -> [f64; 3] {
        *self.origin.get_or_init(|| {
            let binding = self.binding;
            let first = self.elements.first();
            let first = first.filter(|_| !binding.plan.operator.inspection.reads_position);
            first.map_or([0.0; 3], |&element| {
                let cell = binding.mesh_cell(element as usize);
                binding.geometry.simplex_vertices(cell)[0]
            })
        })
    }

    /// A position from the origin.
    fn less_origin(&self, x: [f64; 3]) -> [f64; 3] {
        let origin = self.origin();
        [0, 1, 2].map(|axis| x[axis] - origin[axis])
    }

    /// The coordinates in the geometry's dimensions, `[position][dim]`, from the origin.
    fn leading(&self, count: usize, position: impl Fn(usize) -> [f64; 3] + Sync) -> Vec<f64> {
        let dim = self.binding.geometry.dim();
        let mut leading = vec![0.0; count * dim];
        parallel::chunks(&mut leading, dim, |number, row| {
            row.copy_from_slice(&self.less_origin(position(number))[..dim]);
        });
        leading
    }
}

impl Elements for Packer<'_> {
    fn count(&self) -> usize {
        self.elements.len()
    }

    fn layers(&self) -> usize {
        *self.layers.get_or_init(|| self.even_layers())
    }

    fn nodes_of(&self, element: usize) -> Vec<u32> {
        let element = self.elements[element] as usize;
        self.binding.space.element_nodes(element)
    }

    fn vertex(&self, element: usize, vertex: usize) -> u32 {
        let cell = self.binding.mesh_cell(self.elements[element] as usize);
        self.binding.geometry.vertex_nodes(cell)[vertex]
    }

    fn position(&self, mesh_node: u32) -> [f64; 3] {
        self.less_origin(self.binding.geometry.coordinates().at(mesh_node as usize))
    }

    fn nodes(&self) -> &[u32] {
        self.nodes
            .get_or_init(|| nodes(self.binding, &self.elements))
    }

    fn elsewhere(&self) -> Vec<bool> {
        let restriction = self.binding.space.restriction();
        let mut elsewhere = vec![false; restriction.nodes];
        if restriction.blocks > 1 {
            elsewhere[restriction.first_interface..].fill(true);
        }
        let others = elements(self.binding, |other| other != self.kind);
        for node in nodes(self.binding, &others) {
            elsewhere[node as usize] = true;
        }
        elsewhere
    }

    fn vertices(&self) -> Vec<u32> {
        let (binding, count) = (self.binding, self.binding.space.cell().vertices());
        let mut vertices = vec![0; self.elements.len() * count];
        parallel::chunks(&mut vertices, count, |place, row| {
            let cell = binding.mesh_cell(self.elements[place] as usize);
            row.copy_from_slice(&binding.geometry.vertex_nodes(cell));
        });
        vertices
    }

    fn coordinates(&self) -> Vec<f64> {
        let coordinates = self.binding.geometry.coordinates();
        self.leading(coordinates.len(), |node| coordinates.at(node))
    }

    fn node_coordinates(&self) -> Vec<f64> {
        let (space, geometry) = (self.binding.space, self.binding.geometry);
        // Of nodes at vertices: all elements with a node have the same there.
        let vertices = parallel::unset(space.nodes());
        let (nodes, count) = (self.nodes(), space.nodes_per_element());
        parallel::for_each(self.elements.len(), |place| {
            let own = &nodes[place * count..][..count];
            let cell = self.binding.mesh_cell(self.elements[place] as usize);
            for (&node, vertex) in own.iter().zip(geometry.vertex_nodes(cell).each()) {
                vertices[node as usize].store(vertex, Ordering::Relaxed);
            }
        });
        let coordinates = geometry.coordinates();
        self.leading(vertices.len(), |node| {
            let vertex = vertices[node].load(Ordering::Relaxed);
            coordinates.get(vertex as usize).unwrap_or_default()
        })
    }

    fn cell_fields(&self, places: &[u32]) -> Vec<f64> {
        let element = |place: usize| self.elements[places[place] as usize];
        self.field_values(&parallel::map(places.len(), element), FieldKind::Cell)
    }
}

/// The elements whose kind of map `is_wanted`.
fn elements(binding: &Binding<'_>, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
    let segments = binding.plan.segments.iter().flatten();
    let mut elements = Vec::new();
    for segment in segments.filter(|segment| is_wanted(segment.kind)) {
        elements.extend(segment.elements.start as u32..segment.elements.end as u32);
    }
    elements
}

/// L-vector nodes of elements, `[element][node]`.
fn nodes(binding: &Binding<'_>, elements: &[u32]) -> Vec<u32> {
    let space = binding.space;
    let count = space.nodes_per_element();
    let mut nodes = vec![0; count * elements.len()];
    parallel::chunks(&mut nodes, count, |place, nodes| {
        space.write_element_nodes(elements[place] as usize, nodes);
    });
    nodes
}
