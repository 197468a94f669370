//! The rows of a sparse matrix in slices.

use super::Csr;
use super::csr::Value;
use crate::Number;
use femto_fem::parallel;
use femto_kernel::vector::sparse::SLICE;
use femto_platform::device::DeviceKind;

/// Slices filled by one task.
const SLICES: usize = 64;

/// About as many entries of a matrix are multiplied by one task on the host.
pub(super) const ENTRIES: usize = 1 << 17;

/// Most rows among which those of a slice are chosen by their length.
const WINDOW: usize = 16 * SLICE;

/// Which rows of blocks are in which slice, as in [`femto_kernel::vector::sparse::Slices`].
pub(crate) struct Slicing {
    /// Rows and columns of the blocks.
    pub(super) block: [usize; 2],
    pub(super) order: Option<Vec<u32>>,
    /// Start of each slice, and the end of the last, in blocks.
    pub(super) offsets: Vec<usize>,
    /// Rows of blocks.
    rows: usize,
    /// Rows of a window; of a slice if they are in order.
    pub(super) window: usize,
}

impl Slicing {
    /// Of a matrix of whole blocks. Rows stay in order unless sorting saves at least an eighth of the blocks.
    pub(super) fn new<V: Value>(kind: DeviceKind, matrix: &Csr<V>, block: [usize; 2]) -> Self {
        let rows = matrix.rows() / block[0];
        assert!(u32::try_from(rows).is_ok(), "{rows} rows of blocks");
        let lengths = parallel::map(rows, |row| length(matrix, block, row));
        let of_row = (matrix.entries() / rows.max(1)).max(1);
        let window = match kind {
            DeviceKind::Cuda | DeviceKind::OpenCl => WINDOW,
            // No longer than a task.
            DeviceKind::Host | DeviceKind::Null => {
                (ENTRIES / of_row / SLICE * SLICE).clamp(SLICE, WINDOW)
            }
        };
        let mut order: Vec<u32> = (0..rows as u32).collect();
        parallel::chunks(&mut order, window, |_, rows| {
            rows.sort_by_key(|&row| std::cmp::Reverse(lengths[row as usize]));
        });
        let by_length = offsets(rows, |lane| lengths[order[lane] as usize]);
        let in_order = offsets(rows, |lane| lengths[lane]);
        let [sorted, unsorted] = [&by_length, &in_order].map(|it| it[it.len() - 1]);
        match 8 * sorted <= 7 * unsorted && unsorted > 0 {
            true => Self {
                block,
                order: Some(order),
                offsets: by_length,
                rows,
                window,
            },
            false => Self {
                block,
                order: None,
                offsets: in_order,
                rows,
                window: SLICE,
            },
        }
    }

    /// Blocks, those beyond the ends of rows included.
    fn blocks(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Bytes of device memory of a matrix with values.
    pub(crate) fn bytes<T: Number>(&self) -> u64 {
        let of_block = size_of::<u32>() + self.block[0] * self.block[1] * T::BYTES;
        let indices = self.offsets.len() + self.order.as_ref().map_or(0, Vec::len);
        (self.blocks() * of_block + indices * size_of::<u32>()) as u64
    }

    /// An array of as many numbers for each block: `row` gives what a row has there, and what is beyond its end. Never empty, as
    /// buffers cannot be.
    pub(super) fn filled<R: Iterator<Item = E>, E: Copy + Default + Send + Sync>(
        &self,
        of_block: usize,
        row: impl Fn(usize) -> (R, E) + Sync,
    ) -> Vec<E> {
        let mut array = vec![E::default(); (self.blocks() * of_block).max(1)];
        let starts = self.offsets.iter().copied().step_by(SLICES);
        let starts: Vec<usize> = starts.chain([self.blocks()]).collect();
        let lengths = starts.windows(2).map(|ends| (ends[1] - ends[0]) * of_block);
        parallel::parts(&mut array, lengths, |task, mut rest| {
            let slices = self.offsets[task * SLICES..].windows(2);
            for (slice, ends) in (task * SLICES..).zip(slices).take(SLICES) {
                let (own, later) = rest.split_at_mut((ends[1] - ends[0]) * of_block);
                rest = later;
                let mut lanes: [Option<(R, E)>; SLICE] = std::array::from_fn(|lane| {
                    let lane = slice * SLICE + lane;
                    let number = || self.order.as_ref().map_or(lane, |it| it[lane] as usize);
                    (lane < self.rows).then(|| row(number()))
                });
                for own in own.as_chunks_mut::<SLICE>().0 {
                    for (own, lane) in own.iter_mut().zip(&mut lanes) {
                        if let Some((row, beyond)) = lane {
                            *own = row.next().unwrap_or(*beyond);
                        }
                    }
                }
            }
        });
        array
    }
}

/// Blocks of a row of blocks.
fn length<V: Value>(matrix: &Csr<V>, [height, width]: [usize; 2], row: usize) -> u32 {
    let columns = matrix.row_columns(row * height);
    for other in 1..height {
        let others = matrix.row_columns(row * height + other);
        assert_eq!(columns.len(), others.len(), "blocks of row {row}");
        debug_assert_eq!(columns, others);
    }
    assert!(columns.len().is_multiple_of(width), "blocks of row {row}");
    (columns.len() / width) as u32
}

/// Start of each slice, and the end of the last, of lanes of these lengths.
fn offsets(rows: usize, length: impl Fn(usize) -> u32 + Sync) -> Vec<usize> {
    let slices = rows.div_ceil(SLICE);
    // That of the slice before each.
    let blocks = |slice: usize| {
        let lanes = slice.saturating_sub(1) * SLICE..rows.min(slice * SLICE);
        lanes.map(&length).max().unwrap_or(0) as usize * SLICE
    };
    let mut offsets = parallel::map(slices + 1, blocks);
    for slice in 0..slices {
        offsets[slice + 1] += offsets[slice];
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;
    use crate::vector::{SparseMatrix, VectorOps, download_f64};
    use femto_platform::device::Device;

    fn slicing(rows: usize, length: impl Fn(usize) -> usize + Sync) -> Slicing {
        let matrix = Csr::by_rows((rows, 9000), |row, entries| {
            entries.extend((0..length(row) as u32).map(|column| (column, 1.0)));
        });
        Slicing::new(DeviceKind::Host, &matrix, [1, 1])
    }

    /// The rows of each window are its own, the longest first, and those as long as each other in order.
    #[test]
    fn windows_have_their_longest_rows_first() {
        let rows = 2 * WINDOW + 75;
        let length = |row: usize| [29, 15, 65, 15][row % 4];
        let slicing = slicing(rows, length);
        let order = slicing.order.as_ref().unwrap();
        assert_eq!(slicing.window, WINDOW);
        for (number, window) in order.chunks(WINDOW).enumerate() {
            let first = number * WINDOW;
            let mut wanted: Vec<usize> = (first..rows.min(first + WINDOW)).collect();
            wanted.sort_by_key(|&row| (std::cmp::Reverse(length(row)), row));
            assert!(window.iter().map(|&row| row as usize).eq(wanted));
        }
        // A quarter of the slices has rows of 65, then 29, half of them rows of 15; the last window 19 of 65.
        let last = (65 + 29 + 15) * SLICE;
        assert_eq!(slicing.blocks(), 2 * WINDOW * (65 + 29 + 2 * 15) / 4 + last);
        let indices = slicing.offsets.len() + rows;
        assert_eq!(
            slicing.bytes::<f64>() as usize,
            slicing.blocks() * 12 + indices * 4
        );
    }

    /// Rows of about the same length stay in order; a window of long ones is one task.
    #[test]
    fn order_and_windows_depend_on_lengths() {
        let even = slicing(500, |row| 30 - row % 4);
        assert!(even.order.is_none());
        assert_eq!((even.window, even.blocks()), (SLICE, 16 * 30 * SLICE));
        let long = slicing(500, |row| 200 + row % 2 * 2000);
        assert_eq!((long.order.is_some(), long.window), (true, 3 * SLICE));
        let longest = slicing(100, |row| row % 2 * 8900 + 100);
        assert_eq!((longest.order.is_some(), longest.window), (false, SLICE));
        assert_eq!(slicing(0, |_| 0).blocks(), 0);
    }

    /// Windows of fewer rows than others have, and tasks of one window each.
    #[test]
    fn long_rows_are_multiplied_in_tasks() {
        let matrix = Csr::by_rows((2000, 2300), |row, entries| {
            let columns = 0..200 + row as u32 % 2 * 2000;
            entries.extend(columns.map(|column| (column, f64::from(column % 7) - 2.5)));
        });
        let host = Host::with_threads(2).unwrap();
        let on_host = SparseMatrix::<f64, Host>::new(&host, &matrix).unwrap();
        assert_eq!((on_host.order.is_some(), on_host.window), (true, 3 * SLICE));
        let on_accelerator = Slicing::new(DeviceKind::Cuda, &matrix, [1, 1]);
        assert_eq!(on_accelerator.window, WINDOW);
        let x: Vec<f64> = (0..2300).map(|n| f64::from(n % 11)).collect();
        let mut y = host.upload(&[f64::NAN; 2000]).unwrap();
        let g_x = host.upload(&x).unwrap();
        host.multiply_sparse(&on_host, &g_x, false, &mut y).unwrap();
        assert_eq!(download_f64(&host, &y).unwrap(), matrix.product(&x));
    }
}
