//! Sparse matrices on the host, by rows.

use rayon::prelude::*;

/// Rows multiplied by one task.
const ROWS: usize = 1024;

/// A sparse matrix in double precision, row by row, columns ascending within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    /// Number of columns.
    columns: usize,
    /// Start of each row, and the end of the last, `[rows + 1]`.
    offsets: Vec<usize>,
    /// Column of each entry.
    places: Vec<u32>,
    /// Value of each entry.
    values: Vec<f64>,
}

impl Csr {
    /// A matrix of no rows.
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            offsets: vec![0],
            places: Vec::new(),
            values: Vec::new(),
        }
    }

    /// A matrix with these rows of columns, ascending, and values.
    pub fn of_rows<R: IntoIterator<Item = (u32, f64)>>(
        columns: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut matrix = Self::new(columns);
        rows.into_iter().for_each(|row| matrix.push(row));
        matrix
    }

    /// Appends a row of columns, ascending, and values.
    pub fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        for (place, value) in row {
            self.places.push(place);
            self.values.push(value);
        }
        self.offsets.push(self.places.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.places.len()
    }

    /// The columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        let places = self.places[range.clone()].iter().copied();
        places.zip(self.values[range].iter().copied())
    }

    /// The columns of a row.
    pub fn row_columns(&self, row: usize) -> &[u32] {
        &self.places[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The diagonal of a square matrix; zero where it has no entry.
    pub fn diagonal(&self) -> Vec<f64> {
        let entry = |row: usize| {
            let place = self.row_columns(row).binary_search(&(row as u32)).ok()?;
            Some(self.values[self.offsets[row] + place])
        };
        (0..self.rows())
            .map(|row| entry(row).unwrap_or(0.0))
            .collect()
    }

    /// Aᵀ.
    pub fn transposed(&self) -> Self {
        let mut offsets = vec![0; self.columns + 1];
        for &place in &self.places {
            offsets[place as usize + 1] += 1;
        }
        for column in 0..self.columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut places = vec![0; self.entries()];
        let mut values = vec![0.0; self.entries()];
        for row in 0..self.rows() {
            for (place, value) in self.row(row) {
                let at = &mut next[place as usize];
                (places[*at], values[*at]) = (row as u32, value);
                *at += 1;
            }
        }
        Self {
            columns: self.rows(),
            offsets,
            places,
            values,
        }
    }

    /// A B, the same for any number of threads: rows are independent (Gustavson, ACM Transactions on
    /// Mathematical Software 4, 1978).
    pub fn times(&self, other: &Self) -> Self {
        let starts: Vec<usize> = (0..self.rows()).step_by(ROWS).collect();
        let parts = starts.into_par_iter().map_init(
            || (vec![0.0; other.columns], vec![usize::MAX; other.columns]),
            |(sums, seen), start| {
                let mut part = Self::new(other.columns);
                let mut found = Vec::new();
                for row in start..self.rows().min(start + ROWS) {
                    found.clear();
                    for (middle, factor) in self.row(row) {
                        for (place, value) in other.row(middle as usize) {
                            let at = place as usize;
                            if seen[at] != row {
                                (seen[at], sums[at]) = (row, 0.0);
                                found.push(place);
                            }
                            sums[at] += factor * value;
                        }
                    }
                    found.sort_unstable();
                    part.push(found.iter().map(|&place| (place, sums[place as usize])));
                }
                part
            },
        );
        let parts: Vec<Self> = parts.collect();
        let mut product = Self::new(other.columns);
        for part in parts {
            let first = product.entries();
            let ends = part.offsets[1..].iter().map(|end| first + end);
            product.offsets.extend(ends);
            product.places.extend(part.places);
            product.values.extend(part.values);
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_kernel::vector::random;

    fn matrix(seed: u32, rows: usize, columns: usize) -> Csr {
        let entry =
            |row: usize, column: usize| random::entry(seed, (row * columns + column) as u32);
        let row = |row| {
            let entries = (0..columns).map(move |column| (column as u32, entry(row, column)));
            entries.filter(|&(_, value)| value > 0.7)
        };
        Csr::of_rows(columns, (0..rows).map(row))
    }

    fn dense(matrix: &Csr) -> Vec<Vec<f64>> {
        let row = |row| {
            let mut values = vec![0.0; matrix.columns()];
            matrix
                .row(row)
                .for_each(|(at, value)| values[at as usize] = value);
            values
        };
        (0..matrix.rows()).map(row).collect()
    }

    #[test]
    fn products_and_transposes_are_those_of_dense_matrices() {
        let (a, b) = (matrix(1, 2100, 40), matrix(2, 40, 30));
        let (c, [da, db]) = (a.times(&b), [&a, &b].map(dense));
        for (row, found) in dense(&c).iter().enumerate() {
            for (column, found) in found.iter().enumerate() {
                let wanted: f64 = (0..40).map(|m| da[row][m] * db[m][column]).sum();
                assert!((found - wanted).abs() < 1e-13);
            }
        }
        let at = a.transposed();
        assert_eq!((at.rows(), at.columns()), (40, 2100));
        assert_eq!(at.transposed(), a);
        assert!(
            dense(&at)
                .iter()
                .enumerate()
                .all(|(i, row)| row[7] == da[7][i])
        );
    }
}
