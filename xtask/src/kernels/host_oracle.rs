//! The operators of the ladders, evaluated plainly on the host from the same arrays as the kernels.

use femto_kernel::family::hex_published::ladder::Benchmark;
use femto_kernel::family::hex_published::schedule::Sizes;

/// The input of an operator, in double precision. The matrices need not be those of polynomials: the
/// kernels rely on `interp[i][j] = interp[g-1-i][q-1-j]` and `grad[i][j] = -grad[g-1-i][g-1-j]` only.
pub(super) struct Problem {
    pub(super) benchmark: Benchmark,
    pub(super) sizes: Sizes,
    pub(super) elements: usize,
    pub(super) lambda: f64,
    /// `[points_1d][nodes_1d]`
    pub(super) interp: Vec<f64>,
    /// `[points_1d][points_1d]`
    pub(super) grad: Vec<f64>,
    /// `[element][factor][k][j][i]`
    pub(super) factors: Vec<f64>,
    /// `[element][k][j][i]`
    pub(super) u: Vec<f64>,
}

/// A 1-D matrix `[rows][columns]`.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    entries: &'a [f64],
    columns: usize,
    transposed: bool,
}

impl Matrix<'_> {
    fn entry(&self, row: usize, column: usize) -> f64 {
        let (row, column) = if self.transposed {
            (column, row)
        } else {
            (row, column)
        };
        self.entries[row * self.columns + column]
    }

    /// Rows and columns as applied.
    fn shape(&self) -> (usize, usize) {
        let shape = (self.entries.len() / self.columns, self.columns);
        if self.transposed {
            (shape.1, shape.0)
        } else {
            shape
        }
    }
}

/// A cube of values `[k][j][i]`, contracted along axis 0 (i), 1 (j) or 2 (k) with a matrix.
fn contract(matrix: Matrix, axis: usize, shape: &mut [usize; 3], values: &[f64]) -> Vec<f64> {
    let (rows, columns) = matrix.shape();
    assert_eq!(shape[axis], columns, "the matrix does not fit");
    let stride: usize = shape[..axis].iter().product();
    let mut out_shape = *shape;
    out_shape[axis] = rows;
    let mut out = Vec::with_capacity(out_shape.iter().product());
    for outer in 0..shape[axis + 1..].iter().product() {
        for row in 0..rows {
            for inner in 0..stride {
                let value = |m| values[(outer * columns + m) * stride + inner];
                out.push((0..columns).map(|m| matrix.entry(row, m) * value(m)).sum());
            }
        }
    }
    *shape = out_shape;
    out
}

impl Problem {
    /// v = A u, `[element][k][j][i]`.
    pub(super) fn apply(&self) -> Vec<f64> {
        let elements = 0..self.elements;
        elements.flat_map(|element| self.element(element)).collect()
    }

    fn element(&self, element: usize) -> Vec<f64> {
        let (nodes, points) = (self.sizes.nodes() as usize, self.sizes.points() as usize);
        let (q, g) = (self.sizes.nodes_1d as usize, self.sizes.points_1d as usize);
        let count = self.benchmark.factors() as usize;
        let factors = &self.factors[element * count * points..][..count * points];
        let factor = |f: usize, point: usize| factors[f * points + point];
        let matrix = |entries, columns, transposed| Matrix {
            entries,
            columns,
            transposed,
        };
        let interpolates = self.benchmark != Benchmark::Bk5;

        let mut shape = [q; 3];
        let mut values = self.u[element * nodes..][..nodes].to_vec();
        for axis in (0..3).filter(|_| interpolates) {
            values = contract(matrix(&self.interp, q, false), axis, &mut shape, &values);
        }
        let tested = if self.benchmark == Benchmark::Bk1 {
            (0..points).map(|p| factor(0, p) * values[p]).collect()
        } else {
            let mut tested: Vec<f64> = (0..points)
                .map(|p| self.lambda * factor(6, p) * values[p])
                .collect();
            let gradient = [0, 1, 2]
                .map(|axis| contract(matrix(&self.grad, g, false), axis, &mut shape, &values));
            // Where the symmetric tensor's entries are among the factors.
            for (axis, row) in [[0, 1, 2], [1, 3, 4], [2, 4, 5]].into_iter().enumerate() {
                let flux: Vec<f64> = (0..points)
                    .map(|p| (0..3).map(|d| factor(row[d], p) * gradient[d][p]).sum())
                    .collect();
                let part = contract(matrix(&self.grad, g, true), axis, &mut shape, &flux);
                tested
                    .iter_mut()
                    .zip(part)
                    .for_each(|(sum, part)| *sum += part);
            }
            tested
        };
        (0..3)
            .filter(|_| interpolates)
            .fold(tested, |values, axis| {
                contract(matrix(&self.interp, q, true), axis, &mut shape, &values)
            })
    }
}
