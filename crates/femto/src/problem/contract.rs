//! 1-D contractions of many tensors at once.
//!
//! Arrays of nodes have the element as their *fastest* index, `[k][j][i][element]`, those of points as
//! their slowest, `[element][k][j][i]`. Contracting the slowest index and appending the result as the
//! fastest turns one into the other in three steps.

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

/// Values at the nodes, `[k][j][i][element]`, to values at the points, `[element][k][j][i]`, by one
/// matrix `[points_1d][nodes_1d]` per axis, the slowest first.
pub(super) fn to_points(matrices: &[&[f64]], nodes_1d: usize, nodes: &[f64]) -> Vec<f64> {
    let (mut values, mut next) = (nodes.to_vec(), Vec::new());
    for matrix in matrices {
        contract(matrix, nodes_1d, &values, &mut next);
        std::mem::swap(&mut values, &mut next);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::tables::TensorTables;

    /// B of a polynomial is the polynomial at the points.
    #[test]
    fn polynomials_are_interpolated() {
        let basis = TensorTables::gauss(femto_element::Cell::Hexahedron, 3, 5).unwrap();
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
        let found = to_points(&[&basis.interp_1d[..]; 3], basis.nodes_1d, &u);
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-13);
    }
}
