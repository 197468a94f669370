//! What the kernels read of a mesh.

use crate::Number;
use crate::operator::accelerator::pack::fields;
use crate::operator::tables::Shape as AnyShape;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::{GeometryAtPoints, GeometryKind};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::simplex_quadrature::blocks::BlockLists;
use femto_kernel::family::simplex_quadrature::fans::{Fans, NONE};
use femto_kernel::family::simplex_quadrature::{CellGeometry, Element, Shape, Storage, pack};
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device};
use rayon::prelude::*;
use std::sync::Arc;

/// Arrays over some cells, `[cell][number]`.
#[derive(Debug)]
pub(super) struct Arrays<T: Number> {
    pub(super) cells: usize,
    /// What the storage keeps of each cell.
    pub(super) geometry: AcceleratorBuffer<T>,
    /// `[vertex][dim]`, where the geometry is recomputed: of L-vector nodes at degree 1.
    pub(super) coordinates: Option<Arc<AcceleratorBuffer<T>>>,
    /// Vertices of each cell, where they are not its nodes.
    pub(super) vertices: Option<AcceleratorBuffer<u32>>,
    /// L-vector nodes of each cell.
    pub(super) nodes: AcceleratorBuffer<u32>,
    pub(super) cell_fields: Option<AcceleratorBuffer<T>>,
    pub(super) point_fields: Option<AcceleratorBuffer<T>>,
}

/// Lists of nodes per block of fans.
#[derive(Debug)]
pub(super) struct Lists<T: Number> {
    /// Places for cells.
    pub(super) cells: usize,
    pub(super) blocks: AcceleratorBuffer<u32>,
    pub(super) list: AcceleratorBuffer<u32>,
    pub(super) local: AcceleratorBuffer<u16>,
    pub(super) ends: AcceleratorBuffer<u16>,
    pub(super) slots: AcceleratorBuffer<u16>,
    pub(super) filled: usize,
    pub(super) most_nodes: usize,
    /// Fields constant in cells, in the order of the fans.
    pub(super) cell_fields: Option<AcceleratorBuffer<T>>,
}

/// The cells of one kind of map.
#[derive(Debug)]
pub(super) struct Group<T: Number> {
    pub(super) shape: Shape,
    pub(super) arrays: Arrays<T>,
    pub(super) lists: Option<Lists<T>>,
    /// The elements.
    cells: Vec<u32>,
    /// L-vector nodes `[cell][node]`, on the host.
    table: Vec<u32>,
}

impl<T: Number> Arrays<T> {
    pub(super) fn bytes(&self) -> usize {
        let numbers =
            |buffer: &Option<AcceleratorBuffer<T>>| buffer.as_ref().map_or(0, Buffer::len);
        let coordinates = self.coordinates.as_ref().map_or(0, |it| it.len());
        let tables = self.nodes.len() + self.vertices.as_ref().map_or(0, Buffer::len);
        let fields = numbers(&self.cell_fields) + numbers(&self.point_fields);
        (self.geometry.len() + coordinates + fields) * T::BYTES + tables * size_of::<u32>()
    }
}

impl<T: Number> Group<T> {
    /// The lists of blocks of so many fans of up to so many cells; other groups have nodes that are `elsewhere`.
    pub(super) fn lists(
        &self,
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        (fans_per_block, fan_cells): (u32, u32),
        elsewhere: &[bool],
    ) -> Result<Lists<T>, OperatorError> {
        let per_block = fans_per_block as usize;
        let fans = Fans::new(&self.table, self.shape.nodes, fan_cells as usize, per_block);
        let lists = BlockLists::new(&fans, per_block, |node| elsewhere[node as usize]);
        let order = fans.order(per_block);
        // A cell that is not there has the numbers of another one, which no one reads.
        let known = |&place: &u32| self.cells[if place == NONE { 0 } else { place as usize }];
        let elements: Vec<u32> = order.iter().map(known).collect();
        Ok(Lists {
            cells: order.len(),
            filled: lists.filled,
            most_nodes: lists.most_nodes,
            blocks: device.upload(&lists.blocks)?,
            list: device.upload(&lists.list)?,
            local: device.upload(&lists.local)?,
            ends: device.upload(&lists.ends)?,
            slots: device.upload(&lists.slots)?,
            cell_fields: fields(device, binding, &elements, (FieldKind::Cell, 1))?,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.lists.as_ref().map_or(0, |lists| {
            let short = lists.local.len() + lists.ends.len() + lists.slots.len();
            let fields = lists.cell_fields.as_ref().map_or(0, Buffer::len);
            2 * short
                + (lists.blocks.len() + lists.list.len()) * size_of::<u32>()
                + fields * T::BYTES
        });
        self.arrays.bytes() + lists
    }
}

/// One group per kind of map, in the order of the plan's.
pub(super) fn groups<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
    element: (&Element, &[[f64; 3]]),
) -> Result<Vec<Group<T>>, OperatorError> {
    let plan = binding.plan;
    let coordinates = coordinates(device, binding)?;
    let group = |kind: usize| {
        let segments = plan.segments.iter().flatten();
        let cells: Vec<u32> = segments
            .filter(|segment| segment.kind == kind)
            .flat_map(|segment| segment.elements.clone())
            .map(|element| element as u32)
            .collect();
        let shape = simplex(&plan.kinds[kind].shape).ok_or(OperatorError::FormOnAccelerator)?;
        let table = nodes(binding, &cells);
        let arrays = Packer {
            device,
            binding,
            element,
            shape,
        };
        Ok(Group {
            shape,
            arrays: arrays.pack(&cells, &table, coordinates.clone())?,
            lists: None,
            cells,
            table,
        })
    };
    (0..plan.kinds.len()).map(group).collect()
}

/// All cells in the order of the space, with one storage for all kinds of maps: for E-vectors.
pub(super) fn all<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
    element: (&Element, &[[f64; 3]]),
) -> Result<(Arrays<T>, Shape), OperatorError> {
    let kinds = &binding.plan.kinds;
    let first = kinds.first().and_then(|kind| simplex(&kind.shape));
    let mut shape = first.ok_or(OperatorError::FormOnAccelerator)?;
    shape.storage = match kinds.iter().any(|kind| kind.kind == GeometryKind::Curved) {
        true => Storage::Jacobians,
        false => Storage::Affine,
    };
    let cells: Vec<u32> = (0..binding.space.elements() as u32).collect();
    let packer = Packer {
        device,
        binding,
        element,
        shape,
    };
    Ok((packer.pack(&cells, &nodes(binding, &cells), None)?, shape))
}

/// For all nodes whether cells of other groups than this one have them.
pub(super) fn elsewhere<'a, T: Number>(
    nodes: usize,
    others: impl Iterator<Item = &'a Group<T>>,
) -> Vec<bool> {
    let mut elsewhere = vec![false; nodes];
    for &node in others.flat_map(|group| &group.table) {
        elsewhere[node as usize] = true;
    }
    elsewhere
}

/// The nodes of all groups' cells, one group after the other.
pub(super) fn all_nodes<T: Number>(groups: &[Group<T>]) -> Vec<u32> {
    groups
        .iter()
        .flat_map(|group| group.table.iter().copied())
        .collect()
}

/// The shortest edge of a few cells.
pub(super) fn least_edge(binding: &Binding<'_, ()>) -> f64 {
    let (geometry, dim) = (binding.geometry, binding.space.dim());
    let cells = (0..geometry.len()).step_by((geometry.len() / 64).max(1));
    let edge = |cell: usize| {
        let vertices = geometry.simplex_vertices(cell);
        let length = |axis: usize| -> f64 {
            let edge = (0..3).map(|d| vertices[axis + 1][d] - vertices[0][d]);
            edge.map(|x| x * x).sum::<f64>().sqrt()
        };
        (0..dim).map(length).fold(f64::INFINITY, f64::min)
    };
    cells.map(edge).fold(f64::INFINITY, f64::min)
}

/// L-vector nodes of cells, `[cell][node]`.
fn nodes(binding: &Binding<'_, ()>, cells: &[u32]) -> Vec<u32> {
    let space = binding.space;
    let count = space.nodes_per_element();
    let mut nodes = vec![0; count * cells.len()];
    let rows = nodes.par_chunks_mut(count).zip(cells);
    rows.for_each(|(nodes, &cell)| nodes.copy_from_slice(&space.element_nodes(cell as usize)));
    nodes
}

/// Coordinates that the geometry is recomputed from, where it is.
fn coordinates<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
) -> Result<Option<Arc<AcceleratorBuffer<T>>>, OperatorError> {
    let recomputed = |shape: &Shape| shape.storage == Storage::Vertices;
    let kinds = binding.plan.kinds.iter();
    let Some(shape) = kinds
        .filter_map(|kind| simplex(&kind.shape))
        .find(recomputed)
    else {
        return Ok(None);
    };
    let (space, geometry, dim) = (binding.space, binding.geometry, shape.dim);
    let mesh = geometry.coordinates();
    let positions: Vec<[f64; 3]> = if shape.degree_one {
        let mut positions = vec![[0.0; 3]; space.nodes()];
        for element in 0..space.elements() {
            let vertices = geometry.vertex_nodes(space.cells()[element] as usize);
            for (node, &vertex) in space.element_nodes(element).iter().zip(vertices) {
                positions[*node as usize] = mesh[vertex as usize];
            }
        }
        positions
    } else {
        mesh.to_vec()
    };
    let numbers = positions.iter().flat_map(|x| &x[..dim]);
    let numbers: Vec<T> = numbers.map(|&x| T::from_f64(x)).collect();
    Ok(Some(Arc::new(device.upload(&numbers)?)))
}

/// Packs the arrays of some cells.
struct Packer<'a> {
    device: &'a Accelerator,
    binding: &'a Binding<'a, ()>,
    element: (&'a Element, &'a [[f64; 3]]),
    shape: Shape,
}

impl Packer<'_> {
    fn pack<T: Number>(
        &self,
        cells: &[u32],
        table: &[u32],
        coordinates: Option<Arc<AcceleratorBuffer<T>>>,
    ) -> Result<Arrays<T>, OperatorError> {
        let (device, shape) = (self.device, &self.shape);
        let recomputed = shape.storage == Storage::Vertices;
        Ok(Arrays {
            cells: cells.len(),
            geometry: device.upload(&self.geometry::<T>(cells))?,
            coordinates: coordinates.filter(|_| recomputed),
            vertices: match recomputed && !shape.degree_one {
                true => Some(device.upload(&self.vertices(cells))?),
                false => None,
            },
            nodes: device.upload(table)?,
            cell_fields: fields(device, self.binding, cells, (FieldKind::Cell, 1))?,
            point_fields: fields(
                device,
                self.binding,
                cells,
                (FieldKind::Points, shape.points),
            )?,
        })
    }

    /// What the storage keeps, `[cell][number]`; one number that no one reads where it keeps nothing.
    fn geometry<T: Number>(&self, cells: &[u32]) -> Vec<T> {
        let (shape, (element, points)) = (&self.shape, self.element);
        let len = shape.geometry_numbers();
        if len == 0 {
            return vec![T::default()];
        }
        let mut packed = vec![T::default(); len * cells.len()];
        let rows = packed.par_chunks_mut(len).zip(cells);
        rows.for_each_init(GeometryAtPoints::default, |at, (out, &cell)| {
            let cell = self.binding.mesh_cell(cell as usize);
            let vertices;
            let geometry = if shape.storage == Storage::Jacobians {
                self.binding.geometry.at_simplex_points(cell, points, at);
                CellGeometry::Points {
                    jacobian: &at.jacobian,
                    position: &at.position,
                }
            } else {
                vertices = self.binding.geometry.simplex_vertices(cell);
                CellGeometry::Vertices(&vertices[..=shape.dim])
            };
            pack(shape, element, geometry, |n, number| {
                out[n] = T::from_f64(number)
            });
        });
        packed
    }

    /// Mesh nodes at the vertices of cells.
    fn vertices(&self, cells: &[u32]) -> Vec<u32> {
        let of_cell = |&cell: &u32| {
            let cell = self.binding.mesh_cell(cell as usize);
            self.binding.geometry.vertex_nodes(cell).iter().copied()
        };
        cells.iter().flat_map(of_cell).collect()
    }
}

/// The shape of a plan's kind, if it is of this family.
fn simplex(shape: &AnyShape) -> Option<Shape> {
    match shape {
        AnyShape::Simplex(shape) => Some(*shape),
        AnyShape::Hex(_) => None,
    }
}
