//! Matrices of the triangle and of the line, of whose products those of λ u, κ ∇u on prisms of horizontal layers consist.

use super::tables::{InPlane, Tables};
use crate::family::ElementOperator;
use crate::form::Coefficients;
use femto_element::Layering;
use femto_element::tables::BasisAtPoints;

/// The coefficients of a form λ u, κ ∇u that are taken once for each prism, of any degree on horizontal layers, of degree 1
/// on the host elsewhere too.
pub(super) fn folds<'a>(
    tables: &Tables,
    operator: &'a ElementOperator,
) -> Option<&'a Coefficients> {
    let coefficients = operator.inspection.coefficients.as_ref();
    let is_simple = operator.layering == Layering::Level || tables.degree == 1;
    coefficients.filter(|_| is_simple && operator.fold_coefficients)
}

/// Matrices of the bases of the factors, integrated by the rules of the factors.
#[derive(Clone, Debug)]
pub(super) struct FactorMatrices<R> {
    /// Of the triangle, ∫ of φ_t φ_s, ∂φ_t ∂φ_s along ξ and along η, and mixed, ∂_ξ φ_t ∂_η φ_s + ∂_η φ_t ∂_ξ φ_s,
    /// `[t][s][4]`.
    pub(super) triangle: Vec<R>,
    /// Of the line, ∫ of φ_k φ_l and φ'_k φ'_l, `[k][l][2]`.
    pub(super) line: Vec<R>,
}

impl FactorMatrices<f64> {
    /// The matrices for an operator that consists of them.
    pub(super) fn of(operator: &ElementOperator, tables: &Tables) -> Option<Self> {
        let is_level = operator.layering == Layering::Level;
        (is_level && folds(tables, operator).is_some()).then(|| Self::new(tables))
    }

    fn new(tables: &Tables) -> Self {
        let in_plane = InPlane(tables);
        let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
        let pairs = |n: usize| (0..n * n).map(move |pair| (pair / n, pair % n));
        let triangle = pairs(nt).flat_map(|(t, s)| {
            (0..qt).fold([0.0; 4], |sums, q| {
                let ((u, [u0, u1, _]), (v, [v0, v1, _])) = (in_plane.at(q, t), in_plane.at(q, s));
                let products = [u * v, u0 * v0, u1 * v1, u0 * v1 + u1 * v0];
                [0, 1, 2, 3].map(|n| sums[n] + in_plane.weight(q) * products[n])
            })
        });
        let values = &tables.numbers[3 * qt * (nt + 1)..];
        let (slopes, weights) = (&values[qz * nz..], &values[2 * qz * nz..]);
        let line = pairs(nz).flat_map(|(k, l)| {
            (0..qz).fold([0.0; 2], |sums, q| {
                let products = [values, slopes].map(|of| of[q * nz + k] * of[q * nz + l]);
                [0, 1].map(|n| sums[n] + weights[q] * products[n])
            })
        });
        Self {
            triangle: triangle.collect(),
            line: line.collect(),
        }
    }

    /// Bytes of the numbers in double precision.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.triangle.len() + self.line.len())
    }

    /// All numbers, of the triangle first.
    pub(super) fn numbers(&self) -> Vec<f64> {
        [&*self.triangle, &*self.line].concat()
    }
}
