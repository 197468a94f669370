//! The inverse of a small positive definite matrix.

use super::MultigridError;
use crate::vector::Csr;

/// Differences of entries that are rounding, relative to the diagonal.
const ROUNDING: f64 = 1e-4;

/// A⁻¹ as a matrix with all entries, by A = L U without pivoting: it exists, with positive pivots, if xᵀA x > 0 for all x
/// (Golub and Van Loan, Matrix Computations, section 4.1.4, on matrices that are not symmetric). Exactly symmetric if A
/// is, or differs by [`ROUNDING`] only.
pub(super) fn inverse(matrix: &Csr) -> Result<Csr, MultigridError> {
    let n = matrix.rows();
    let diagonal = matrix.diagonal();
    let transposed = matrix.transposed();
    let symmetric = (0..n).all(|row| {
        let is_near = |((j, a), (k, b)): ((u32, f64), (u32, f64))| {
            let scale = (diagonal[row] * diagonal[j as usize]).abs().sqrt();
            j == k && (a - b).abs() <= ROUNDING * scale
        };
        matrix.row(row).zip(transposed.row(row)).all(is_near)
    });
    // U, and L without its unit diagonal.
    let mut factors = vec![0.0; n * n];
    for i in 0..n {
        for (j, value) in matrix.row(i) {
            factors[i * n + j as usize] = value;
        }
    }
    for j in 0..n {
        let (before, rest) = factors.split_at_mut((j + 1) * n);
        let row = &before[j * n + j..];
        let curvature = row[0];
        if !(curvature > f64::EPSILON * diagonal[j].abs() && curvature.is_finite()) {
            return Err(MultigridError::NotPositiveDefinite { curvature });
        }
        for other in rest.chunks_exact_mut(n).map(|other| &mut other[j..]) {
            let factor = other[0] / curvature;
            let entries = other.iter_mut().zip(row).skip(1);
            entries.for_each(|(entry, above)| *entry -= factor * above);
            other[0] = factor;
        }
    }
    // Column by column of the inverse: L y = e, U x = y; from its diagonal on if it is symmetric.
    let mut inverse = vec![0.0; n * n];
    let mut x = vec![0.0; n];
    for column in 0..n {
        let first = if symmetric { column } else { 0 };
        let product = |row: usize, x: &[f64], from: usize, to: usize| -> f64 {
            let row = &factors[row * n..][from..to];
            row.iter().zip(&x[from..to]).map(|(a, x)| a * x).sum()
        };
        x.fill(0.0);
        x[column] = 1.0;
        for i in column + 1..n {
            x[i] = -product(i, &x, column, i);
        }
        for i in (first..n).rev() {
            x[i] = (x[i] - product(i, &x, i + 1, n)) / factors[i * n + i];
            inverse[i * n + column] = x[i];
            if symmetric {
                inverse[column * n + i] = x[i];
            }
        }
    }
    Ok(Csr::by_rows((n, n), |row, entries| {
        entries.extend((0..).zip(inverse[row * n..][..n].iter().copied()));
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_kernel::vector::random;

    #[test]
    fn the_product_with_the_matrix_is_the_identity() {
        for n in [1, 2, 17, 60] {
            let entry = |row: usize, column: usize| random::entry(3, (row * n + column) as u32);
            let b = Csr::by_rows((n, n), |row, entries| {
                entries.extend((0..n).map(|column| (column as u32, entry(row, column))));
            });
            let a = b.times(&b.transposed());
            // Not far from singular for some, so shifted.
            let a = Csr::by_rows((n, n), |i, entries| {
                entries.extend(a.row(i).map(|(j, v)| (j, v + f64::from(i == j as usize))));
            });
            let found = inverse(&a).unwrap();
            assert_eq!(found.transposed(), found);
            assert_identity(&a.times(&found));
            // With a skew part as large.
            let skew = Csr::by_rows((n, n), |i, entries| {
                let part = |j: u32| 2.0 * (entry(i, j as usize) - entry(j as usize, i));
                entries.extend(a.row(i).map(|(j, v)| (j, v + part(j))));
            });
            assert_identity(&skew.times(&inverse(&skew).unwrap()));
        }
    }

    fn assert_identity(product: &Csr) {
        for i in 0..product.rows() {
            for (j, value) in product.row(i) {
                let error = value - f64::from(i == j as usize);
                assert!(error.abs() < 1e-11, "{i} {j} {value}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let a = Csr::by_rows((2, 2), |row, entries| {
            entries.extend([[(0, 1.0), (1, 2.0)], [(0, 2.0), (1, 1.0)]][row]);
        });
        let error = inverse(&a).unwrap_err();
        assert_eq!(
            error,
            MultigridError::NotPositiveDefinite { curvature: -3.0 }
        );
    }
}
