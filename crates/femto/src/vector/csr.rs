//! Sparse matrices on the host, by rows.
//!
//! Everything is computed row by row in parallel, and is the same for any number of threads.

use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// At most this many rows are a task, and there are about this many tasks or more, since some rows are much longer than
/// others.
const ROWS: usize = 1024;
const TASKS: usize = 256;

/// A sparse matrix, row by row, columns ascending within a row; of positions alone if `V` is `()`.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<V = f64> {
    /// Number of columns.
    columns: usize,
    /// Start of each row, and the end of the last, `[rows + 1]`.
    offsets: Vec<usize>,
    /// Column of each entry.
    places: Vec<u32>,
    /// Value of each entry.
    values: Vec<V>,
}

/// The value of an entry of a matrix.
pub trait Value: Copy + Default + Send + Sync {
    /// Adds a product to it.
    fn add_product(&mut self, a: Self, b: Self);
}

impl Value for f64 {
    fn add_product(&mut self, a: Self, b: Self) {
        *self += a * b;
    }
}

impl Value for () {
    fn add_product(&mut self, (): Self, (): Self) {}
}

impl<V: Value> Csr<V> {
    /// A matrix whose rows are what `write` appends to an empty vector: columns, ascending, with values.
    pub fn by_rows(
        (rows, columns): (usize, usize),
        write: impl Fn(usize, &mut Vec<(u32, V)>) + Sync,
    ) -> Self {
        Self::by_rows_with(
            (rows, columns),
            || (),
            |(), row, entries| write(row, entries),
        )
    }

    /// A matrix with these values, row by row, of rows of which `row_columns` gives the columns, ascending.
    pub(crate) fn of_values<C: Iterator<Item = u32>>(
        columns: usize,
        (lengths, values): (&[usize], Vec<V>),
        row_columns: impl Fn(usize) -> C + Sync,
    ) -> Self {
        let offsets = offsets(lengths.iter().copied());
        let mut places = vec![0; values.len()];
        let rows = parts(&mut places, lengths).into_par_iter().enumerate();
        rows.for_each(|(row, places)| {
            let columns = places.iter_mut().zip(row_columns(row));
            columns.for_each(|(place, column)| *place = column);
        });
        Self {
            columns,
            offsets,
            places,
            values,
        }
    }

    /// As [`Self::by_rows`], with scratch memory for each task.
    pub(crate) fn by_rows_with<S>(
        (rows, columns): (usize, usize),
        scratch: impl Fn() -> S + Sync + Send,
        write: impl Fn(&mut S, usize, &mut Vec<(u32, V)>) + Sync,
    ) -> Self {
        let of_task = (rows / TASKS).clamp(1, ROWS);
        let tasks = (0..rows.div_ceil(of_task)).into_par_iter();
        let part = |scratch: &mut S, task: usize| {
            let own = task * of_task..rows.min((task + 1) * of_task);
            let (mut entries, mut ends) = (Vec::new(), Vec::with_capacity(own.len()));
            let (mut places, mut values) = (Vec::new(), Vec::new());
            for row in own {
                entries.clear();
                write(scratch, row, &mut entries);
                places.extend(entries.iter().map(|entry| entry.0));
                values.extend(entries.iter().map(|entry| entry.1));
                ends.push(places.len());
            }
            (ends, places, values)
        };
        let made: Vec<(Vec<usize>, Vec<u32>, Vec<V>)> = tasks.map_init(scratch, part).collect();
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let (mut first, mut lengths) = (0, Vec::with_capacity(made.len()));
        for (ends, places, _) in &made {
            offsets.extend(ends.iter().map(|end| first + end));
            lengths.push(places.len());
            first += places.len();
        }
        let (mut places, mut values) = (vec![0; first], vec![V::default(); first]);
        let targets = parts(&mut places, &lengths).into_par_iter();
        let targets = targets.zip(parts(&mut values, &lengths));
        targets.zip(made).for_each(|(to, (_, places, values))| {
            to.0.copy_from_slice(&places);
            to.1.copy_from_slice(&values);
        });
        Self {
            columns,
            offsets,
            places,
            values,
        }
    }

    /// Its graph.
    pub fn positions(&self) -> Csr<()> {
        Csr {
            columns: self.columns,
            offsets: self.offsets.clone(),
            places: self.places.clone(),
            values: vec![(); self.places.len()],
        }
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
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, V)> + '_ {
        let places = self.row_columns(row).iter().copied();
        places.zip(self.row_values(row).iter().copied())
    }

    /// The columns of a row.
    pub fn row_columns(&self, row: usize) -> &[u32] {
        &self.places[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The values of a row.
    pub fn row_values(&self, row: usize) -> &[V] {
        &self.values[self.offsets[row]..self.offsets[row + 1]]
    }

    /// Aᵀ.
    pub fn transposed(&self) -> Self {
        let lengths: Vec<AtomicU32> = (0..self.columns).map(|_| AtomicU32::new(0)).collect();
        self.places.par_iter().for_each(|&place| {
            lengths[place as usize].fetch_add(1, Ordering::Relaxed);
        });
        let lengths = lengths.into_iter();
        let offsets = offsets(lengths.map(|length| length.into_inner() as usize));
        let end = self.places.len();
        // Runs of columns with about as many entries each; every task looks for its own in all rows.
        let tasks = rayon::current_num_threads();
        let starts = (0..=tasks).map(|task| {
            let entries = end * task / tasks;
            offsets.partition_point(|&offset| offset < entries)
        });
        let mut starts: Vec<usize> = starts.collect();
        (starts[0], starts[tasks]) = (0, self.columns);
        let runs: Vec<_> = starts.windows(2).map(|run| run[0]..run[1]).collect();
        let lengths: Vec<usize> = (runs.iter())
            .map(|run| offsets[run.end] - offsets[run.start])
            .collect();
        let (mut places, mut values) = (vec![0; end], vec![V::default(); end]);
        let targets = parts(&mut places, &lengths).into_par_iter();
        let targets = targets.zip(parts(&mut values, &lengths));
        targets.zip(&runs).for_each(|((places, values), run)| {
            let first = offsets[run.start];
            let mut next: Vec<usize> = offsets[run.clone()].iter().map(|at| at - first).collect();
            for row in 0..self.rows() {
                let columns = self.row_columns(row);
                let from = columns.partition_point(|&column| (column as usize) < run.start);
                let own = columns[from..].iter().zip(&self.row_values(row)[from..]);
                for (&column, &value) in own.take_while(|own| (*own.0 as usize) < run.end) {
                    let at = &mut next[column as usize - run.start];
                    (places[*at], values[*at]) = (row as u32, value);
                    *at += 1;
                }
            }
        });
        Self {
            columns: self.rows(),
            offsets,
            places,
            values,
        }
    }

    /// A B (Gustavson, ACM Transactions on Mathematical Software 4, 1978).
    pub fn times(&self, other: &Self) -> Self {
        // The row after the last one with an entry in each column, its sum there, and the columns of the row.
        let size = other.columns;
        let scratch = || (vec![0_u32; size], vec![V::default(); size], Vec::new());
        let write = |(met, sums, columns): &mut (Vec<u32>, Vec<V>, Vec<u32>),
                     row: usize,
                     found: &mut Vec<(u32, V)>| {
            columns.clear();
            let now = row as u32 + 1;
            for (middle, factor) in self.row(row) {
                for (column, value) in other.row(middle as usize) {
                    let at = column as usize;
                    if met[at] != now {
                        (met[at], sums[at]) = (now, V::default());
                        columns.push(column);
                    }
                    sums[at].add_product(factor, value);
                }
            }
            columns.sort_unstable();
            found.extend(columns.iter().map(|&at| (at, sums[at as usize])));
        };
        Self::by_rows_with((self.rows(), other.columns), scratch, write)
    }
}

impl Csr {
    /// The diagonal of a square matrix; zero where it has no entry.
    pub fn diagonal(&self) -> Vec<f64> {
        let entry = |row: usize| {
            let place = self.row_columns(row).binary_search(&(row as u32)).ok()?;
            Some(self.row_values(row)[place])
        };
        let rows = (0..self.rows()).into_par_iter();
        rows.map(|row| entry(row).unwrap_or(0.0)).collect()
    }
}

/// The start of each part, and the end of the last, from their lengths.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut end = 0;
    let ends = lengths.map(|length| {
        end += length;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// Cuts a slice into parts of these lengths, as long as it is together.
pub(crate) fn parts<'a, T>(mut slice: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let part = |&length: &usize| {
        let (part, rest) = std::mem::take(&mut slice).split_at_mut(length);
        slice = rest;
        part
    };
    lengths.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_kernel::vector::random;

    fn matrix(seed: u32, rows: usize, columns: usize) -> Csr {
        let entry =
            |row: usize, column: usize| random::entry(seed, (row * columns + column) as u32);
        Csr::by_rows((rows, columns), |row, entries| {
            let all = (0..columns).map(|column| (column as u32, entry(row, column)));
            entries.extend(all.filter(|&(_, value)| value > 0.7));
        })
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
            assert!(c.row_columns(row).is_sorted_by(|a, b| a < b));
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

    #[test]
    fn matrices_without_rows_columns_or_entries_are_fine() {
        for (rows, columns) in [(0, 5), (5, 0), (0, 0), (3, 4)] {
            let empty = Csr::<()>::by_rows((rows, columns), |_, _| ());
            let transposed = empty.transposed();
            assert_eq!((transposed.rows(), transposed.columns()), (columns, rows));
            assert_eq!(empty.times(&transposed).entries(), 0);
        }
    }
}
