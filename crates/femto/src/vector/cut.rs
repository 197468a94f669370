//! Slices halved recursively down to blocks of a fixed size, in parallel on the host.
//!
//! The cuts depend only on the length, and partial sums are added in the shape of the cuts, so results do
//! not depend on the number of threads or their timing.

use femto_kernel::vector::ChebyshevInput;
use femto_platform::device::Element;
use femto_platform::device::host::Host;
use std::ops::{Add, Range};

/// Vectors are cut at multiples of this many entries: enough work for a task.
const BLOCK: usize = 8192;

/// Slices of one length that can be cut in two: a slice, or a tuple of slices.
pub(crate) trait Split: Send + Sized {
    fn len(&self) -> usize;
    fn split(self, at: usize) -> (Self, Self);
}

impl<T: Element> Split for &[T] {
    fn len(&self) -> usize {
        (**self).len()
    }
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<T: Element> Split for &mut [T] {
    fn len(&self) -> usize {
        (**self).len()
    }
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

/// Some numbers for each row.
pub(crate) struct Rows<'a, T> {
    pub(crate) values: &'a mut [T],
    pub(crate) components: usize,
}

impl<T: Element> Split for Rows<'_, T> {
    fn len(&self) -> usize {
        self.values.len() / self.components
    }
    fn split(self, at: usize) -> (Self, Self) {
        let components = self.components;
        let (left, right) = self.values.split_at_mut(at * components);
        let rows = |values| Rows { values, components };
        (rows(left), rows(right))
    }
}

impl<A: Split, B: Split> Split for (A, B) {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn split(self, at: usize) -> (Self, Self) {
        let (a, b) = (self.0.split(at), self.1.split(at));
        ((a.0, b.0), (a.1, b.1))
    }
}

/// The places of the entries of a slice beside it.
impl Split for Range<usize> {
    fn len(&self) -> usize {
        self.end - self.start
    }
    fn split(self, at: usize) -> (Self, Self) {
        let middle = self.start + at;
        (self.start..middle, middle..self.end)
    }
}

impl<S: Split> Split for ChebyshevInput<S> {
    fn len(&self) -> usize {
        match self {
            Self::Start(b) => b.len(),
            Self::Restart(b, _) => b.len(),
            Self::Step(ad) => ad.len(),
        }
    }
    fn split(self, at: usize) -> (Self, Self) {
        match self {
            Self::Start(b) => {
                let (left, right) = b.split(at);
                (Self::Start(left), Self::Start(right))
            }
            Self::Restart(b, ax) => {
                let ((b, rest_b), (ax, rest_ax)) = (b.split(at), ax.split(at));
                (Self::Restart(b, ax), Self::Restart(rest_b, rest_ax))
            }
            Self::Step(ad) => {
                let (left, right) = ad.split(at);
                (Self::Step(left), Self::Step(right))
            }
        }
    }
}

/// Calls `leaf` for every block and adds the results in the shape of the cuts.
pub(crate) fn sum<S: Split, R: Add<Output = R> + Send>(
    host: &Host,
    slices: S,
    leaf: &(impl Fn(S) -> R + Sync),
) -> R {
    let blocks = slices.len().div_ceil(BLOCK);
    if blocks <= 1 {
        return leaf(slices);
    }
    let (left, right) = slices.split(blocks / 2 * BLOCK);
    let (left, right) = host.join(|| sum(host, left, leaf), || sum(host, right, leaf));
    left + right
}

/// Calls `leaf` for every block.
pub(crate) fn each<S: Split>(host: &Host, slices: S, leaf: &(impl Fn(S) + Sync)) {
    each_of(host, BLOCK, slices, leaf);
}

/// Calls `leaf` for every block of this many entries.
pub(crate) fn each_of<S: Split>(host: &Host, block: usize, slices: S, leaf: &(impl Fn(S) + Sync)) {
    let blocks = slices.len().div_ceil(block);
    if blocks <= 1 {
        return leaf(slices);
    }
    let (left, right) = slices.split(blocks / 2 * block);
    host.join(
        || each_of(host, block, left, leaf),
        || each_of(host, block, right, leaf),
    );
}
