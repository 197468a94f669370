//! Eigenvectors of small symmetric matrices.

/// Rounds of rotations: each at least squares what is left beside the diagonal, so that a few are enough.
const ROUNDS: usize = 20;

/// Eigenvalues and orthonormal eigenvectors of a symmetric matrix, `[row][column]`, by Jacobi's rotations
/// (Golub and Van Loan, Matrix Computations, section 8.5).
pub(crate) fn eigenvectors(mut matrix: Vec<f64>, size: usize) -> Vec<(f64, Vec<f64>)> {
    // `[eigenvector][entry]`.
    let mut vectors: Vec<f64> = (0..size * size)
        .map(|at| f64::from(at / size == at % size))
        .collect();
    let places = (0..size).flat_map(|p| (p + 1..size).map(move |q| (p, q)));
    for (p, q) in (0..ROUNDS).flat_map(|_| places.clone()) {
        let beside = matrix[p * size + q];
        if beside == 0.0 {
            continue;
        }
        let difference = matrix[q * size + q] - matrix[p * size + p];
        let (sine, cosine) = (0.5 * (2.0 * beside).atan2(difference)).sin_cos();
        let rotate = |numbers: &mut [f64], a: usize, b: usize| {
            let (first, second) = (numbers[a], numbers[b]);
            numbers[a] = cosine * first - sine * second;
            numbers[b] = sine * first + cosine * second;
        };
        for k in 0..size {
            rotate(&mut matrix, k * size + p, k * size + q);
        }
        for k in 0..size {
            rotate(&mut matrix, p * size + k, q * size + k);
            rotate(&mut vectors, p * size + k, q * size + k);
        }
    }
    let vectors = vectors.chunks_exact(size.max(1)).enumerate();
    vectors
        .map(|(i, vector)| (matrix[i * size + i], vector.to_vec()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_are_orthonormal_and_belong_to_their_values() {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for size in 1..=6 {
            let entry = |i: usize, j: usize| ((7 * i * j + i + j) % 11) as f64 - 3.0;
            let matrix: Vec<f64> = (0..size * size)
                .map(|at| entry(at / size, at % size))
                .collect();
            let found = eigenvectors(matrix.clone(), size);
            for (i, (value, vector)) in found.iter().enumerate() {
                for (row, &own) in matrix.chunks_exact(size).zip(vector) {
                    assert!((dot(row, vector) - value * own).abs() < 1e-12);
                }
                for (j, (_, other)) in found.iter().enumerate() {
                    assert!((dot(vector, other) - f64::from(i == j)).abs() < 1e-12);
                }
            }
        }
    }
}
