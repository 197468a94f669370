//! A small dense matrix.

use std::ops::{Index, IndexMut};

/// A dense matrix, row-major, `[rows][columns]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// The matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            data: vec![0.0; rows * columns],
        }
    }

    /// The identity matrix.
    pub fn identity(size: usize) -> Self {
        let mut identity = Self::zeros(size, size);
        for i in 0..size {
            identity[(i, i)] = 1.0;
        }
        identity
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`, `[columns]`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// The entries, `[rows][columns]`.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }

    /// The product of `self` (`[rows][inner]`) and `right` (`[inner][columns]`).
    pub fn times(&self, right: &Self) -> Self {
        debug_assert_eq!(self.columns, right.rows);
        let mut product = Self::zeros(self.rows, right.columns);
        for i in 0..self.rows {
            for m in 0..self.columns {
                for j in 0..right.columns {
                    product[(i, j)] += self[(i, m)] * right[(m, j)];
                }
            }
        }
        product
    }

    /// The inverse of an invertible matrix, by Gauss–Jordan elimination with pivoting.
    pub fn inverse(mut self) -> Self {
        debug_assert_eq!(self.rows, self.columns);
        let n = self.rows;
        let mut inverse = Self::identity(n);
        for column in 0..n {
            let better = |best: usize, i: usize| {
                let larger = self[(i, column)].abs() > self[(best, column)].abs();
                if larger { i } else { best }
            };
            let pivot = (column + 1..n).fold(column, better);
            for matrix in [&mut self, &mut inverse] {
                for j in 0..n {
                    matrix.data.swap(column * n + j, pivot * n + j);
                }
            }
            let scale = 1.0 / self[(column, column)];
            for j in 0..n {
                self[(column, j)] *= scale;
                inverse[(column, j)] *= scale;
            }
            for i in (0..n).filter(|&i| i != column) {
                let factor = self[(i, column)];
                for j in 0..n {
                    self[(i, j)] -= factor * self[(column, j)];
                    inverse[(i, j)] -= factor * inverse[(column, j)];
                }
            }
        }
        inverse
    }

    /// Replaces A by (A + s R A R)/2, where R reverses an index, so that
    /// `A[i][j] == s A[rows-1-i][columns-1-j]` exactly; `s` is 1 or -1.
    pub(crate) fn symmetrise(&mut self, s: f64) {
        let last = self.data.len().saturating_sub(1);
        for index in 0..self.data.len().div_ceil(2) {
            let mean = 0.5 * (self.data[index] + s * self.data[last - index]);
            self.data[index] = mean;
            self.data[last - index] = s * mean;
        }
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}
