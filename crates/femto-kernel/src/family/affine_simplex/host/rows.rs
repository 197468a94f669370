//! Products with the rows of a matrix, several at a time.

use crate::scalar::{Lanes, Real};

/// Rows of a matrix that are multiplied at the same time; the last ones may be half as many.
const ROWS: usize = 8;

/// A matrix in blocks of rows, `[block][column][row]`; rows beyond the last are zero.
pub(super) struct RowBlocks<R> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    entries: Vec<R>,
}

impl<R: Real> RowBlocks<R> {
    pub(super) fn new(
        (rows, columns): (usize, usize),
        entry: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let mut entries = Vec::new();
        for first in (0..rows).step_by(ROWS) {
            for column in 0..columns {
                let block = first..first + Self::width(rows - first);
                entries.extend(block.map(|row| match row < rows {
                    true => R::from_f64(entry(row, column)),
                    false => R::default(),
                }));
            }
        }
        Self {
            rows,
            columns,
            entries,
        }
    }

    /// Rows of the next block, if so many are left.
    const fn width(left: usize) -> usize {
        if left <= ROWS / 2 { ROWS / 2 } else { ROWS }
    }

    /// The product with a vector, into `out`, `[rows]`.
    #[inline(always)]
    pub(super) fn multiply<L: Lanes<Real = R>>(
        &self,
        token: L::Token,
        vector: &[L],
        out: &mut [L],
    ) {
        let vector = &vector[..self.columns];
        let whole = self.rows / ROWS + usize::from(self.rows % ROWS > ROWS / 2);
        let (wide, narrow) = self.entries.split_at(whole * self.columns * ROWS);
        let (out, last) = out[..self.rows].split_at_mut(self.rows.min(whole * ROWS));
        if self.columns == 0 {
            out.fill(L::splat(token, R::default()));
        } else {
            let blocks = wide.chunks_exact(self.columns * ROWS);
            for (block, out) in blocks.zip(out.chunks_mut(ROWS)) {
                multiply_block::<L, ROWS>(token, block, vector, out);
            }
        }
        if !last.is_empty() {
            multiply_block::<L, { ROWS / 2 }>(token, narrow, vector, last);
        }
    }
}

/// The product with a block of W rows.
#[inline(always)]
fn multiply_block<L: Lanes, const W: usize>(
    token: L::Token,
    block: &[L::Real],
    vector: &[L],
    out: &mut [L],
) {
    let mut sums = [L::splat(token, L::Real::default()); W];
    for (entries, &x) in block.as_chunks::<W>().0.iter().zip(vector) {
        for (sum, &entry) in sums.iter_mut().zip(entries) {
            *sum = L::splat(token, entry).mul_add(x, *sum);
        }
    }
    out.copy_from_slice(&sums[..out.len()]);
}
