//! Products with sparse matrices on the host.

use super::SparseMatrix;
use super::cut::{Rows, each};
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
fn multiply<T: Number, const C: usize>(
    level: SimdLevel,
    matrix: Slices<'_, T>,
    x: &[T],
    add: bool,
    rows: (usize, &mut [T]),
) {
    sparse::multiply::<T, C>(
        level,
        matrix,
        x,
        add,
        rows,
        #[inline(always)]
        |entry| {
            let later = entry + ENTRIES_AHEAD..entry + ENTRIES_AHEAD + SLICE;
            let values = matrix.values.and_then(|values| values.get(later.clone()));
            prefetch(matrix.columns.get(later).unwrap_or_default(), SLICE);
            prefetch(values.unwrap_or_default(), SLICE);
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
        offsets: &matrix.offsets,
        columns: &matrix.places,
        values: matrix.values.as_deref(),
    };
    let strides = matrix.strides;
    let run = |x: &[T], y: &mut [T], multiply: Multiply<T>| {
        let components = y.len() / matrix.rows.max(1);
        let rows = (
            0..matrix.rows,
            Rows {
                values: y,
                components,
            },
        );
        each(host, rows, &|(rows, y): (Range<usize>, Rows<'_, T>)| {
            multiply(level, slices, x, add, (rows.start, y.values));
        });
    };
    match strides.components {
        1 => run(x, y, multiply::<T, 1>),
        components if strides.node == components => {
            let multiply = match components {
                2 => multiply::<T, 2>,
                3 => multiply::<T, 3>,
                _ => multiply::<T, MOST_COMPONENTS>,
            };
            run(x, y, multiply);
        }
        _ => {
            let x = x.chunks_exact(matrix.columns);
            let y = y.chunks_exact_mut(matrix.rows);
            x.zip(y).for_each(|(x, y)| run(x, y, multiply::<T, 1>));
        }
    }
}
