//! Sparse matrices on the host, by rows.
//!
//! Everything is computed row by row in parallel, and is the same for any number of threads.

mod blocks;
#[cfg(test)]
mod tests;

use femto_fem::parallel;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A part has this many rows at most, and there are about this many parts or more, since some rows are much longer than
/// others.
const ROWS: usize = 1024;
const PARTS: usize = 256;

/// A sparse matrix, row by row, columns ascending within a row; of positions alone if `V` is `()`.
#[derive(Clone, Debug)]
pub struct Csr<V = f64> {
    rows: usize,
    columns: usize,
    /// Parts have 2^shift rows, apart from the last.
    shift: u32,
    parts: Vec<Part<V>>,
}

/// Some rows of a matrix: each is made by one task, and stays where it was made.
#[derive(Clone, Debug)]
struct Part<V> {
    /// Start of each row, and the end of the last.
    offsets: Vec<usize>,
    /// Column of each entry.
    places: Vec<u32>,
    /// Value of each entry.
    values: Vec<V>,
}

/// Of the same size, with the same entries, however they are kept in parts.
impl<V: Value + PartialEq> PartialEq for Csr<V> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |row: usize| {
            self.row_columns(row) == other.row_columns(row)
                && self.row_values(row) == other.row_values(row)
        };
        (self.rows, self.columns) == (other.rows, other.columns) && (0..self.rows).all(is_same)
    }
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

/// Entries of rows, one after the other; their memory is used again.
#[derive(Default)]
struct Entries<V> {
    places: Vec<u32>,
    values: Vec<V>,
}

impl<V: Value> Entries<V> {
    fn push(&mut self, column: u32, value: V) {
        self.places.push(column);
        self.values.push(value);
    }

    /// Some rows of a matrix with so many columns. What was here before is lost.
    fn part(&mut self, rows: Range<usize>, columns: usize, write: &mut WriteRow<'_, V>) -> Part<V> {
        self.places.clear();
        self.values.clear();
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        offsets.push(0);
        for row in rows {
            let first = self.places.len();
            write(row, self);
            let last = self.places[first..].last();
            assert!(
                last.is_none_or(|&last| (last as usize) < columns),
                "row {row} has column {last:?} of {columns}"
            );
            offsets.push(self.places.len());
        }
        Part {
            offsets,
            places: self.places.clone(),
            values: self.values.clone(),
        }
    }
}

/// Appends a row's columns, ascending, with values.
type WriteRow<'a, V> = Box<dyn FnMut(usize, &mut Entries<V>) + 'a>;

impl<V: Value> Csr<V> {
    /// A matrix whose rows are what `write` appends to an empty vector: columns, ascending, with values.
    ///
    /// # Panics
    /// If a column is not one of the matrix.
    pub fn by_rows(size: (usize, usize), write: impl Fn(usize, &mut Vec<(u32, V)>) + Sync) -> Self {
        Self::by_rows_with(size, || (), |(), row, entries| write(row, entries))
    }

    /// As [`Self::by_rows`], with scratch memory for each task.
    pub(crate) fn by_rows_with<S>(
        size: (usize, usize),
        scratch: impl Fn() -> S + Sync,
        write: impl Fn(&mut S, usize, &mut Vec<(u32, V)>) + Sync,
    ) -> Self {
        Self::by_tasks((size, 1), &|| {
            let (mut scratch, write, mut found) = (scratch(), &write, Vec::new());
            Box::new(move |row, entries| {
                found.clear();
                write(&mut scratch, row, &mut found);
                entries.places.extend(found.iter().map(|entry| entry.0));
                entries.values.extend(found.iter().map(|entry| entry.1));
            })
        })
    }

    /// As many tasks as threads have writers of their own, for parts of at least `least` rows if there are so many. Compiled once, not
    /// for each writer.
    fn by_tasks<'a>(
        ((rows, columns), least): ((usize, usize), usize),
        writer: &(dyn Fn() -> WriteRow<'a, V> + Sync),
    ) -> Self {
        let shift = (rows / PARTS).clamp(least, ROWS).ilog2();
        let next = AtomicUsize::new(0);
        let task = |_, parts: &mut Vec<(usize, Part<V>)>| {
            let mut own = None;
            parts.extend(std::iter::from_fn(|| {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let first = number << shift;
                let part = first..rows.min(first + (1 << shift));
                if part.is_empty() {
                    return None;
                }
                let (write, entries) = own.get_or_insert_with(|| (writer(), Entries::default()));
                Some((number, entries.part(part, columns, write)))
            }));
        };
        let mut parts = parallel::gather(rayon::current_num_threads(), task);
        parts.sort_unstable_by_key(|part| part.0);
        Self {
            rows,
            columns,
            shift,
            parts: parts.into_iter().map(|part| part.1).collect(),
        }
    }

    /// Its graph.
    pub fn positions(&self) -> Csr<()> {
        let part = |part: &Part<V>| Part {
            offsets: part.offsets.clone(),
            places: part.places.clone(),
            values: vec![(); part.places.len()],
        };
        Csr {
            rows: self.rows,
            columns: self.columns,
            shift: self.shift,
            parts: parallel::gather(self.parts.len(), |number, parts| {
                parts.push(part(&self.parts[number]));
            }),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.parts.iter().map(|part| part.places.len()).sum()
    }

    /// The part of a row, and its entries there.
    #[inline]
    fn part(&self, row: usize) -> (&Part<V>, Range<usize>) {
        let part = &self.parts[row >> self.shift];
        let row = row & ((1 << self.shift) - 1);
        (part, part.offsets[row]..part.offsets[row + 1])
    }

    /// The columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, V)> + '_ {
        let (part, own) = self.part(row);
        let places = part.places[own.clone()].iter().copied();
        places.zip(part.values[own].iter().copied())
    }

    /// The columns of a row.
    pub fn row_columns(&self, row: usize) -> &[u32] {
        let (part, own) = self.part(row);
        &part.places[own]
    }

    /// The values of a row.
    pub fn row_values(&self, row: usize) -> &[V] {
        let (part, own) = self.part(row);
        &part.values[own]
    }

    /// Aᵀ.
    pub fn transposed(&self) -> Self {
        let lengths: Vec<AtomicU32> = (0..self.columns).map(|_| AtomicU32::new(0)).collect();
        parallel::for_each(self.parts.len(), |number| {
            for &place in &self.parts[number].places {
                lengths[place as usize].fetch_add(1, Ordering::Relaxed);
            }
        });
        let lengths: Vec<u32> = lengths.into_iter().map(AtomicU32::into_inner).collect();
        let zeros = |row: usize, entries: &mut Vec<(u32, V)>| {
            entries.resize(lengths[row] as usize, (0, V::default()));
        };
        let mut transposed = Self::by_rows((self.columns, self.rows), zeros);
        // Each task fills some parts, and looks for their entries in all rows.
        let tasks = rayon::current_num_threads();
        let of_task = transposed.parts.len().div_ceil(tasks).max(1);
        let shift = transposed.shift;
        parallel::chunks(&mut transposed.parts, of_task, |task, parts| {
            let first = (task * of_task) << shift;
            let end = self.columns.min(first + (parts.len() << shift));
            let mut next: Vec<usize> = (parts.iter())
                .flat_map(|part| &part.offsets[..part.offsets.len() - 1])
                .copied()
                .collect();
            for row in 0..self.rows {
                let columns = self.row_columns(row);
                let from = columns.partition_point(|&column| (column as usize) < first);
                let own = columns[from..].iter().zip(&self.row_values(row)[from..]);
                for (&column, &value) in own.take_while(|own| (*own.0 as usize) < end) {
                    let place = column as usize - first;
                    let (part, at) = (&mut parts[place >> shift], &mut next[place]);
                    (part.places[*at], part.values[*at]) = (row as u32, value);
                    *at += 1;
                }
            }
        });
        transposed
    }

    /// A B (Gustavson, ACM Transactions on Mathematical Software 4, 1978).
    ///
    /// # Panics
    /// If B does not have as many rows as A has columns.
    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(other.rows(), self.columns, "rows of B, columns of A");
        Self::by_tasks(((self.rows, other.columns), 1), &|| {
            let mut sums = RowSums::new(other.columns);
            Box::new(move |row, entries| {
                for (middle, factor) in self.row(row) {
                    for (column, value) in other.row(middle as usize) {
                        sums.add_product(column, factor, value);
                    }
                }
                sums.each(|column, value| entries.push(column, value));
            })
        })
    }
}

/// A row that is added up.
pub(crate) struct RowSums<V> {
    /// Of each column: the number of the row that last had it, and the sum there.
    sums: Vec<(u32, V)>,
    /// The columns of the row.
    columns: Vec<u32>,
    row: u32,
}

impl<V: Value> RowSums<V> {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            sums: vec![(0, V::default()); columns],
            columns: Vec::new(),
            row: 1,
        }
    }

    /// Adds a product in a column.
    #[inline]
    pub(crate) fn add_product(&mut self, column: u32, a: V, b: V) {
        let (met, sum) = &mut self.sums[column as usize];
        if *met != self.row {
            (*met, *sum) = (self.row, V::default());
            self.columns.push(column);
        }
        sum.add_product(a, b);
    }

    /// Appends the entries, columns ascending, and begins a new row.
    pub(crate) fn take(&mut self, entries: &mut Vec<(u32, V)>) {
        self.each(|column, value| entries.push((column, value)));
    }

    /// Hands out the entries, columns ascending, and begins a new row.
    fn each(&mut self, mut entry: impl FnMut(u32, V)) {
        self.columns.sort_unstable();
        for column in self.columns.drain(..) {
            entry(column, self.sums[column as usize].1);
        }
        self.row += 1;
    }
}

impl Csr {
    /// A x.
    ///
    /// # Panics
    /// If x does not have as many entries as the matrix has columns.
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.columns, "entries of x, columns of the matrix");
        let row = |row| {
            let terms = self.row(row);
            terms.map(|(column, a)| a * x[column as usize]).sum()
        };
        parallel::map(self.rows, row)
    }

    /// Changes the values of rows, whose columns `change` is given too.
    pub(crate) fn change_rows(&mut self, change: impl Fn(usize, &[u32], &mut [f64]) + Sync) {
        let shift = self.shift;
        parallel::each(&mut self.parts, |number, part| {
            for (row, ends) in (number << shift..).zip(part.offsets.windows(2)) {
                let own = ends[0]..ends[1];
                change(row, &part.places[own.clone()], &mut part.values[own]);
            }
        });
    }

    /// Sets entries of the diagonal.
    ///
    /// # Panics
    /// If one is not there.
    pub(crate) fn set_diagonal(&mut self, rows: &[u32], value: f64) {
        for &row in rows {
            let part = &mut self.parts[row as usize >> self.shift];
            let own = row as usize & ((1 << self.shift) - 1);
            let own = part.offsets[own]..part.offsets[own + 1];
            let place = part.places[own.clone()].binary_search(&row);
            part.values[own][place.expect("an entry of the diagonal")] = value;
        }
    }

    /// The diagonal of a square matrix; zero where it has no entry.
    pub fn diagonal(&self) -> Vec<f64> {
        let entry = |row: usize| {
            let place = self.row_columns(row).binary_search(&(row as u32)).ok()?;
            Some(self.row_values(row)[place])
        };
        parallel::map(self.rows(), |row| entry(row).unwrap_or(0.0))
    }
}
