//! What the batches read: geometry, auxiliary fields and node tables, packed for the kernels.

use super::{HostSegment, Offsets};
use crate::Number;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::space::Restriction;
use femto_kernel::family::batch::{ElementKernel, LOCAL_NODES, NodeTable};
use femto_kernel::family::tensor_hex::host::HexPlan;
use femto_kernel::family::tensor_hex::{ElementGeometry, Storage};
use femto_kernel::form::Form;
use femto_kernel::scalar::SimdLevel;
use femto_platform::device::Device;
use femto_platform::device::host::{Host, HostBuffer};

/// Packed arrays of all batches, one batch after the other.
pub(super) struct Arrays<T: Number> {
    /// As `HexPlan::pack` writes it.
    pub(super) geometry: HostBuffer<T>,
    /// `[batch][field][lane]`.
    pub(super) auxiliary: HostBuffer<T>,
    /// Chunk-local indices of nodes, as `NodeTable::pack` writes them.
    pub(super) tables: Vec<u16>,
}

impl<T: Number> Arrays<T> {
    pub(super) fn bytes(&self) -> usize {
        (self.geometry.len() + self.auxiliary.len()) * T::BYTES + self.tables.len() * 2
    }
}

/// The parts of the arrays that belong to some batches.
struct Parts<'a, T> {
    geometry: &'a mut [T],
    auxiliary: &'a mut [T],
    tables: &'a mut [u16],
}

impl<'a, T> Parts<'a, T> {
    fn split_at(self, middle: Offsets) -> (Self, Self) {
        let (geometry, geometry_rest) = self.geometry.split_at_mut(middle.geometry);
        let (auxiliary, auxiliary_rest) = self.auxiliary.split_at_mut(middle.auxiliary);
        let (tables, tables_rest) = self.tables.split_at_mut(middle.tables);
        let rest = Self {
            geometry: geometry_rest,
            auxiliary: auxiliary_rest,
            tables: tables_rest,
        };
        (
            Self {
                geometry,
                auxiliary,
                tables,
            },
            rest,
        )
    }

    /// Cuts the first `len` off.
    fn take(&mut self, len: Offsets) -> Parts<'a, T> {
        let all = Parts {
            geometry: std::mem::take(&mut self.geometry),
            auxiliary: std::mem::take(&mut self.auxiliary),
            tables: std::mem::take(&mut self.tables),
        };
        let (head, rest) = all.split_at(len);
        *self = rest;
        head
    }
}

/// Kernels, and what they read.
pub(super) struct Packed<T: Number> {
    pub(super) kernels: Vec<Box<dyn ElementKernel<T>>>,
    pub(super) segments: Vec<Vec<HostSegment>>,
    pub(super) arrays: Arrays<T>,
}

/// Packs one segment after the other; shared by the threads.
struct Packer<'a, F, const C: usize> {
    binding: &'a Binding<'a, F, C>,
    plans: Vec<HexPlan<'a>>,
    nodes: NodeTable,
    lanes: usize,
}

impl<T: Number> Packed<T> {
    pub(super) fn new<F, const C: usize>(
        host: &Host,
        binding: &Binding<'_, F, C>,
        level: SimdLevel,
    ) -> Result<Self, OperatorError>
    where
        F: Form<3, C> + Clone + 'static,
    {
        let plan = binding.plan;
        check_chunks(binding.space.restriction())?;
        binding.geometry.check(&plan.basis.points)?;
        let plans: Vec<HexPlan> = plan
            .kinds
            .iter()
            .map(|kind| HexPlan {
                basis: &plan.basis,
                shape: kind.shape,
                level,
            })
            .collect();
        let kernels: Vec<Box<dyn ElementKernel<T>>> = plans
            .iter()
            .map(|plan| plan.build::<T, F, C>(binding.form))
            .collect();
        let lanes = kernels.first().map_or(1, |kernel| kernel.lanes());
        let nodes = NodeTable::new(plan.basis.nodes_1d);
        let packer = Packer {
            binding,
            plans,
            nodes,
            lanes,
        };
        let (segments, total) = packer.layout();
        let mut arrays = Arrays {
            geometry: host.zeros(total.geometry)?,
            auxiliary: host.zeros(total.auxiliary)?,
            tables: vec![0; total.tables],
        };
        let parts = Parts {
            geometry: &mut arrays.geometry,
            auxiliary: &mut arrays.auxiliary,
            tables: &mut arrays.tables,
        };
        host.enter(|| packer.pack_chunks(host, 0, &segments, parts));
        Ok(Self {
            kernels,
            segments,
            arrays,
        })
    }
}

/// Local indices are 16-bit.
fn check_chunks(restriction: &Restriction) -> Result<(), OperatorError> {
    let chunks = restriction.chunks.iter();
    match chunks
        .map(|chunk| chunk.nodes())
        .find(|&nodes| nodes > LOCAL_NODES)
    {
        Some(found) => Err(OperatorError::ChunkTooLarge {
            found,
            most: LOCAL_NODES,
        }),
        None => Ok(()),
    }
}

impl<F, const C: usize> Packer<'_, F, C>
where
    F: Form<3, C> + Clone + 'static,
{
    /// Numbers per batch of elements of one kind of map.
    fn per_batch(&self, kind: usize) -> Offsets {
        Offsets {
            geometry: self.plans[kind].geometry_len() * self.lanes,
            auxiliary: self.binding.plan.auxiliary * self.lanes,
            tables: self.nodes.len(self.lanes),
        }
    }

    /// Where each segment's batches lie, and the lengths of the arrays.
    fn layout(&self) -> (Vec<Vec<HostSegment>>, Offsets) {
        let mut next = Offsets::default();
        let mut place = |segment: &crate::operator::plan::Segment| {
            let start = next;
            let batches = segment.elements.len().div_ceil(self.lanes);
            let each = self.per_batch(segment.kind);
            next.geometry += batches * each.geometry;
            next.auxiliary += batches * each.auxiliary;
            next.tables += batches * each.tables;
            HostSegment {
                kind: segment.kind,
                elements: segment.elements.clone(),
                start,
            }
        };
        let chunks = self.binding.plan.segments.iter();
        let segments = chunks
            .map(|chunk| chunk.iter().map(&mut place).collect())
            .collect();
        (segments, next)
    }

    /// Packs chunks from number `first` on by halves, in parallel; `parts` start with the first.
    fn pack_chunks<T: Number>(
        &self,
        host: &Host,
        first: usize,
        chunks: &[Vec<HostSegment>],
        mut parts: Parts<T>,
    ) {
        if let [chunk] = chunks {
            let mut at_points = GeometryAtPoints::default();
            for segment in chunk {
                self.pack_segment(first, segment, &mut parts, &mut at_points);
            }
            return;
        }
        let (left, right) = chunks.split_at(chunks.len() / 2);
        let start = |chunks: &[Vec<HostSegment>]| Some(chunks.first()?.first()?.start);
        let (Some(from), Some(to)) = (start(left), start(right)) else {
            return;
        };
        let (head, tail) = parts.split_at(Offsets {
            geometry: to.geometry - from.geometry,
            auxiliary: to.auxiliary - from.auxiliary,
            tables: to.tables - from.tables,
        });
        let middle = first + left.len();
        host.join(
            || self.pack_chunks(host, first, left, head),
            || self.pack_chunks(host, middle, right, tail),
        );
    }

    /// Packs the batches of a segment of a chunk, cutting them off `parts`.
    fn pack_segment<T: Number>(
        &self,
        chunk: usize,
        segment: &HostSegment,
        parts: &mut Parts<T>,
        at_points: &mut GeometryAtPoints,
    ) {
        let (plan, width) = (&self.plans[segment.kind], self.lanes);
        let fields = &self.binding.params.auxiliary;
        let mut a = vec![0.0; fields.len()];
        let mut local = vec![0; self.binding.space.nodes_per_element()];
        let last = segment.elements.end - 1;
        for first in segment.elements.clone().step_by(width) {
            let batch = parts.take(self.per_batch(segment.kind));
            for lane in 0..width {
                // Lanes without an element repeat the last one, so that they hold sane numbers.
                let element = (first + lane).min(last);
                let cell = self.binding.space.cells()[element] as usize;
                for (field, values) in fields.iter().enumerate() {
                    a[field] = values[cell];
                    batch.auxiliary[field * width + lane] = T::from_f64(a[field]);
                }
                let coefficients = self.binding.coefficients(&a);
                self.with_geometry(plan.shape.storage, cell, at_points, |element| {
                    plan.pack((lane, width), element, coefficients, batch.geometry);
                });
                self.local_indices(chunk, element, &mut local);
                self.nodes
                    .pack((lane, width), |position| local[position], batch.tables);
            }
        }
    }

    /// Chunk-local indices of an element's nodes, lexicographic.
    fn local_indices(&self, chunk: usize, element: usize, local: &mut [u16]) {
        let restriction = self.binding.space.restriction();
        debug_assert!(restriction.chunks[chunk].elements.contains(&element));
        let count = restriction.shell_nodes();
        let shell = &restriction.shell[element * count..][..count];
        // Checked to fit: see `check_chunks`.
        for (&position, &index) in restriction.shell_positions.iter().zip(shell) {
            local[position as usize] = index as u16;
        }
        let interior = restriction.interior_positions.iter();
        for (&position, index) in interior.zip(restriction.interior[element]..) {
            local[position as usize] = index as u16;
        }
    }

    /// Calls `body` with what `storage` needs of a cell.
    fn with_geometry(
        &self,
        storage: Storage,
        cell: usize,
        at_points: &mut GeometryAtPoints,
        body: impl FnOnce(ElementGeometry),
    ) {
        let (geometry, basis) = (self.binding.geometry, &self.binding.plan.basis);
        match storage {
            Storage::Affine | Storage::Trilinear | Storage::ElementFactors => {
                body(ElementGeometry::Map(&geometry.trilinear_coefficients(cell)));
            }
            Storage::Jacobians | Storage::PointFactors => {
                geometry.at_points(cell, &basis.points, at_points);
                let GeometryAtPoints {
                    jacobian, position, ..
                } = &*at_points;
                body(ElementGeometry::Points { jacobian, position });
            }
        }
    }
}
