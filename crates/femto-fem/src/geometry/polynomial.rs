//! The map of a cell as a polynomial in monomials.
//!
//! `x(ξ, η, ζ) = Σ c[k][j][i] ξ^i η^j ζ^k` with i, j, k < M: M = 2 for trilinear cells, M = 3 for quadratic
//! ones. Monomials of such low degree on `[-1, 1]` are as accurate as a Lagrange basis, and show at once
//! whether a cell is affine or trilinear.

#![expect(
    clippy::needless_range_loop,
    reason = "loops over i, j, k read like the formulas"
)]

use super::jacobian::{Matrix3, dot};
use femto_element::MapKind;

/// Coefficients of one cell's map, or its nodes, `[k][j][i][component]`.
pub(super) type Tensor<const M: usize> = [[[[f64; 3]; M]; M]; M];

#[inline(always)]
fn combine(a: [f64; 3], s: f64, b: [f64; 3]) -> [f64; 3] {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

fn scaled(s: f64, a: [f64; 3]) -> [f64; 3] {
    a.map(|x| s * x)
}

/// Monomial coefficients of the polynomial through values at -1, +1 (M = 2) or -1, 0, +1 (M = 3).
fn line_monomials<const M: usize>(line: [[f64; 3]; M]) -> [[f64; 3]; M] {
    let (low, high) = (line[0], line[M - 1]);
    let mean = scaled(0.5, combine(low, 1.0, high));
    let slope = scaled(0.5, combine(high, -1.0, low));
    let mut monomials = line;
    monomials[1] = slope;
    if M == 3 {
        monomials[0] = line[1];
        monomials[2] = combine(mean, -1.0, line[1]);
    } else {
        monomials[0] = mean;
    }
    monomials
}

/// Monomial coefficients of the map through the given nodes, `[k][j][i]` at -1, +1 or -1, 0, +1.
pub(super) fn monomials<const M: usize>(mut nodes: Tensor<M>) -> Tensor<M> {
    for a in 0..M {
        for b in 0..M {
            nodes[a][b] = line_monomials(nodes[a][b]);
        }
    }
    for a in 0..M {
        for b in 0..M {
            let line = line_monomials::<M>(std::array::from_fn(|m| nodes[a][m][b]));
            (0..M).for_each(|m| nodes[a][m][b] = line[m]);
        }
    }
    for a in 0..M {
        for b in 0..M {
            let line = line_monomials::<M>(std::array::from_fn(|m| nodes[m][a][b]));
            (0..M).for_each(|m| nodes[m][a][b] = line[m]);
        }
    }
    nodes
}

/// Makes a trilinear map affine.
pub(super) fn drop_products(c: &mut Tensor<2>) {
    for m in [3, 5, 6, 7] {
        c[m >> 2][m >> 1 & 1][m & 1] = [0.0; 3];
    }
}

/// Completes the 20 nodes of a hex20 to those of the hex27 with the same map, or the 8 nodes of a quad8 in the lowest
/// layer to 9.
///
/// The serendipity polynomials of order 2 (J. Ergatoudis, B. M. Irons and O. C. Zienkiewicz, "Curved, isoparametric,
/// 'quadrilateral' elements for finite element analysis", Int. J. Solids Structures 4, 1968) are triquadratic, so it
/// suffices to evaluate them at the 7 missing nodes. At the centre of a face they are -1/4 for its 4 vertices
/// and 1/2 for its 4 edge nodes; at the centre of the cell -1/4 for the 8 vertices and 1/4 for the
/// 12 edge nodes.
pub(super) fn lift_serendipity(nodes: &mut Tensor<3>) {
    let known = *nodes;
    // Number of middle indices: 0 vertex, 1 edge, 2 face, 3 centre.
    let rank = |ijk: [usize; 3]| ijk.iter().filter(|&&index| index == 1).count();
    let all = || (0..27).map(|m| [m % 3, m / 3 % 3, m / 9]);
    for target in all().filter(|&target| rank(target) >= 2) {
        let on_same_face =
            |node: &[usize; 3]| (0..3).all(|a| target[a] == 1 || node[a] == target[a]);
        let edge_weight = if rank(target) == 2 { 0.5 } else { 0.25 };
        let mut lifted = [0.0; 3];
        for node in all().filter(on_same_face) {
            let weight = match rank(node) {
                0 => -0.25,
                1 => edge_weight,
                _ => continue,
            };
            lifted = combine(lifted, weight, known[node[2]][node[1]][node[0]]);
        }
        nodes[target[2]][target[1]][target[0]] = lifted;
    }
}

/// The kind of a map: coefficients below the tolerance count as zero, NaN never does.
///
/// The tolerance is 1e-12 of the cell's smallest extent along the first `dim` axes, and never below the
/// rounding of its coordinates.
pub(super) fn kind<const M: usize>(c: &Tensor<M>, dim: usize) -> MapKind {
    let size = |v: [f64; 3]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let extents = [c[0][0][1], c[0][1][0], c[1][0][0]].map(size);
    let extent = extents[..dim].iter().fold(f64::INFINITY, |m, &x| m.min(x));
    let tolerance = 1e-12 * extent + 4.0 * f64::EPSILON * size(c[0][0][0]);
    let negligible = |v: [f64; 3]| v.iter().all(|x| x.abs() <= tolerance);
    let mut kind = MapKind::Affine;
    for k in 0..M {
        for j in 0..M {
            for i in 0..M {
                if i + j + k < 2 || negligible(c[k][j][i]) {
                    continue;
                }
                kind = kind.max(match i.max(j).max(k) {
                    2 => MapKind::Curved,
                    _ => MapKind::Multilinear,
                });
            }
        }
    }
    kind
}

/// The tangents at the centre of the cell, and for each a bound on its deviation anywhere in the cell: the
/// sum of the lengths of its other coefficients, as |ξ|, |η|, |ζ| ≤ 1.
pub(super) fn tangent_bounds<const M: usize>(c: &Tensor<M>) -> ([[f64; 3]; 3], [f64; 3]) {
    let mut deviation = [0.0; 3];
    for k in 0..M {
        for j in 0..M {
            for i in 0..M {
                if i + j + k >= 2 {
                    let length = dot(c[k][j][i], c[k][j][i]).sqrt();
                    deviation[0] += i as f64 * length;
                    deviation[1] += j as f64 * length;
                    deviation[2] += k as f64 * length;
                }
            }
        }
    }
    ([c[0][0][1], c[0][1][0], c[1][0][0]], deviation)
}

/// The Jacobian with these tangents as columns.
#[inline(always)]
fn transposed([r, s, t]: [[f64; 3]; 3]) -> Matrix3 {
    [[r[0], s[0], t[0]], [r[1], s[1], t[1]], [r[2], s[2], t[2]]]
}

/// Value and derivative at `s` of a polynomial with coefficients `c`.
#[inline(always)]
fn evaluate<const M: usize>(c: [[f64; 3]; M], s: f64) -> ([f64; 3], [f64; 3]) {
    // Horner's rule for both value and derivative.
    let (mut value, mut derivative) = (c[M - 1], [0.0; 3]);
    for m in (0..M - 1).rev() {
        derivative = combine(value, s, derivative);
        value = combine(c[m], s, value);
    }
    (value, derivative)
}

/// Visits the tensor grid of `points` (one list per axis ξ, η, ζ) in lexicographic order with position and
/// Jacobian: sum factorisation, one axis after the other.
#[inline(always)]
pub(super) fn at_tensor_points<const M: usize>(
    c: &Tensor<M>,
    points: [&[f64]; 3],
    mut visit: impl FnMut([f64; 3], Matrix3),
) {
    for &zeta in points[2] {
        // [j][i]: value and ζ-derivative.
        let mut plane = [[[0.0; 3]; M]; M];
        let mut plane_zeta = plane;
        for j in 0..M {
            for i in 0..M {
                let line = std::array::from_fn(|k| c[k][j][i]);
                (plane[j][i], plane_zeta[j][i]) = evaluate::<M>(line, zeta);
            }
        }
        for &eta in points[1] {
            // [i]: value, η-derivative, ζ-derivative.
            let mut line = [[0.0; 3]; M];
            let (mut line_eta, mut line_zeta) = (line, line);
            for i in 0..M {
                (line[i], line_eta[i]) = evaluate::<M>(std::array::from_fn(|j| plane[j][i]), eta);
                line_zeta[i] = evaluate::<M>(std::array::from_fn(|j| plane_zeta[j][i]), eta).0;
            }
            for &xi in points[0] {
                let (position, r) = evaluate(line, xi);
                let (s, t) = (evaluate(line_eta, xi).0, evaluate(line_zeta, xi).0);
                visit(position, transposed([r, s, t]));
            }
        }
    }
}
