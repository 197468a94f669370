//! Nodes of the degree-N Lagrange bases.

use crate::quadrature::gauss_lobatto;

/// The Gauss–Lobatto–Legendre nodes of this degree on `[-1, 1]`, `[degree + 1]`, ascending and
/// symmetric to the bit. Degree 0 has the midpoint as its only node.
pub fn gll(degree: usize) -> Vec<f64> {
    gauss_lobatto(degree + 1).map_or_else(|_| vec![0.0], |rule| rule.points)
}
