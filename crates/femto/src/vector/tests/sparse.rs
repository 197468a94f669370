//! Products with sparse matrices, compared with plain loops.

use super::bench::Bench;
use crate::Number;
use crate::vector::{Csr, SparseMatrix, VectorOps};
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::{BLOCKS, MOST_COMPONENTS};

impl<T: Number, D: VectorOps<T>> Bench<'_, T, D> {
    /// Rows of different lengths, which are sorted, and all of one.
    pub(super) fn sparse_products(&self) {
        for is_even in [false, true] {
            self.sparse_products_of(is_even);
            for block in BLOCKS.into_iter().chain([[4, 4]]) {
                self.sparse_products_by_blocks(block, is_even);
            }
            for components in 2..=MOST_COMPONENTS {
                for is_interleaved in [true, false] {
                    self.sparse_products_of_components((components, is_interleaved), is_even);
                }
            }
        }
    }

    /// Fails unless the rows of a matrix are by length if they differ, and there are enough.
    fn check_order(&self, matrix: &SparseMatrix<T, D>, is_even: bool) {
        if matrix.rows() > 1000 {
            assert_eq!(matrix.order.is_none(), is_even);
        }
    }

    /// Rows of 0 to 4 entries, or all of 3, with values and of ones.
    fn sparse_products_of(&self, is_even: bool) {
        let ([x, y, z, _], len) = (self.inputs(), self.inputs[0].len());
        let a = |column: usize| 0.25 * z(column);
        let count = |row: usize| if is_even { 3.min(len) } else { row % 5 };
        let columns = |row: usize| (0..count(row)).map(move |k| (7 * row + k) % len);
        let matrix = Csr::by_rows((len, len), |row, entries| {
            entries.extend(columns(row).map(|column| (column as u32, a(column))));
            entries.sort_by_key(|entry| entry.0);
        });
        let positions = Csr::by_rows((len, len), |row, entries| {
            entries.extend(matrix.row_columns(row).iter().map(|&column| (column, ())));
        });
        let valued = SparseMatrix::<T, D>::new(self.device, &matrix).unwrap();
        let ones = SparseMatrix::<T, D>::of_ones(self.device, &positions).unwrap();
        let factors: [&dyn Fn(usize) -> f64; 2] = [&a, &|_| 1.0];
        for (matrix, factor) in [valued, ones].iter().zip(factors) {
            self.check_order(matrix, is_even);
            let product =
                |row: usize| -> f64 { columns(row).map(|column| factor(column) * x(column)).sum() };
            let (g_x, mut g_y) = (self.upload(&self.inputs[0]), self.poison());
            self.device
                .multiply_sparse(matrix, &g_x, false, &mut g_y)
                .unwrap();
            self.check("multiply_sparse", &g_y, product);
            let mut g_y = self.upload(&self.inputs[1]);
            self.device
                .multiply_sparse(matrix, &g_x, true, &mut g_y)
                .unwrap();
            self.check("multiply_sparse, added", &g_y, |row| y(row) + product(row));
        }
    }

    /// Rows of 0 to 3 blocks, or all of 3.
    fn sparse_products_by_blocks(&self, block: [usize; 2], is_even: bool) {
        let ([x, y, z, _], [height, width]) = (self.inputs(), block);
        let [rows, columns] = block.map(|it| self.inputs[0].len() / it);
        if rows * columns == 0 {
            return;
        }
        let a = |row: usize, column: usize| 0.05 * (z(column) - 0.5 * z(row));
        let matrix = Csr::by_rows((rows * height, columns * width), |row, entries| {
            let node = row / height;
            let count = if is_even { 3 } else { node % 4 };
            let mut near: Vec<usize> = (0..count).map(|k| (5 * node + k) % columns).collect();
            near.sort_unstable();
            near.dedup();
            let of_block = |block: usize| block * width..(block + 1) * width;
            let columns = near.into_iter().flat_map(of_block);
            entries.extend(columns.map(|column| (column as u32, a(row, column))));
        });
        let of_blocks = SparseMatrix::<T, D>::by_blocks(self.device, &matrix, block).unwrap();
        let slicing = SparseMatrix::<T, D>::slicing(self.device, &matrix, block);
        self.check_order(&of_blocks, is_even);
        // Buffers are not empty.
        assert!(matrix.entries() == 0 || of_blocks.bytes() as u64 == slicing.bytes::<T>());
        let g_x = self.upload(&self.inputs[0][..columns * width]);
        let mut g_y = self.upload(&self.inputs[1][..rows * height]);
        for (add, factor) in [(true, 1.0), (false, 0.0)] {
            self.device
                .multiply_sparse(&of_blocks, &g_x, add, &mut g_y)
                .unwrap();
            self.check(&format!("multiply_sparse by {block:?}"), &g_y, |row| {
                let terms = matrix.row(row).map(|(column, a)| a * x(column as usize));
                factor * y(row) + terms.sum::<f64>()
            });
        }
    }

    /// One matrix for all components, its rows of 0 to 4 entries, or of one.
    fn sparse_products_of_components(
        &self,
        (components, is_interleaved): (usize, bool),
        is_even: bool,
    ) {
        let ([x, y, z, _], nodes) = (self.inputs(), self.inputs[0].len() / components);
        if nodes == 0 {
            return;
        }
        let (node, component) = if is_interleaved {
            (components, 1)
        } else {
            (1, nodes)
        };
        let count = |row: usize| if is_even { 1 } else { row % 5 };
        let columns = |row: usize| (0..count(row)).map(move |k| (7 * row + k) % nodes);
        let matrix = Csr::by_rows((nodes, nodes), |row, entries| {
            entries.extend(columns(row).map(|column| (column as u32, 0.25 * z(column))));
            entries.sort_by_key(|entry| entry.0);
        });
        let strides = Strides {
            components,
            node,
            component,
        };
        let matrix = SparseMatrix::<T, D>::new(self.device, &matrix);
        let matrix = matrix.unwrap().of_components(strides);
        self.check_order(&matrix, is_even);
        let product = |i: usize| -> f64 {
            let (row, offset) = (i / node % nodes, i - i / node % nodes * node);
            let term = |column: usize| 0.25 * z(column) * x(column * node + offset);
            columns(row).map(term).sum()
        };
        let [g_x, mut g_y] = [0, 1].map(|i| self.upload(&self.inputs[i][..nodes * components]));
        for (add, factor) in [(true, 1.0), (false, 0.0)] {
            self.device
                .multiply_sparse(&matrix, &g_x, add, &mut g_y)
                .unwrap();
            let name = format!("multiply_sparse of {components} components");
            self.check(&name, &g_y, |i| factor * y(i) + product(i));
        }
    }
}
