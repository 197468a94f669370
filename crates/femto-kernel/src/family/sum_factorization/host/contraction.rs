//! One-dimensional contractions by even-odd decomposition.
//!
//! The 1-D matrices of symmetric nodes and points are centro-symmetric, `M[i][j] = ±M[g−1−i][q−1−j]` (+
//! interpolation, − differentiation). With e = x_j + x_{q−1−j} and o = x_j − x_{q−1−j} the product needs
//! half the multiplications (Solomonoff 1992; Świrydowicz et al. 2019 uses the same symmetry in BK1 step
//! 8).

use crate::scalar::{Lanes, Real};

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

/// `M x` for a pencil of `NI` values; `ODD` for a centro-antisymmetric matrix.
#[inline(always)]
pub(crate) fn contract<L: Lanes, const NI: usize, const NO: usize, const ODD: bool>(
    token: L::Token,
    (even, odd): (&[L::Real], &[L::Real]),
    x: [L; NI],
) -> [L; NO] {
    let (half, sums) = (NI / 2, NI.div_ceil(2));
    let zero = L::splat(token, L::Real::default());
    // Sums first, then differences: e[m], then o[m] at the mirrored position.
    let mut folded = x;
    for m in 0..half {
        folded[m] = x[m] + x[NI - 1 - m];
        folded[NI - 1 - m] = x[m] - x[NI - 1 - m];
    }
    let mut y = [zero; NO];
    for j in 0..NO.div_ceil(2) {
        let middle = 2 * j + 1 == NO;
        let (mut a, mut b) = (zero, zero);
        // The middle row of a symmetric matrix has no odd part, that of an antisymmetric one no even part.
        if !(middle && ODD) {
            for m in 0..sums {
                a = folded[m].mul_add(L::splat(token, even[j * sums + m]), a);
            }
        }
        if !middle || ODD {
            for m in 0..half {
                b = folded[NI - 1 - m].mul_add(L::splat(token, odd[j * half + m]), b);
            }
        }
        y[j] = a + b;
        if !middle {
            y[NO - 1 - j] = if ODD { b - a } else { a - b };
        }
    }
    y
}
