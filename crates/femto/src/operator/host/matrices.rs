//! Element matrices on the host, assembled column by column by the operator of another family.

use super::traverse::ElementInput;
use super::{HostBound, HostSegment};
use crate::Number;
use crate::operator::OperatorError;
use femto_fem::parallel::{self, split};
use femto_kernel::family::{EvalContext, MatrixStorage};
use femto_platform::device::Device;

/// The operator that assembles the matrices, and their storage.
pub(super) struct Assembler<T: Number> {
    pub(super) base: Box<HostBound<T>>,
    storage: MatrixStorage,
}

impl<T: Number> Assembler<T> {
    pub(super) fn new(base: HostBound<T>, storage: MatrixStorage) -> Self {
        Self {
            base: Box::new(base),
            storage,
        }
    }

    /// Assembles the matrices of all elements of `bound`.
    pub(super) fn assemble(
        &self,
        context: &EvalContext,
        bound: &mut HostBound<T>,
    ) -> Result<(), OperatorError> {
        let numbers = bound.components * bound.restriction.nodes_per_element();
        let lanes = bound.lanes();
        let elements: usize = (bound.restriction.chunks.iter())
            .map(|chunk| chunk.elements.len())
            .sum();
        let mut product = bound.host.zeros(elements * numbers)?;
        for column in 0..self.storage.unknowns {
            let unit = ElementInput::Unit(column);
            self.base.traverse_elements(context, unit, &mut product)?;
            let segments = bound.segments.iter().flatten();
            let batches = |segment: &HostSegment| segment.elements.len().div_ceil(lanes);
            let len = |segment: &HostSegment| batches(segment) * self.storage.entries() * lanes;
            let own = split(&mut bound.arrays.geometry, segments.clone().map(len));
            let mut parts: Vec<_> = segments.zip(own).collect();
            let store = |_, (segment, own): &mut (&HostSegment, &mut [T])| {
                self.store(column, (segment, lanes), (&product, numbers), own);
            };
            bound.host.enter(|| parallel::each(&mut parts, store));
        }
        Ok(())
    }

    /// Stores a column of a segment's matrices, `[batch][entry][lane]`, from an E-vector.
    fn store(
        &self,
        column: usize,
        (segment, lanes): (&HostSegment, usize),
        (product, numbers): (&[T], usize),
        matrices: &mut [T],
    ) {
        let last = segment.elements.end - 1;
        let batches = matrices.chunks_exact_mut(self.storage.entries() * lanes);
        for (first, batch) in segment.elements.clone().step_by(lanes).zip(batches) {
            for row in 0..self.storage.unknowns {
                let Some(place) = self.storage.place(row, column) else {
                    continue;
                };
                for (lane, entry) in batch[place * lanes..][..lanes].iter_mut().enumerate() {
                    // Unused lanes repeat the last element.
                    *entry = product[(first + lane).min(last) * numbers + row];
                }
            }
        }
    }
}
