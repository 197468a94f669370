//! Prefetches of the interior nodes of the next batch, which it reads and writes in L-vectors.

use super::HostBound;
use super::fields::split_components;
use super::traverse::PREFETCH_LINES;
use crate::Number;
use femto_platform::stream::prefetch;
use std::ops::Range;

/// A place in a chunk, in nodes from its first private one on.
pub(super) struct Ahead {
    /// Numbers per node.
    width: usize,
    /// Interior nodes of an element, and of a whole batch; 0 if they are copied.
    each: usize,
    batch: usize,
    /// The interior nodes of the batches to come.
    left: Range<usize>,
}

impl Ahead {
    /// Before the first batch of chunk `index`.
    pub(super) fn new<T: Number>(bound: &HostBound<T>, index: usize) -> Self {
        let restriction = &bound.restriction;
        let chunk = &restriction.chunks[index];
        let each = match bound.nodes.has_run() {
            true => restriction.interior_positions.len(),
            false => 0,
        };
        let (_, width) = split_components(bound.layout, bound.components);
        let before = chunk.private.start;
        Self {
            width,
            each,
            batch: each * bound.lanes(),
            left: chunk.interior.start - before..chunk.interior.end - before,
        }
    }

    /// Prefetches for the next batch, after one of this many elements.
    #[inline]
    pub(super) fn prefetch<T: Number>(
        &mut self,
        elements: usize,
        source: &[&[T]],
        target: &[&mut [T]],
    ) {
        if self.each == 0 {
            return;
        }
        self.left.start += elements * self.each;
        let end = (self.left.start + self.batch).min(self.left.end);
        let numbers = self.left.start * self.width..end * self.width;
        let target = target.iter().map(|slice| &**slice);
        for slice in source.iter().copied().chain(target) {
            prefetch(
                slice.get(numbers.clone()).unwrap_or_default(),
                PREFETCH_LINES,
            );
        }
    }
}
