//! Products of matrices whose entries come in dense blocks, as those of the unknowns of two nodes do.

use super::{Csr, Entries};
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector::vectorized;

impl Csr {
    /// The entries of a row by blocks of `width` columns, which it has whole: the number of the block, and the values.
    pub(crate) fn row_blocks(
        &self,
        row: usize,
        width: usize,
    ) -> impl Iterator<Item = (u32, &[f64])> {
        let columns = self.row_columns(row).chunks_exact(width);
        let values = self.row_values(row).chunks_exact(width);
        let block = move |columns: &[u32]| columns[0] / width as u32;
        columns.map(block).zip(values)
    }

    /// A B, with whole blocks of H x M entries in A and of M x W in B, if `blocks` is `[H, M, W]`: faster for the unknowns of
    /// two and of three components, and of their rigid motions.
    ///
    /// # Panics
    /// If B does not have as many rows as A has columns.
    pub(crate) fn times_by_blocks(&self, other: &Self, blocks: [usize; 3]) -> Self {
        match blocks {
            [2, 2, 2] => self.times_of_blocks::<2, 2, 2>(other),
            [2, 2, 3] => self.times_of_blocks::<2, 2, 3>(other),
            [3, 2, 3] => self.times_of_blocks::<3, 2, 3>(other),
            [3, 3, 3] => self.times_of_blocks::<3, 3, 3>(other),
            [3, 3, 6] => self.times_of_blocks::<3, 3, 6>(other),
            [6, 3, 6] => self.times_of_blocks::<6, 3, 6>(other),
            [6, 6, 6] => self.times_of_blocks::<6, 6, 6>(other),
            _ => self.times(other),
        }
    }

    fn times_of_blocks<const H: usize, const M: usize, const W: usize>(
        &self,
        other: &Self,
    ) -> Self {
        assert_eq!(other.rows(), self.columns, "rows of B, columns of A");
        let level = SimdLevel::detect();
        // Few parts begin within a block, whose rows are added up twice then.
        let size = ((self.rows, other.columns), 8 * H);
        Self::by_tasks(size, &|| {
            let mut sums = BlockSums::<H, M, W>::new(other.columns / W);
            Box::new(move |row, entries| {
                let first = row - row % H;
                if sums.first != first {
                    vectorized(
                        level,
                        #[inline(always)]
                        || sums.add_products(first, (self, other)),
                    );
                }
                sums.write_row(row % H, entries);
            })
        })
    }
}

/// No row.
const NONE: usize = usize::MAX;

/// The H rows of a product that belong to the same blocks.
struct BlockSums<const H: usize, const M: usize, const W: usize> {
    /// The first of the rows.
    first: usize,
    /// Of each column of blocks: the first of the rows that last had it, and the place there.
    places: Vec<(usize, u32)>,
    /// The columns of blocks of the rows, and their places.
    met: Vec<(u32, u32)>,
    /// The block at each place.
    sums: Vec<[[f64; W]; H]>,
}

impl<const H: usize, const M: usize, const W: usize> BlockSums<H, M, W> {
    /// With this number of columns of blocks.
    fn new(columns: usize) -> Self {
        Self {
            first: NONE,
            places: vec![(NONE, 0); columns],
            met: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The rows from `first` on of A B.
    #[inline(always)]
    fn add_products(&mut self, first: usize, (a, b): (&Csr, &Csr)) {
        self.first = first;
        self.met.clear();
        self.sums.clear();
        let rows: [&[f64]; H] = std::array::from_fn(|row| a.row_values(first + row));
        for (at, (middle, _)) in a.row_blocks(first, M).enumerate() {
            let factors: [&[f64; M]; H] = rows.map(|row| &row.as_chunks().0[at]);
            let middle = middle as usize * M;
            let from: [&[[f64; W]]; M] =
                std::array::from_fn(|k| b.row_values(middle + k).as_chunks().0);
            for (place, (column, _)) in b.row_blocks(middle, W).enumerate() {
                let sums = self.block(column);
                for (sums, factors) in sums.iter_mut().zip(factors) {
                    for (&factor, from) in factors.iter().zip(from) {
                        let from = &from[place];
                        for c in 0..W {
                            sums[c] += factor * from[c];
                        }
                    }
                }
            }
        }
        self.met.sort_unstable();
    }

    /// The block in a column.
    fn block(&mut self, column: u32) -> &mut [[f64; W]; H] {
        let (first, place) = &mut self.places[column as usize];
        if *first != self.first {
            (*first, *place) = (self.first, self.sums.len() as u32);
            self.met.push((column, *place));
            self.sums.push([[0.0; W]; H]);
        }
        &mut self.sums[*place as usize]
    }

    /// Appends the entries of one of the rows, columns ascending.
    fn write_row(&self, row: usize, entries: &mut Entries<f64>) {
        for &(column, place) in &self.met {
            let first = column * W as u32;
            entries.places.extend(first..first + W as u32);
            entries.values.extend(&self.sums[place as usize][row]);
        }
    }
}
