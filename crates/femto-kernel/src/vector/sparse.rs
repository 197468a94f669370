//! Products with sparse matrices, whose rows are stored in slices.
//!
//! A slice is [`SLICE`] rows of blocks, all as long as its longest one; a block is one entry, or those that the unknowns of two
//! nodes have. Block k of row `lane` of a slice is at `offsets[slice] + k * SLICE + lane`, so that the threads of
//! neighbouring rows read neighbouring numbers. Where rows differ in length, each window of several slices has its longest
//! rows first, so that those of a slice hardly differ (SELL-C-σ: Kreutzer, Hager, Wellein, Fehske and Bishop, SIAM Journal on
//! Scientific Computing 36, 2014). Rows are summed in the order of their entries, on every device.

use super::vectorized;
use crate::roofline::Work;
use crate::scalar::{Real, SimdLevel};

/// Rows of a slice.
pub const SLICE: usize = 32;

/// Rows and columns of the blocks that a matrix may have, the largest last: of one, two or three components, and of their rigid
/// motions. Each is a case of the products on the host, each width one of `multiply_sparse_blocks`.
pub const BLOCKS: [[usize; 2]; 8] = [
    [1, 1],
    [2, 2],
    [2, 3],
    [3, 2],
    [3, 3],
    [3, 6],
    [6, 3],
    [6, 6],
];

/// Most components of vectors whose components have a matrix in common.
pub const MOST_COMPONENTS: usize = 4;

/// Marks entries beyond the end of a row of ones.
pub const NO_COLUMN: u32 = u32::MAX;

/// The positions and values of a matrix's entries, in slices.
#[derive(Clone, Copy, Debug)]
pub struct Slices<'a, T> {
    /// The row of blocks of each lane, slice by slice, `[rows]`; those of a window are its own. `None` if in order.
    pub order: Option<&'a [u32]>,
    /// Start of each slice, and the end of the last, `[slices + 1]`.
    pub offsets: &'a [u32],
    /// First column of each block. Blocks beyond the end of a row repeat one of its columns if there are values, so
    /// that no test is needed; they are [`NO_COLUMN`] if not.
    pub columns: &'a [u32],
    /// Value of each entry, zero beyond the end of a row, in a slice `[block][column][row][lane]`; `None` if all are one.
    pub values: Option<&'a [T]>,
}

/// The work of a product of a matrix with these numbers of blocks, those beyond the ends of rows included, and of other indices;
/// with as many values for a block, `None` if all are one, rows and columns; with vectors of components. Each entry of the
/// input counts as read from memory once.
pub fn work<T: Real>(
    [blocks, indices]: [usize; 2],
    (of_block, rows, columns): (Option<usize>, usize, usize),
    (components, add): (usize, bool),
) -> Work {
    let values = blocks * of_block.unwrap_or(0);
    let entries = blocks * of_block.unwrap_or(1);
    let vectors = columns + if add { rows } else { 0 };
    let read = values + components * vectors;
    let places = blocks + indices;
    Work {
        bytes_read: (read * T::BYTES + places * size_of::<u32>()) as u64,
        bytes_written: (components * rows * T::BYTES) as u64,
        flops: (components * (entries + values)) as u64,
        ..Work::default()
    }
}

/// y = A x, or y = y + A x if `add`, with blocks of H x W entries, for C interleaved components each, and the rows of blocks from
/// `first` on, as many as `y` has; `first` is the start of a slice, of a window if the rows are not in order. H and W are one if
/// there are no values. Before [`SLICE`] blocks are multiplied, `ahead` is called with the number of the first, to prefetch
/// later ones.
///
/// The caller has checked the columns; here they are at most the last one, so that compilers need no test.
pub fn multiply<T: Real, const C: usize, const H: usize, const W: usize>(
    level: SimdLevel,
    matrix: Slices<'_, T>,
    x: &[T],
    add: bool,
    (first, y): (usize, &mut [T]),
    ahead: impl Fn(usize),
) {
    let (x, _) = x.as_chunks::<C>();
    let Some(last) = x.len().checked_sub(1) else {
        if !add {
            y.fill(T::default());
        }
        return;
    };
    let slices = matrix.offsets[first / SLICE..].windows(2);
    let rows = y.len() / (H * C);
    for (ends, lane) in slices.zip((0..rows).step_by(SLICE)) {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        let lanes = lane..rows.min(lane + SLICE);
        let (order, y) = match matrix.order {
            None => (None, &mut y[lanes.start * H * C..lanes.end * H * C]),
            Some(order) => (
                Some(&order[first + lanes.start..first + lanes.end]),
                &mut *y,
            ),
        };
        let (columns, _) = matrix.columns[start..end].as_chunks::<SLICE>();
        let values = matrix.values.map(|values| {
            let lanes = values[start * H * W..end * H * W].as_chunks::<SLICE>().0;
            lanes.as_chunks::<H>().0.as_chunks::<W>().0
        });
        vectorized(
            level,
            #[inline(always)]
            || {
                let mut sums = [[[T::default(); SLICE]; C]; H];
                match values {
                    Some(values) => {
                        for (n, (columns, values)) in columns.iter().zip(values).enumerate() {
                            ahead(start + n * SLICE);
                            for w in 0..W {
                                let values: &[[T; SLICE]; H] = &values[w];
                                for lane in 0..SLICE {
                                    let x = &x[(columns[lane] as usize + w).min(last)];
                                    for h in 0..H {
                                        for c in 0..C {
                                            sums[h][c][lane] += values[h][lane] * x[c];
                                        }
                                    }
                                }
                            }
                        }
                    }
                    None => {
                        for (n, columns) in columns.iter().enumerate() {
                            ahead(start + n * SLICE);
                            for lane in 0..SLICE {
                                let column = columns[lane] as usize;
                                let x = &x[column.min(last)];
                                for c in 0..C {
                                    // Nothing is added beyond the end of a row.
                                    sums[0][c][lane] +=
                                        if column <= last { x[c] } else { T::default() };
                                }
                            }
                        }
                    }
                }
                let write = |y: &mut T, sum: T| *y = if add { *y + sum } else { sum };
                match order {
                    None => {
                        for (n, y) in y.iter_mut().enumerate() {
                            write(y, sums[n / C % H][n % C][n / C / H]);
                        }
                    }
                    Some(order) => {
                        for (lane, &row) in order.iter().enumerate() {
                            let y = &mut y[(row as usize - first) * H * C..][..H * C];
                            for (n, y) in y.iter_mut().enumerate() {
                                write(y, sums[n / C][n % C][lane]);
                            }
                        }
                    }
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: usize = 4 * SLICE;

    /// Rows of 0, 1, 2 entries, with values and without, in order and not, in slices of which the last is not full.
    #[test]
    fn rows_of_any_length_are_summed() {
        let rows = WINDOW + 2 * SLICE + 5;
        let column = |row: usize, k: usize| (row + k) % 7;
        let value = |row: usize, k: usize| (row + 2 * k) as f64;
        let mut order: Vec<u32> = (0..rows as u32).collect();
        for window in order.chunks_mut(WINDOW) {
            window.reverse();
        }
        let x: Vec<f64> = (0..7).map(|n| f64::from(n) - 2.5).collect();
        for order in [None, Some(&order[..])] {
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            let mut ones = Vec::new();
            for slice in 0..rows.div_ceil(SLICE) {
                for (k, lane) in (0..2).flat_map(|k| (0..SLICE).map(move |lane| (k, lane))) {
                    let lane = slice * SLICE + lane;
                    let row = order.map_or(Some(lane as u32), |order| order.get(lane).copied());
                    let row = row.unwrap_or_default() as usize;
                    let (column, is_entry) = (column(row, k) as u32, k < row % 3);
                    columns.push(column);
                    values.push(if is_entry { value(row, k) } else { 0.0 });
                    ones.push(if is_entry { column } else { NO_COLUMN });
                }
                offsets.push(columns.len() as u32);
            }
            for (columns, values) in [(&columns, Some(&values[..])), (&ones, None)] {
                let product = |row: usize| -> f64 {
                    let factor = |k| if values.is_some() { value(row, k) } else { 1.0 };
                    (0..row % 3).map(|k| factor(k) * x[column(row, k)]).sum()
                };
                let matrix = Slices {
                    order,
                    offsets: &offsets,
                    columns,
                    values,
                };
                for &level in SimdLevel::available() {
                    for (first, add) in [(0, false), (0, true), (WINDOW, false), (WINDOW, true)] {
                        let mut y = vec![0.5; rows - first];
                        multiply::<_, 1, 1, 1>(level, matrix, &x, add, (first, &mut y), |_| ());
                        let start = if add { 0.5 } else { 0.0 };
                        for (row, found) in (first..rows).zip(y) {
                            assert_eq!(found, start + product(row), "{level:?} row {row}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn work_counts_entries_and_both_vectors() {
        let work = work::<f32>([320, 3], (Some(1), 40, 10), (1, true));
        assert_eq!(work.bytes_read, 4 * (320 + 10 + 40) + 4 * (320 + 3));
        assert_eq!((work.bytes_written, work.flops), (160, 640));
        let work = super::work::<f32>([320, 3], (None, 40, 10), (1, false));
        assert_eq!((work.bytes_read, work.flops), (4 * 10 + 4 * 323, 320));
        let work = super::work::<f32>([320, 3], (Some(1), 40, 10), (3, true));
        assert_eq!(work.bytes_read, 4 * (320 + 3 * (10 + 40)) + 4 * (320 + 3));
        assert_eq!((work.bytes_written, work.flops), (480, 1920));
        let work = super::work::<f32>([320, 2], (Some(6), 40, 12), (1, false));
        assert_eq!(work.bytes_read, 4 * (1920 + 12) + 4 * (320 + 2));
        assert_eq!(work.flops, 3840);
    }
}
