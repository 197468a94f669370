//! A few numbers of a cell, and its place in a column.

use std::ops::Deref;

/// Numbers of a cell: a part of a list, or at most `N` computed ones.
#[derive(Clone, Copy, Debug)]
pub enum Few<'a, const N: usize> {
    /// Those of a list.
    Listed(&'a [u32]),
    /// As many of these.
    Own([u32; N], usize),
}

impl<const N: usize> Deref for Few<'_, N> {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        match self {
            Self::Listed(numbers) => numbers,
            Self::Own(numbers, count) => &numbers[..*count],
        }
    }
}

/// The column and the layer of a cell, given the layers of each column; 1 without columns.
#[inline(always)]
pub(crate) fn in_column(cell: usize, layers: usize) -> (usize, u32) {
    match layers {
        1 => (cell, 0),
        layers => (cell / layers, (cell % layers) as u32),
    }
}

impl<'a, const N: usize> Few<'a, N> {
    /// The numbers, one after the other.
    pub fn each(self) -> impl Iterator<Item = u32> + 'a {
        (0..self.len()).map(move |n| self[n])
    }
}
