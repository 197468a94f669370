//! How the matrices of elements are stored.

use super::KernelSource;
use crate::dialect::{SourceBuilder, text};

/// The entries of an element's matrix.
///
/// In full, `[column][row]`. As a triangle, by diagonals that go on at the other end of the matrix,
/// `[d][row]`: the entries `(row, (row + d) mod unknowns)`, so that neighbouring rows are neighbours in memory
/// whichever of the two equal entries is asked for. For an even number of unknowns the last diagonal holds each
/// pair twice, and only its first half is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixStorage {
    /// Rows and columns.
    pub unknowns: usize,
    /// Whether only a triangle is stored, as the matrix is symmetric.
    pub triangle: bool,
}

impl MatrixStorage {
    /// Number of entries stored.
    pub fn entries(self) -> usize {
        match self.triangle {
            true => self.unknowns * (self.unknowns + 1) / 2,
            false => self.unknowns * self.unknowns,
        }
    }

    /// Diagonals that are stored in full, with the main one.
    pub(in crate::family) fn diagonals(self) -> usize {
        self.unknowns.div_ceil(2)
    }

    /// The place of an entry; `None` for the one of a pair that is not stored.
    pub fn place(self, row: usize, column: usize) -> Option<usize> {
        let size = self.unknowns;
        if !self.triangle {
            return Some(column * size + row);
        }
        let diagonal = (column + size - row) % size;
        let is_stored = match 2 * diagonal == size {
            true => row < diagonal,
            false => diagonal < self.diagonals(),
        };
        is_stored.then_some(diagonal * size + row)
    }
}

/// The matrices of elements on a device, `[group][column or diagonal][element of the group][row]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixLayout {
    /// The entries of each.
    pub storage: MatrixStorage,
    /// Elements of a group; the last group is padded.
    pub group: usize,
}

impl MatrixLayout {
    /// Length of the array of the matrices of this many elements.
    pub fn len(self, elements: usize) -> usize {
        elements.next_multiple_of(self.group) * self.storage.entries()
    }

    /// The index of an entry of an element's matrix, or of the equal one of a triangle.
    pub fn index(self, element: usize, row: usize, column: usize) -> usize {
        let Self { storage, group } = self;
        let place = storage.place(row, column);
        // One of a pair is stored.
        let place = place.or(storage.place(column, row)).unwrap_or(0);
        let (diagonal, row) = (place / storage.unknowns, place % storage.unknowns);
        let is_last = storage.triangle && 2 * diagonal == storage.unknowns;
        let len = if is_last { diagonal } else { storage.unknowns };
        let first = element / group * group * storage.entries();
        first + diagonal * group * storage.unknowns + element % group * len + row
    }

    /// Defines the words of `matrices.h` in a text with `NODES`.
    pub(in crate::family) fn define(self, source: &mut SourceBuilder) {
        for (name, number) in [
            ("UNKNOWNS", self.storage.unknowns),
            ("TRIANGLE", usize::from(self.storage.triangle)),
            ("ENTRIES", self.storage.entries()),
            ("GROUP", self.group),
        ] {
            source.define(name, number);
        }
        source.include(text!("family/text/", "matrices.h"));
    }
}

/// How the matrices that kernels read are assembled on a device, from products of another family's kernels on
/// E-vectors.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The layout of [`Operand::Matrices`](super::Operand::Matrices).
    pub layout: MatrixLayout,
    /// Writes into V, an E-vector, the unit input for a column.
    pub unit: KernelSource,
    /// Stores the products U with unit inputs as a column of the matrices V.
    pub store: KernelSource,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_entries_has_one_place() {
        for unknowns in 1..12 {
            for triangle in [false, true] {
                let storage = MatrixStorage { unknowns, triangle };
                let mut found = vec![0; storage.entries()];
                for row in 0..unknowns {
                    for column in 0..unknowns {
                        let (own, other) = (storage.place(row, column), storage.place(column, row));
                        assert!(own.is_some() || other.is_some());
                        if triangle && row != column {
                            assert!(own.is_none() || other.is_none(), "{row} {column}");
                        }
                        if let Some(place) = own {
                            found[place] += 1;
                        }
                    }
                }
                assert!(
                    found.iter().all(|&times| times == 1),
                    "{unknowns} {triangle}"
                );
            }
        }
    }
}
