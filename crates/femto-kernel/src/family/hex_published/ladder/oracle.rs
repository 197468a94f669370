//! The oracle of the ladders' kernels: one element with given factors, in double precision.

use super::Benchmark;
use crate::family::hex_published::schedule::Sizes;

/// A 1-D matrix `[rows][columns]`, or its transpose.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    entries: &'a [f64],
    columns: usize,
    transposed: bool,
}

impl Matrix<'_> {
    /// Length of the output.
    fn rows(&self) -> usize {
        match self.transposed {
            true => self.columns,
            false => self.entries.len() / self.columns,
        }
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        let (row, column) = match self.transposed {
            true => (column, row),
            false => (row, column),
        };
        self.entries[row * self.columns + column]
    }
}

/// Numbers `[k][j][i]`; the shape is that of the axes i, j, k.
#[derive(Clone)]
struct Cube {
    shape: [usize; 3],
    values: Vec<f64>,
}

impl Cube {
    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.shape[1] + j) * self.shape[0] + i
    }

    /// The matrix applied along an axis.
    fn along(&self, axis: usize, matrix: Matrix<'_>) -> Self {
        let mut shape = self.shape;
        shape[axis] = matrix.rows();
        let entry = |n: usize| {
            let at = [
                n % shape[0],
                n / shape[0] % shape[1],
                n / (shape[0] * shape[1]),
            ];
            let term = |m: usize| {
                let mut from = at;
                from[axis] = m;
                matrix.entry(at[axis], m) * self.values[self.index(from)]
            };
            (0..self.shape[axis]).map(term).sum()
        };
        Self {
            shape,
            values: (0..shape.iter().product()).map(entry).collect(),
        }
    }

    fn along_all(self, matrix: Matrix<'_>) -> Self {
        (0..3).fold(self, |cube, axis| cube.along(axis, matrix))
    }
}

/// An operator on one element. Matrices need not be those of polynomials: kernels rely on
/// `interp[i][j] = interp[g-1-i][q-1-j]` and `grad[i][j] = -grad[g-1-i][g-1-j]` alone.
#[derive(Clone, Copy, Debug)]
pub struct Oracle<'a> {
    /// The operator.
    pub benchmark: Benchmark,
    /// Sizes of the element.
    pub sizes: Sizes,
    /// Interpolation, `[points_1d][nodes_1d]`; not read for BK5.
    pub interp: &'a [f64],
    /// Derivative at the points, `[points_1d][points_1d]`; not read for BK1.
    pub grad: &'a [f64],
    /// λ, which BK1 does not have.
    pub lambda: f64,
}

impl Oracle<'_> {
    /// v `[k][j][i]` of one element from its factors `[factor][k][j][i]` and u `[k][j][i]`.
    ///
    /// With I the interpolation and D_a the derivatives at the points (Świrydowicz et al. 2019, eqs. 7 and 9):
    /// `Iᵀ (λ m + Σ_ab D_aᵀ G_ab D_b) I u`, for BK1 `Iᵀ m I u`.
    pub fn element(&self, factors: &[f64], u: &[f64]) -> Vec<f64> {
        let nodes_1d = self.sizes.nodes_1d as usize;
        let points_1d = self.sizes.points_1d as usize;
        let interp = |cube: Cube, transposed| match self.benchmark {
            Benchmark::Bk5 => cube,
            Benchmark::Bk1 | Benchmark::Bk3 => cube.along_all(Matrix {
                entries: self.interp,
                columns: nodes_1d,
                transposed,
            }),
        };
        let grad = |transposed| Matrix {
            entries: self.grad,
            columns: points_1d,
            transposed,
        };
        let len = points_1d.pow(3);
        let factor = |index: usize, point: usize| factors[index * len + point];
        let nodal = Cube {
            shape: [nodes_1d; 3],
            values: u.to_vec(),
        };
        let mut points = interp(nodal, false);
        if self.benchmark == Benchmark::Bk1 {
            for (point, value) in points.values.iter_mut().enumerate() {
                *value *= factor(0, point);
            }
            return interp(points, true).values;
        }
        const G: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        let derivatives = [0, 1, 2].map(|axis| points.along(axis, grad(false)));
        for (point, value) in points.values.iter_mut().enumerate() {
            *value *= self.lambda * factor(6, point);
        }
        for (axis, row) in G.iter().enumerate() {
            let flux = |point: usize| {
                let terms = row.iter().zip(&derivatives);
                terms
                    .map(|(&index, derivative)| factor(index, point) * derivative.values[point])
                    .sum()
            };
            let flux = Cube {
                shape: [points_1d; 3],
                values: (0..len).map(flux).collect(),
            };
            let back = flux.along(axis, grad(true));
            for (value, more) in points.values.iter_mut().zip(back.values) {
                *value += more;
            }
        }
        interp(points, true).values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the reference cube the mass operator on ones is the mass of each node, and the stiffness
    /// operator of u = x tested with x is the volume.
    #[test]
    fn it_is_the_operator_on_the_reference_cube() {
        let basis = Benchmark::Bk1.tables(3).unwrap();
        let oracle = |benchmark| Oracle {
            benchmark,
            sizes: benchmark.sizes(3),
            interp: &basis.interp_1d,
            grad: &basis.colloc_grad_1d,
            lambda: 0.5,
        };
        let (q, g) = (basis.nodes_1d, basis.points_1d);
        let weight =
            |p: usize| basis.weights[p % g] * basis.weights[p / g % g] * basis.weights[p / (g * g)];
        let weights: Vec<f64> = (0..g.pow(3)).map(weight).collect();
        let mass = oracle(Benchmark::Bk1).element(&weights, &vec![1.0; q.pow(3)]);
        assert!((mass.iter().sum::<f64>() - 8.0).abs() < 1e-12);

        let mut factors = vec![0.0; 7 * g.pow(3)];
        for (index, scale) in [(0, 1.0), (3, 1.0), (5, 1.0), (6, 1.0)] {
            for (p, weight) in weights.iter().enumerate() {
                factors[index * g.pow(3) + p] = scale * weight;
            }
        }
        for axis in 0..3 {
            let x: Vec<f64> = (0..q.pow(3))
                .map(|n| basis.nodes[n / q.pow(axis) % q])
                .collect();
            let v = oracle(Benchmark::Bk3).element(&factors, &x);
            let energy: f64 = v.iter().zip(&x).map(|(v, x)| v * x).sum();
            // ∫ |∇x|² = 8, ∫ x² = 8/3.
            assert!((energy - (8.0 + 0.5 * 8.0 / 3.0)).abs() < 1e-12, "{energy}");
        }
    }
}
