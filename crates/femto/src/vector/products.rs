//! Products with sparse matrices on the host.

use super::SparseMatrix;
use super::cut::{Rows, each_of};
use super::slicing::ENTRIES;
use crate::Number;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector::sparse::{self, MOST_COMPONENTS, SLICE, Slices};
use femto_platform::device::host::Host;
use femto_platform::stream::prefetch;
use std::ops::Range;

/// A product with some rows of a matrix.
type Multiply<T> = fn(SimdLevel, Slices<'_, T>, &[T], bool, (usize, &mut [T]));

/// Entries of a matrix are prefetched this far ahead of their use: half and twice as far are as fast.
const ENTRIES_AHEAD: usize = 24 * SLICE;

/// [`sparse::multiply`] with entries prefetched: a few rows have so many loads and additions that the processor does not
/// look ahead to those of later ones.
fn multiply<T: Number, const C: usize, const H: usize, const W: usize>(
    level: SimdLevel,
    matrix: Slices<'_, T>,
    x: &[T],
    add: bool,
    rows: (usize, &mut [T]),
) {
    sparse::multiply::<T, C, H, W>(
        level,
        matrix,
        x,
        add,
        rows,
        #[inline(always)]
        |block| {
            let later = block + (ENTRIES_AHEAD / (H * W)).next_multiple_of(SLICE);
            let entries = later * H * W..(later + SLICE) * H * W;
            let values = matrix.values.and_then(|values| values.get(entries));
            let columns = matrix.columns.get(later..later + SLICE);
            prefetch(columns.unwrap_or_default(), SLICE);
            prefetch(values.unwrap_or_default(), SLICE * H * W);
        },
    );
}

/// y = A x, or y = y + A x if `add`.
pub(super) fn multiply_sparse<T: Number>(
    host: &Host,
    matrix: &SparseMatrix<T, Host>,
    x: &[T],
    (add, y): (bool, &mut [T]),
) {
    let level = SimdLevel::detect();
    let slices = Slices {
        order: matrix.order.as_deref(),
        offsets: &matrix.offsets,
        columns: &matrix.places,
        values: matrix.values.as_deref(),
    };
    let strides = matrix.strides;
    let [height, width] = matrix.block;
    let rows = matrix.rows / height;
    let of_row = matrix.places.len() / rows.max(1) * height * width;
    let of_task = (ENTRIES / of_row.max(1) / matrix.window).max(1) * matrix.window;
    let run = |x: &[T], y: &mut [T], multiply: Multiply<T>| {
        let components = y.len() / rows.max(1);
        let values = Rows {
            values: y,
            components,
        };
        let task = |(rows, y): (Range<usize>, Rows<'_, T>)| {
            multiply(level, slices, x, add, (rows.start, y.values));
        };
        each_of(host, of_task, (0..rows, values), &task);
    };
    let multiply: Multiply<T> = match (strides.components, matrix.block) {
        (1, [2, 2]) => multiply::<T, 1, 2, 2>,
        (1, [2, 3]) => multiply::<T, 1, 2, 3>,
        (1, [3, 2]) => multiply::<T, 1, 3, 2>,
        (1, [3, 3]) => multiply::<T, 1, 3, 3>,
        (1, [3, 6]) => multiply::<T, 1, 3, 6>,
        (1, [6, 3]) => multiply::<T, 1, 6, 3>,
        (1, [6, 6]) => multiply::<T, 1, 6, 6>,
        (components, _) if strides.node != components => {
            let x = x.chunks_exact(matrix.columns);
            let y = y.chunks_exact_mut(matrix.rows);
            return x
                .zip(y)
                .for_each(|(x, y)| run(x, y, multiply::<T, 1, 1, 1>));
        }
        (2, _) => multiply::<T, 2, 1, 1>,
        (3, _) => multiply::<T, 3, 1, 1>,
        (MOST_COMPONENTS, _) => multiply::<T, MOST_COMPONENTS, 1, 1>,
        (1, [1, 1]) => multiply::<T, 1, 1, 1>,
        (components, block) => unreachable!("{components} components, blocks of {block:?}"),
    };
    run(x, y, multiply);
}
