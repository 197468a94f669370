//! 1-D contractions of many tensors at once.
//!
//! Arrays of nodes have the element as their *fastest* index, `[k][j][i][element]`, those of points
//! as their slowest, `[element][k][j][i]`. Contracting the slowest index and putting the result last
//! turns one into the other in three steps; the transposed steps lead back.

use femto_fem::reference::tensor_product::Basis1d;

/// `out[l][p] = Σ_n matrix[p][n] input[n][l]`, `matrix` `[points][nodes]`.
fn contract(matrix: &[f64], nodes: usize, input: &[f64], out: &mut Vec<f64>) {
    let (points, lines) = (matrix.len() / nodes, input.len() / nodes);
    out.clear();
    out.resize(lines * points, 0.0);
    for (n, input) in input.chunks_exact(lines.max(1)).enumerate() {
        for (&value, out) in input.iter().zip(out.chunks_exact_mut(points)) {
            for (p, out) in out.iter_mut().enumerate() {
                *out += matrix[p * nodes + n] * value;
            }
        }
    }
}

/// The transpose of [`contract`]: `out[n][l] = Σ_p matrix[p][n] input[l][p]`.
fn contract_transposed(matrix: &[f64], nodes: usize, input: &[f64], out: &mut Vec<f64>) {
    let points = matrix.len() / nodes;
    out.clear();
    for n in 0..nodes {
        let column = || matrix[n..].iter().step_by(nodes);
        let dot = |line: &[f64]| line.iter().zip(column()).map(|(x, m)| x * m).sum::<f64>();
        out.extend(input.chunks_exact(points).map(dot));
    }
}

/// Values at the nodes, `[k][j][i][element]`, to values at the points, `[element][k][j][i]`, by one
/// matrix `[points_1d][nodes_1d]` per axis ζ, η, ξ.
pub(super) fn to_points(matrices: [&[f64]; 3], nodes_1d: usize, nodes: &[f64]) -> Vec<f64> {
    let (mut values, mut next) = (nodes.to_vec(), Vec::new());
    for matrix in matrices {
        contract(matrix, nodes_1d, &values, &mut next);
        std::mem::swap(&mut values, &mut next);
    }
    values
}

/// The transpose of interpolating to points along every axis of `AXES`-dimensional cells: values
/// `[cell][..][i]` to `[..][i][cell]`.
pub(super) fn from_points<const AXES: usize>(basis: &Basis1d, mut values: Vec<f64>) -> Vec<f64> {
    let mut next = Vec::new();
    for _ in 0..AXES {
        contract_transposed(&basis.interp_1d, basis.nodes_1d, &values, &mut next);
        std::mem::swap(&mut values, &mut next);
    }
    values
}

/// Products of the weights of one rule along `axes` axes, the last axis fastest.
pub(super) fn tensor_weights(weights: &[f64], axes: usize) -> Vec<f64> {
    (0..axes).fold(vec![1.0], |products, _| {
        let times = |&product: &f64| weights.iter().map(move |weight| product * weight);
        products.iter().flat_map(times).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⟨B u, q⟩ = ⟨u, Bᵀ q⟩, and B of a polynomial is the polynomial at the points.
    #[test]
    fn interpolation_and_its_transpose() {
        let basis = Basis1d::gauss(3, 5).unwrap();
        let elements = 2;
        let polynomial =
            |e: usize, x: [f64; 3]| (e as f64 + x[0]) * x[1].powi(3) - x[2].powi(2) + 2.0 * x[0];
        let (mut u, mut expected) = (Vec::new(), Vec::new());
        for &z in &basis.nodes {
            for &y in &basis.nodes {
                for &x in &basis.nodes {
                    u.extend((0..elements).map(|e| polynomial(e, [x, y, z])));
                }
            }
        }
        for e in 0..elements {
            for &z in &basis.points {
                for &y in &basis.points {
                    expected.extend(basis.points.iter().map(|&x| polynomial(e, [x, y, z])));
                }
            }
        }
        let found = to_points([&basis.interp_1d; 3], basis.nodes_1d, &u);
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-13);

        let q: Vec<f64> = (0..found.len()).map(|i| (i as f64).sin()).collect();
        let back = from_points::<3>(&basis, q.clone());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((dot(&found, &q) - dot(&u, &back)).abs() < 1e-12);
    }

    #[test]
    fn weights_of_a_square() {
        assert_eq!(tensor_weights(&[1.0, 3.0], 2), [1.0, 3.0, 3.0, 9.0]);
    }
}
