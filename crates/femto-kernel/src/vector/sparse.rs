//! Products with sparse matrices, whose rows are stored in slices.
//!
//! A slice is [`SLICE`] consecutive rows, all as long as its longest one: entry k of row `lane` of a slice is
//! `offsets[slice] + k * SLICE + lane`, so that the threads of neighbouring rows read neighbouring numbers
//! (SELL-C: Kreutzer, Hager, Wellein, Fehske and Bishop, SIAM Journal on Scientific Computing 36, 2014).
//! Rows are summed in the order of their entries, on every device.

use super::vectorized;
use crate::roofline::Work;
use crate::scalar::{Real, SimdLevel};

/// Rows of a slice.
pub const SLICE: usize = 32;

/// The positions and values of a matrix's entries, in slices.
#[derive(Clone, Copy, Debug)]
pub struct Slices<'a, T> {
    /// Start of each slice, and the end of the last, `[slices + 1]`.
    pub offsets: &'a [u32],
    /// Column of each entry. Entries beyond the end of a row repeat one of its columns.
    pub columns: &'a [u32],
    /// Value of each entry; zero beyond the end of a row.
    pub values: &'a [T],
}

/// The work of a product of a matrix with `entries` entries, those beyond the ends of rows included, and
/// `rows` rows. Each entry of the input counts as read from memory once.
pub fn work<T: Real>(entries: usize, (rows, columns): (usize, usize), add: bool) -> Work {
    let read = entries + columns + if add { rows } else { 0 };
    let places = entries + rows.div_ceil(SLICE) + 1;
    Work {
        bytes_read: (read * T::BYTES + places * size_of::<u32>()) as u64,
        bytes_written: (rows * T::BYTES) as u64,
        flops: 2 * entries as u64,
        shared_bytes: 0,
    }
}

/// y = A x, or y = y + A x if `add`, for the rows `first..first + y.len()`; `first` is the start of a slice.
pub fn multiply<T: Real>(
    level: SimdLevel,
    matrix: Slices<'_, T>,
    x: &[T],
    add: bool,
    (first, y): (usize, &mut [T]),
) {
    let slices = matrix.offsets[first / SLICE..].windows(2);
    for (ends, y) in slices.zip(y.chunks_mut(SLICE)) {
        let range = ends[0] as usize..ends[1] as usize;
        let (columns, values) = (&matrix.columns[range.clone()], &matrix.values[range]);
        vectorized(
            level,
            #[inline(always)]
            || {
                let mut sums = [T::default(); SLICE];
                let entries = columns.chunks_exact(SLICE).zip(values.chunks_exact(SLICE));
                for (columns, values) in entries {
                    for lane in 0..SLICE {
                        sums[lane] += values[lane] * x[columns[lane] as usize];
                    }
                }
                for (y, sum) in y.iter_mut().zip(sums) {
                    *y = if add { *y + sum } else { sum };
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 0, 1, 2 entries, in slices of which the last is not full.
    #[test]
    fn rows_of_any_length_are_summed() {
        let rows = 2 * SLICE + 5;
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for slice in 0..rows.div_ceil(SLICE) {
            for k in 0..2 {
                for lane in 0..SLICE {
                    let row = slice * SLICE + lane;
                    columns.push((row + k) as u32 % 7);
                    let value = if k < row % 3 {
                        (row + 2 * k) as f64
                    } else {
                        0.0
                    };
                    values.push(value);
                }
            }
            offsets.push(columns.len() as u32);
        }
        let x: Vec<f64> = (0..7).map(|n| f64::from(n) - 2.5).collect();
        let product = |row: usize| -> f64 {
            let terms = (0..row % 3).map(|k| (row + 2 * k) as f64 * x[(row + k) % 7]);
            terms.sum()
        };
        let matrix = Slices {
            offsets: &offsets,
            columns: &columns,
            values: &values,
        };
        for &level in SimdLevel::available() {
            for (first, add) in [(0, false), (0, true), (SLICE, false), (2 * SLICE, true)] {
                let mut y = vec![0.5; rows - first];
                multiply(level, matrix, &x, add, (first, &mut y));
                let start = if add { 0.5 } else { 0.0 };
                for (row, found) in (first..rows).zip(y) {
                    assert_eq!(found, start + product(row), "{level:?} row {row}");
                }
            }
        }
    }

    #[test]
    fn work_counts_entries_and_both_vectors() {
        let work = work::<f32>(320, (40, 10), true);
        assert_eq!(work.bytes_read, 4 * (320 + 10 + 40) + 4 * (320 + 3));
        assert_eq!((work.bytes_written, work.flops), (160, 640));
    }
}
