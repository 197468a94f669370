//! Geometry and auxiliary fields of all batches, packed for the kernels.

use super::{HostSegment, MAX_COMPONENTS};
use crate::Number;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_kernel::family::tensor_hex::host::{HexKernel, HexPlan};
use femto_kernel::family::tensor_hex::{ElementGeometry, Storage};
use femto_kernel::form::{Form, Inspection, inspect};
use femto_kernel::scalar::SimdLevel;
use femto_platform::device::Device;
use femto_platform::device::host::{Host, HostBuffer};

/// Kernels, and what they read.
pub(super) struct Packed<T: Number> {
    pub(super) kernels: Vec<Box<dyn HexKernel<T>>>,
    pub(super) segments: Vec<Vec<HostSegment>>,
    pub(super) geometry: HostBuffer<T>,
    pub(super) auxiliary: HostBuffer<T>,
}

/// Packs one segment after the other; shared by the threads.
struct Packer<'a, F, const C: usize> {
    binding: &'a Binding<'a, F, C>,
    plans: Vec<HexPlan<'a>>,
    inspection: Inspection<C>,
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
        debug_assert!(C <= MAX_COMPONENTS);
        let plan = binding.plan;
        binding.geometry.check(&plan.basis.points)?;
        let inspection = inspect::<F, C>(binding.form);
        let shell = &binding.space.restriction().shell_positions;
        let plans: Vec<HexPlan> = plan
            .kinds
            .iter()
            .map(|kind| HexPlan::new(&plan.basis, shell, kind.shape.storage, &inspection, level))
            .collect();
        let kernels: Vec<Box<dyn HexKernel<T>>> = plans
            .iter()
            .map(|plan| plan.build::<T, F, C>(binding.form))
            .collect();
        let lanes = kernels.first().map_or(1, |kernel| kernel.lanes());
        let packer = Packer {
            binding,
            plans,
            inspection,
            lanes,
        };
        let (segments, geometry, auxiliary) = packer.layout();
        let mut packed = Self {
            kernels,
            segments,
            geometry: host.zeros(geometry)?,
            auxiliary: host.zeros(auxiliary)?,
        };
        let Self {
            segments,
            geometry,
            auxiliary,
            ..
        } = &mut packed;
        host.enter(|| packer.pack_chunks(host, segments, geometry, auxiliary));
        Ok(packed)
    }
}

impl<F, const C: usize> Packer<'_, F, C>
where
    F: Form<3, C> + Clone + 'static,
{
    /// Where each segment's batches lie, and the lengths of both arrays.
    fn layout(&self) -> (Vec<Vec<HostSegment>>, usize, usize) {
        let (mut geometry, mut auxiliary) = (0, 0);
        let segments = self.binding.plan.segments.iter().map(|chunk| {
            let place = |segment: &crate::operator::plan::Segment| {
                let placed = HostSegment {
                    kind: segment.kind,
                    elements: segment.elements.clone(),
                    geometry,
                    auxiliary,
                };
                let batches = segment.elements.len().div_ceil(self.lanes);
                geometry += batches * self.plans[segment.kind].geometry_len() * self.lanes;
                auxiliary += batches * self.binding.plan.auxiliary * self.lanes;
                placed
            };
            chunk.iter().map(place).collect()
        });
        (segments.collect(), geometry, auxiliary)
    }

    /// Packs chunks by halves, in parallel. Both arrays start at the first chunk's first segment.
    fn pack_chunks<T: Number>(
        &self,
        host: &Host,
        chunks: &[Vec<HostSegment>],
        geometry: &mut [T],
        auxiliary: &mut [T],
    ) {
        let [chunk] = chunks else {
            let (left, right) = chunks.split_at(chunks.len() / 2);
            let start = |chunks: &[Vec<HostSegment>]| {
                chunks
                    .first()
                    .and_then(|chunk| chunk.first())
                    .map(|s| (s.geometry, s.auxiliary))
            };
            let (Some(from), Some(to)) = (start(left), start(right)) else {
                return;
            };
            let (first, second) = geometry.split_at_mut(to.0 - from.0);
            let (third, fourth) = auxiliary.split_at_mut(to.1 - from.1);
            host.join(
                || self.pack_chunks(host, left, first, third),
                || self.pack_chunks(host, right, second, fourth),
            );
            return;
        };
        let Some(start) = chunk.first() else { return };
        let mut at_points = GeometryAtPoints::default();
        for segment in chunk {
            let geometry = &mut geometry[segment.geometry - start.geometry..];
            let auxiliary = &mut auxiliary[segment.auxiliary - start.auxiliary..];
            self.pack_segment(segment, geometry, auxiliary, &mut at_points);
        }
    }

    fn pack_segment<T: Number>(
        &self,
        segment: &HostSegment,
        geometry: &mut [T],
        auxiliary: &mut [T],
        at_points: &mut GeometryAtPoints,
    ) {
        let (plan, width) = (&self.plans[segment.kind], self.lanes);
        let per_batch = plan.geometry_len() * width;
        let fields = &self.binding.params.auxiliary;
        let last = segment.elements.end - 1;
        for batch in 0..segment.elements.len().div_ceil(width) {
            let geometry = &mut geometry[batch * per_batch..][..per_batch];
            let auxiliary = &mut auxiliary[batch * fields.len() * width..][..fields.len() * width];
            for lane in 0..width {
                // Lanes without an element repeat the last one, so that they hold sane numbers.
                let element = (segment.elements.start + batch * width + lane).min(last);
                let cell = self.binding.space.cells()[element] as usize;
                let a: Vec<f64> = fields.iter().map(|field| field[cell]).collect();
                for (field, &value) in a.iter().enumerate() {
                    auxiliary[field * width + lane] = T::from_f64(value);
                }
                let coefficients = self.binding.coefficients(&self.inspection, &a);
                self.with_geometry(plan.storage, cell, at_points, |element| {
                    plan.pack((lane, width), element, coefficients, geometry);
                });
            }
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
