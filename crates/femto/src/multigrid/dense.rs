//! The inverse of a small symmetric positive definite matrix.

use super::MultigridError;
use crate::vector::Csr;

/// A⁻¹ by Cholesky's factorisation A = L Lᵀ, as a matrix with all entries, exactly symmetric.
pub(super) fn inverse(matrix: &Csr) -> Result<Csr, MultigridError> {
    let n = matrix.rows();
    let mut lower = vec![0.0; n * n];
    for i in 0..n {
        for (j, value) in matrix.row(i) {
            lower[i * n + j as usize] = value;
        }
    }
    for j in 0..n {
        let (before, rest) = lower.split_at_mut((j + 1) * n);
        let row = &mut before[j * n..];
        let square: f64 = row[..j].iter().map(|x| x * x).sum();
        let curvature = row[j] - square;
        if !(curvature > f64::EPSILON * row[j].abs() && curvature.is_finite()) {
            return Err(MultigridError::NotPositiveDefinite { curvature });
        }
        row[j] = curvature.sqrt();
        for other in rest.chunks_exact_mut(n) {
            let product: f64 = other[..j].iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
            other[j] = (other[j] - product) / row[j];
        }
    }
    // Column by column of the inverse: L y = e, Lᵀ x = y.
    let mut inverse = vec![0.0; n * n];
    let mut x = vec![0.0; n];
    for column in 0..n {
        for i in column..n {
            let known = (column..i).map(|k| lower[i * n + k] * x[k]).sum::<f64>();
            let unit = if i == column { 1.0 } else { 0.0 };
            x[i] = (unit - known) / lower[i * n + i];
        }
        for i in (column..n).rev() {
            let known = (i + 1..n).map(|k| lower[k * n + i] * x[k]).sum::<f64>();
            x[i] = (x[i] - known) / lower[i * n + i];
            (inverse[i * n + column], inverse[column * n + i]) = (x[i], x[i]);
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
            for (i, j, value) in (0..n).flat_map(|i| {
                let product = a.times(&found);
                product
                    .row(i)
                    .map(move |(j, v)| (i, j as usize, v))
                    .collect::<Vec<_>>()
            }) {
                assert!(
                    (value - f64::from(i == j)).abs() < 1e-11,
                    "{n} {i} {j} {value}"
                );
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
