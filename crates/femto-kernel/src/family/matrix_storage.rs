//! How the matrix of an element is stored.

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
