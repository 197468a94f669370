//! How far a solution is from the exact one.

use super::contract::{tensor_weights, to_points};
use super::elements::sum;
use super::{Discretization, Function, ProblemError};
use crate::operator::OperatorError;
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::geometry::factors::cofactors;
use femto_fem::reference::tensor_product::Basis1d;
use serde::Serialize;
use std::ops::Range;

/// A solution that is known.
#[derive(Clone, Copy)]
pub struct Exact<'a> {
    /// Its values.
    pub value: &'a dyn Function,
    /// Its derivatives along x, y, z; without them there is no H1 error.
    pub gradient: Option<[&'a dyn Function; 3]>,
}

/// Norms of the error, of the exact solution, and their ratios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorNorms {
    /// The L2 norm of the error, √∫ (u_h - u)².
    pub l2: f64,
    /// The L2 norm of the exact solution.
    pub l2_exact: f64,
    /// The H1 seminorm of the error, √∫ |∇u_h - ∇u|².
    pub h1_seminorm: Option<f64>,
    /// The H1 seminorm of the exact solution.
    pub h1_seminorm_exact: Option<f64>,
}

impl ErrorNorms {
    /// The L2 error as a fraction of the exact solution's L2 norm; not finite where that is 0.
    pub fn l2_relative(&self) -> f64 {
        self.l2 / self.l2_exact
    }

    /// The H1 error as a fraction of the exact solution's H1 seminorm; not finite where that is 0.
    pub fn h1_relative(&self) -> Option<f64> {
        Some(self.h1_seminorm? / self.h1_seminorm_exact?)
    }
}

impl Discretization<'_> {
    /// The error of the L-vector `u` by a Gauss rule of degree + 3 points, whatever the rule of the
    /// discretization.
    ///
    /// # Errors
    /// A space of several components, a value of the exact solution that is not finite.
    ///
    /// # Panics
    /// If `u` is no L-vector.
    pub fn errors(&self, u: &[f64], exact: Exact<'_>) -> Result<ErrorNorms, ProblemError> {
        self.check_scalar()?;
        assert_eq!(u.len(), self.space.nodes(), "an L-vector");
        let degree = self.space.degree();
        let basis = Basis1d::gauss(degree, degree + 3).map_err(OperatorError::from)?;
        let weights = tensor_weights(&basis.weights, 3);
        let rule = Rule {
            basis: &basis,
            weights: &weights,
        };
        let squares = sum(self.space, weights.len(), u, |elements, nodes| {
            self.squares(rule, elements, nodes, exact)
        })?;
        let [l2, l2_exact, h1, h1_exact] = squares.map(f64::sqrt);
        Ok(ErrorNorms {
            l2,
            l2_exact,
            h1_seminorm: exact.gradient.map(|_| h1),
            h1_seminorm_exact: exact.gradient.map(|_| h1_exact),
        })
    }

    /// ∫ of (u_h - u)², u², |∇u_h - ∇u|², |∇u|² over some elements with node values `nodes`.
    fn squares(
        &self,
        rule: Rule<'_>,
        elements: Range<usize>,
        nodes: &[f64],
        exact: Exact<'_>,
    ) -> Result<[f64; 4], ProblemError> {
        let mut at = GeometryAtPoints::default();
        let mut all = GeometryAtPoints::default();
        for element in elements {
            let cell = self.space.cells()[element] as usize;
            self.geometry.at_points(cell, &rule.basis.points, &mut at);
            all.position.append(&mut at.position);
            all.jacobian.append(&mut at.jacobian);
            all.determinant.append(&mut at.determinant);
        }
        let weights = rule.weights.iter().cycle().zip(&all.determinant);
        let weights = weights.map(|(weight, determinant)| weight * determinant);
        let weights: Vec<f64> = weights.collect();

        let mut squares = [0.0; 4];
        let found = rule.values(nodes);
        let wanted = self.evaluate(&"the exact solution", exact.value, &all.position)?;
        for (point, weight) in weights.iter().enumerate() {
            squares[0] += weight * (found[point] - wanted[point]).powi(2);
            squares[1] += weight * wanted[point].powi(2);
        }
        if let Some(gradient) = exact.gradient {
            let found = rule.gradients(nodes);
            let what = "the gradient of the exact solution";
            let along = |axis: usize| self.evaluate(&what, gradient[axis], &all.position);
            let wanted = [along(0)?, along(1)?, along(2)?];
            for (point, weight) in weights.iter().enumerate() {
                // ∇u = J⁻ᵀ ∇_ξ u, and rows of the cofactors are rows of det J · J⁻¹.
                let rows = cofactors(&all.jacobian[point]);
                for c in 0..3 {
                    let sum: f64 = (0..3).map(|a| rows[a][c] * found[a][point]).sum();
                    let wanted = wanted[c][point];
                    squares[2] += weight * (sum / all.determinant[point] - wanted).powi(2);
                    squares[3] += weight * wanted.powi(2);
                }
            }
        }
        Ok(squares)
    }
}

/// A basis and the products of its weights.
#[derive(Clone, Copy)]
struct Rule<'a> {
    basis: &'a Basis1d,
    weights: &'a [f64],
}

impl Rule<'_> {
    fn values(self, nodes: &[f64]) -> Vec<f64> {
        to_points([&self.basis.interp_1d; 3], self.basis.nodes_1d, nodes)
    }

    /// Derivatives along ξ, η, ζ.
    fn gradients(self, nodes: &[f64]) -> [Vec<f64>; 3] {
        let (interp, grad) = (&self.basis.interp_1d[..], &self.basis.grad_1d[..]);
        [
            [interp, interp, grad],
            [interp, grad, interp],
            [grad, interp, interp],
        ]
        .map(|matrices| to_points(matrices, self.basis.nodes_1d, nodes))
    }
}
