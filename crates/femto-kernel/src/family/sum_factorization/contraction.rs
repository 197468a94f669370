//! One-dimensional matrices, split by even-odd decomposition.
//!
//! The 1-D matrices of symmetric nodes and points are centro-symmetric, `M[i][j] = ±M[g−1−i][q−1−j]` (+
//! interpolation, − differentiation). With e = x_j + x_{q−1−j} and o = x_j − x_{q−1−j} the product needs
//! half the multiplications (Solomonoff 1992; Świrydowicz et al. 2019 uses the same symmetry in BK1 step
//! 8).

use crate::scalar::Real;
use femto_element::tables::TensorTables;

/// A 1-D matrix `[outputs][inputs]`, also split for even-odd products.
#[derive(Clone, Debug)]
pub(crate) struct Contraction<T> {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// `[outputs][inputs]`.
    pub(crate) dense: Vec<T>,
    /// `[ceil(outputs / 2)][ceil(inputs / 2)]`, applied to sums.
    pub(crate) even: Vec<T>,
    /// `[ceil(outputs / 2)][floor(inputs / 2)]`, applied to differences.
    pub(crate) odd: Vec<T>,
}

impl<T: Real> Contraction<T> {
    /// From a matrix `[outputs][inputs]`.
    pub(crate) fn new(matrix: &[f64], outputs: usize, inputs: usize) -> Self {
        let entry = |i: usize, j: usize| matrix[i * inputs + j];
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for i in 0..outputs.div_ceil(2) {
            for j in 0..inputs / 2 {
                even.push(T::from_f64(0.5 * (entry(i, j) + entry(i, inputs - 1 - j))));
                odd.push(T::from_f64(0.5 * (entry(i, j) - entry(i, inputs - 1 - j))));
            }
            if inputs % 2 == 1 {
                even.push(T::from_f64(entry(i, inputs / 2)));
            }
        }
        let dense = matrix.iter().map(|&m| T::from_f64(m)).collect();
        Self {
            inputs,
            outputs,
            dense,
            even,
            odd,
        }
    }

    /// From the transpose of a matrix `[inputs][outputs]`.
    pub(crate) fn transposed(matrix: &[f64], outputs: usize, inputs: usize) -> Self {
        let transpose: Vec<f64> = (0..outputs * inputs)
            .map(|n| matrix[(n % inputs) * outputs + n / inputs])
            .collect();
        Self::new(&transpose, outputs, inputs)
    }
}

/// Entrywise products of the 1-D matrices `[points][nodes]`, for diagonals: values by values, values by derivatives,
/// derivatives by derivatives.
pub(crate) fn products(basis: &TensorTables) -> [Vec<f64>; 3] {
    let (interp, grad) = (&basis.interp_1d, &basis.grad_1d);
    [(interp, interp), (interp, grad), (grad, grad)]
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).collect())
}
