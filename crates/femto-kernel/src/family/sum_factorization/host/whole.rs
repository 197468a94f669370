//! Hexahedra of degree 1 and forms λ u, κ ∇u with factors of affine or recomputed geometry: whole elements in registers,
//! without arrays between contractions.
//!
//! u is trilinear as the map is, and kept in the same way, as coefficients of monomials,
//!
//! ```text
//! u = Σ_m c_m ξ^a η^b ζ^c,   m = a + 2b + 4c
//! ```
//!
//! With ζ fixed, values and ∂u/∂ζ are bilinear, 4 + 4 numbers; with η fixed too, u, ∂u/∂η and ∂u/∂ζ are linear in ξ, 6
//! numbers, and ∂u/∂ξ is the slope of u. The transposes add up in the same order.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::factor_sources::{Factors, Source};
use super::stage::Rule;
use crate::family::sum_factorization::entries::NODES;
use crate::family::sum_factorization::work::TOGETHER;
use crate::scalar::Lanes;
use fearless_simd::Simd;

/// Applies the element operators to values at the nodes, `[component][node]`, in place; G points along an axis.
#[inline(always)]
pub(super) fn apply<L: Lanes, S: Source<L>, const G: usize>(
    token: L::Token,
    rule: &Rule<L::Real>,
    geometry: &[L::Real],
    nodal: &mut [L],
) {
    token.vectorize(
        #[inline(always)]
        || {
            let (components, _) = nodal.as_chunks_mut::<NODES>();
            let (triples, rest) = components.as_chunks_mut::<TOGETHER>();
            for triple in triples {
                together::<L, S, G, TOGETHER>(token, rule, geometry, triple);
            }
            let (pairs, rest) = rest.as_chunks_mut::<2>();
            for pair in pairs {
                together::<L, S, G, 2>(token, rule, geometry, pair);
            }
            for component in rest.as_chunks_mut::<1>().0 {
                together::<L, S, G, 1>(token, rule, geometry, component);
            }
        },
    );
}

/// Numbers of a component on a row of points, or their sums.
#[derive(Clone, Copy)]
struct Row<L> {
    /// u, ∂u/∂η and ∂u/∂ζ at ξ = 0, and their slopes.
    u: [L; 2],
    eta: [L; 2],
    zeta: [L; 2],
}

/// C components, for which the factors are found once.
#[inline(always)]
fn together<L: Lanes, S: Source<L>, const G: usize, const C: usize>(
    token: L::Token,
    rule: &Rule<L::Real>,
    geometry: &[L::Real],
    nodal: &mut [[L; NODES]; C],
) {
    let zero = L::splat(token, L::Real::default());
    let points = rule.points.first_chunk::<G>();
    let weights = rule.weights.first_chunk::<G>();
    let (points, weights) = points.zip(weights).expect("the caller counted them");
    let empty = Row {
        u: [zero; 2],
        eta: [zero; 2],
        zeta: [zero; 2],
    };
    let (mut c, mut sums) = ([[zero; NODES]; C], [[zero; NODES]; C]);
    for n in 0..C {
        c[n] = eighth(to_coefficients(nodal[n]));
    }
    for k in 0..G {
        let zeta = L::splat(token, points[k]);
        let at_layer = S::layer(token, geometry, zeta);
        let (mut u, mut to_u) = ([[zero; 4]; C], [[zero; 4]; C]);
        let mut to_slope = [[zero; 4]; C];
        for n in 0..C {
            for m in 0..4 {
                u[n][m] = c[n][m + 4].mul_add(zeta, c[n][m]);
            }
        }
        for j in 0..G {
            let eta = L::splat(token, points[j]);
            let at_row = S::row(&at_layer, (k * G + j) * G, eta);
            let row_weight = weights[j] * weights[k];
            let (mut rows, mut to_rows) = ([empty; C], [empty; C]);
            for n in 0..C {
                for a in 0..2 {
                    rows[n].u[a] = u[n][a + 2].mul_add(eta, u[n][a]);
                    rows[n].eta[a] = u[n][a + 2];
                    rows[n].zeta[a] = c[n][a + 6].mul_add(eta, c[n][a + 4]);
                }
            }
            for i in 0..G {
                let xi = L::splat(token, points[i]);
                let weight = L::splat(token, row_weight * weights[i]);
                let factors = S::at(&at_row, geometry, i, (xi, weight));
                let matrix = factors.matrix();
                for n in 0..C {
                    match C < TOGETHER {
                        true => point::<L, S, _>(&factors, xi, &rows[n], &mut to_rows[n]),
                        false => point::<L, S, _>(&matrix, xi, &rows[n], &mut to_rows[n]),
                    }
                }
            }
            for n in 0..C {
                let Row { u, eta: e, zeta: z } = to_rows[n];
                for a in 0..2 {
                    if S::GRADIENTS {
                        to_u[n][a + 2] += e[a];
                        to_slope[n][a] += z[a];
                        to_slope[n][a + 2] = z[a].mul_add(eta, to_slope[n][a + 2]);
                    }
                    if S::VALUES || a > 0 {
                        to_u[n][a] += u[a];
                        to_u[n][a + 2] = u[a].mul_add(eta, to_u[n][a + 2]);
                    }
                }
            }
        }
        for n in 0..C {
            for m in 0..4 {
                if S::GRADIENTS {
                    sums[n][m + 4] += to_slope[n][m];
                }
                if S::VALUES || m > 0 {
                    sums[n][m] += to_u[n][m];
                    sums[n][m + 4] = to_u[n][m].mul_add(zeta, sums[n][m + 4]);
                }
            }
        }
    }
    for n in 0..C {
        nodal[n] = eighth(from_coefficients(sums[n]));
    }
}

/// Adds a point's products to the sums of its row.
#[inline(always)]
fn point<L: Lanes, S: Source<L>, F: Factors<L>>(
    factors: &F,
    xi: L,
    row: &Row<L>,
    sums: &mut Row<L>,
) {
    if S::VALUES {
        let f = factors.of_value(row.u[1].mul_add(xi, row.u[0]));
        sums.u[0] += f;
        sums.u[1] = f.mul_add(xi, sums.u[1]);
    }
    if S::GRADIENTS {
        let (eta, zeta) = (row.eta, row.zeta);
        let g = [
            row.u[1],
            eta[1].mul_add(xi, eta[0]),
            zeta[1].mul_add(xi, zeta[0]),
        ];
        let f = factors.of_gradient(g);
        sums.u[1] += f[0];
        sums.eta[0] += f[1];
        sums.eta[1] = f[1].mul_add(xi, sums.eta[1]);
        sums.zeta[0] += f[2];
        sums.zeta[1] = f[2].mul_add(xi, sums.zeta[1]);
    }
}

/// Eight times the coefficients of monomials, from values at the vertices: sums and differences along each axis.
#[inline(always)]
pub(super) fn to_coefficients<L: Lanes>(mut x: [L; NODES]) -> [L; NODES] {
    for step in [1, 2, 4] {
        for n in 0..NODES {
            if n & step == 0 {
                (x[n], x[n + step]) = (x[n] + x[n + step], x[n + step] - x[n]);
            }
        }
    }
    x
}

/// The transpose of [`to_coefficients`].
#[inline(always)]
pub(super) fn from_coefficients<L: Lanes>(mut x: [L; NODES]) -> [L; NODES] {
    for step in [1, 2, 4] {
        for n in 0..NODES {
            if n & step == 0 {
                (x[n], x[n + step]) = (x[n] - x[n + step], x[n] + x[n + step]);
            }
        }
    }
    x
}

#[inline(always)]
fn eighth<L: Lanes>(mut x: [L; NODES]) -> [L; NODES] {
    let factor = x[0].constant(0.125);
    for n in 0..NODES {
        x[n] = x[n] * factor;
    }
    x
}
