//! What operators ask of it.

use super::Simplices;
use super::arrays::Group;
use super::kernel::{Call, Compiled};
use crate::Number;
use crate::operator::{Bound, OperatorError};
use femto_kernel::family::batch::EvalContext;
use femto_kernel::family::simplex_quadrature::Storage;
use femto_kernel::family::simplex_quadrature::schedule::Schedule;
use femto_kernel::family::simplex_quadrature::source::Vectors;
use femto_kernel::family::simplex_quadrature::work::{Counts, work};
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device};

impl<T: Number> Bound<T, Accelerator> for Simplices<T> {
    fn apply(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let kernels = self.groups.iter().map(|(_, kernel)| kernel);
        self.launch(kernels, conditions, u, v)
    }

    /// Fields in the solution's space are gathered on the host for this, which is for tests and for
    /// comparisons, not for solvers.
    fn apply_elements(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let kernel = self.element_kernel()?;
        let (all, shape) = self.all()?;
        let held = self.conditions.hold(&self.device, conditions)?;
        let fields = self
            .fields
            .of_cells(&self.device, &all.nodes, self.element.nodes)?;
        let mut call = Call {
            shape,
            arrays: all,
            lists: None,
            fields: fields.as_ref().unwrap_or(&self.fields.values),
            field_stride: 0,
            conditions: &held.buffer,
            nodes: 0,
            stride: 0,
            contributions: None,
            first: 0,
        };
        kernel.launch(&self.device, &mut call, u, v)?;
        Ok(())
    }

    fn diagonal(
        &self,
        conditions: &EvalContext,
        d: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        // The kernels take an input, which they do not read.
        let unread = self.device.zeros(1)?;
        self.launch(self.diagonals()?.iter(), conditions, &unread, d)
    }

    fn set_nodal(&mut self, first: usize, u: &AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        self.fields.set(&self.device, first, u)
    }

    fn bytes(&self) -> usize {
        let groups = self.groups.iter().map(|(group, _)| group.bytes());
        let contributions = self
            .contributions
            .as_ref()
            .map_or(0, |it| it.bytes(self.components));
        let all = self.all.as_ref().map_or(0, |(all, _)| all.bytes());
        groups.sum::<usize>() + all + self.fields.bytes() + contributions
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn schedules(&self) -> Vec<String> {
        self.groups
            .iter()
            .map(|(_, kernel)| kernel.words())
            .collect()
    }

    fn work(&self, dofs: usize, _: Work) -> Work {
        let vectors = self.nodal_vectors();
        let of_group = |(group, kernel): &(Group<T>, Compiled)| {
            let lists = group.lists.as_ref();
            let counts = Counts {
                cells: group.arrays.cells,
                nodes: 0,
                vertices: 0,
                entries: lists.map_or(0, |lists| lists.list.len()),
                slots: lists.map_or(0, |lists| lists.local.len()),
                filled: lists.map_or(0, |lists| lists.filled),
            };
            let schedule = kernel.schedule().unwrap_or(Schedule::usual(&group.shape));
            work(&group.shape, &schedule, vectors, T::PRECISION, counts)
        };
        let cells: Work = self.groups.iter().map(of_group).sum();
        let vector = (dofs * T::BYTES) as u64;
        let reads_vertices =
            |(group, _): &(Group<T>, Compiled)| group.shape.storage == Storage::Vertices;
        let axes = if self.groups.iter().any(reads_vertices) {
            self.element.dim
        } else {
            0
        };
        let coordinates = self.counts.vertices * axes * T::BYTES;
        // The output is set to zero, or its contributions are read, before it is written.
        let vectors = Work {
            bytes_read: vector + (coordinates + self.fields.bytes()) as u64,
            bytes_written: 2 * vector,
            ..Work::default()
        };
        cells + vectors
    }

    fn element_work(&self, _: usize, _: Work) -> Work {
        let Ok((_, shape)) = self.all() else {
            return Work::default();
        };
        let schedule = Schedule::usual(shape);
        work(
            shape,
            &schedule,
            Vectors::Element,
            T::PRECISION,
            self.counts,
        )
    }
}
