//! The Lagrange basis on given nodes: its values and derivatives at given points.
//!
//! By barycentric weights: J.-P. Berrut and L. N. Trefethen, "Barycentric Lagrange interpolation",
//! SIAM Review 46 (2004). Nodes must be distinct; points may coincide with nodes.

use super::Matrix;

/// Barycentric weights `w_j = 1 / Π_{k≠j} (x_j - x_k)`, `[nodes]` (ibid., eq. 3.2), scaled by 2 per
/// factor, which cancels and keeps the product near 1 on `[-1, 1]`.
fn barycentric_weights(nodes: &[f64]) -> Vec<f64> {
    let product = |j: usize| -> f64 {
        (0..nodes.len())
            .filter(|&k| k != j)
            .map(|k| 2.0 * (nodes[j] - nodes[k]))
            .product()
    };
    (0..nodes.len()).map(|j| product(j).recip()).collect()
}

/// Points closer to a node are the node: quotients by smaller differences overflow.
const NEAR: f64 = 1e-290;

/// Values of the basis: entry `[p][j]` is ℓ_j(points\[p\]), shape `[points][nodes]`.
///
/// `ℓ_j(x) = (w_j / (x - x_j)) / Σ_k w_k / (x - x_k)` (ibid., eq. 4.2); exactly 0 or 1 if the point is a
/// node.
pub fn interpolation(nodes: &[f64], points: &[f64]) -> Matrix {
    let weights = barycentric_weights(nodes);
    let mut values = Matrix::zeros(points.len(), nodes.len());
    for (p, &x) in points.iter().enumerate() {
        if let Some(j) = nodes.iter().position(|&node| (node - x).abs() < NEAR) {
            values[(p, j)] = 1.0;
            continue;
        }
        let terms = || nodes.iter().zip(&weights).map(|(&node, &w)| w / (x - node));
        let sum: f64 = terms().sum();
        for (j, term) in terms().enumerate() {
            values[(p, j)] = term / sum;
        }
    }
    values
}

/// Derivatives of the basis: entry `[p][j]` is ℓ_j'(points\[p\]), shape `[points][nodes]`.
///
/// ℓ_j' is a polynomial on the same nodes, so its values at the nodes (`node_derivatives`),
/// interpolated to the points, are exact.
pub fn differentiation(nodes: &[f64], points: &[f64]) -> Matrix {
    interpolation(nodes, points).times(&node_derivatives(nodes))
}

/// `D[i][j] = ℓ_j'(x_i) = (w_j / w_i) / (x_i - x_j)`, the diagonal as minus the sum of the rest of
/// its row, so that constants have derivative zero (ibid., eq. 9.4 and 9.5).
fn node_derivatives(nodes: &[f64]) -> Matrix {
    let weights = barycentric_weights(nodes);
    let mut derivatives = Matrix::zeros(nodes.len(), nodes.len());
    for i in 0..nodes.len() {
        let mut sum = 0.0;
        for j in (0..nodes.len()).filter(|&j| j != i) {
            let entry = weights[j] / weights[i] / (nodes[i] - nodes[j]);
            derivatives[(i, j)] = entry;
            sum += entry;
        }
        derivatives[(i, i)] = -sum;
    }
    derivatives
}
