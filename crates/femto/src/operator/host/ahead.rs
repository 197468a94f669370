//! Prefetches of the interior nodes of the next batch, which it reads and writes in L-vectors.

use super::HostBound;
use super::fields::split_components;
use crate::Number;
use femto_platform::stream::prefetch;

/// A place in a chunk, in nodes from its first private one on.
pub(super) struct Ahead {
    /// Numbers per node.
    width: usize,
    /// Interior nodes of an element, and of a batch.
    each: usize,
    batch: usize,
    /// The first interior node of the next batch.
    next: usize,
}

impl Ahead {
    /// The first batch of chunk `index`.
    pub(super) fn new<T: Number>(bound: &HostBound<T>, index: usize) -> Self {
        let restriction = &bound.restriction;
        let chunk = &restriction.chunks[index];
        let lanes = bound.kernels.first().map_or(1, |kernel| kernel.lanes());
        let each = match bound.nodes.has_interior() {
            true => restriction.interior_positions.len(),
            false => 0,
        };
        let (_, width) = split_components(bound.layout, bound.components);
        Self {
            width,
            each,
            batch: each * lanes,
            next: chunk.interior.start - chunk.private.start,
        }
    }

    /// Prefetches before a batch of so many elements is evaluated.
    #[inline]
    pub(super) fn prefetch<T: Number>(
        &mut self,
        elements: usize,
        source: &[&[T]],
        target: &[&mut [T]],
    ) {
        self.next += elements * self.each;
        let numbers = self.next * self.width..(self.next + self.batch) * self.width;
        let slices = source
            .iter()
            .copied()
            .chain(target.iter().map(|slice| &**slice));
        for slice in slices.filter(|_| self.each > 0) {
            prefetch(slice.get(numbers.clone()).unwrap_or_default(), usize::MAX);
        }
    }
}
