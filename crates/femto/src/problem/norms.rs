//! Error norms against an exact solution.

use super::integral::{Integral, Integrand};
use super::{Discretization, Function, ProblemError, Role};
use crate::Quadrature;
use crate::operator::Backend;
use crate::vector::VectorOps;
use femto_fem::space::Block;
use femto_platform::device::check_len;
use serde::Serialize;

/// A known exact solution.
#[derive(Clone)]
pub struct Exact<'a> {
    /// Its values, `[component]`.
    pub value: Vec<&'a dyn Function>,
    /// Its derivatives, `[component][axis]`; without them there is no H1 error.
    pub gradient: Option<Vec<Vec<&'a dyn Function>>>,
}

/// Norms of the error and of the exact solution, and their ratios. Squares are summed over components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorNorms {
    /// The L2 norm of the error, √∫ |u_h - u|².
    pub l2: f64,
    /// The L2 norm of the exact solution.
    pub l2_exact: f64,
    /// The H1 seminorm of the error, √∫ |∇u_h - ∇u|².
    pub h1_seminorm: Option<f64>,
    /// The H1 seminorm of the exact solution.
    pub h1_seminorm_exact: Option<f64>,
}

impl ErrorNorms {
    /// The L2 error as a fraction of the exact solution's L2 norm; not finite if that is 0.
    pub fn l2_relative(&self) -> f64 {
        self.l2 / self.l2_exact
    }

    /// The H1 error as a fraction of the exact solution's H1 seminorm; not finite if that is 0.
    pub fn h1_relative(&self) -> Option<f64> {
        Some(self.h1_seminorm? / self.h1_seminorm_exact?)
    }
}

impl Exact<'_> {
    /// Fails unless it has a function for each component, and derivatives along each axis.
    pub(super) fn check(&self, on: &Discretization<'_>) -> Result<(), ProblemError> {
        on.check_components(self.value.len())?;
        let Some(gradient) = &self.gradient else {
            return Ok(());
        };
        on.check_components(gradient.len())?;
        match gradient.iter().find(|row| row.len() != on.dim()) {
            Some(row) => Err(ProblemError::ExactGradient {
                found: row.len(),
                dim: on.dim(),
            }),
            None => Ok(()),
        }
    }
}

impl Discretization<'_> {
    /// The error of the L-vector `u`, computed by the device: with a Gauss rule of degree + 3 points on
    /// tensor-product cells, with a rule exact to degree 2 N + 4 on other cells, whatever the
    /// discretization's own rule.
    ///
    /// # Errors
    /// An exact solution whose components or axes do not match the space, a value of it that is not finite,
    /// a `u` that is not an L-vector, or a device error.
    pub fn errors<B>(
        &self,
        device: &B,
        u: &[f64],
        exact: &Exact<'_>,
    ) -> Result<ErrorNorms, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        exact.check(self)?;
        let components = exact.value.len();
        check_len("the solution", u.len(), self.space().dofs())?;
        let on = Discretization {
            quadrature: Quadrature::exact_to(self.space().degree().map(|degree| 2 * degree + 4)),
            ..*self
        };
        let scalar: Vec<Block> = self.blocks.iter().map(Block::scalar).collect();
        let (mut l2, mut h1) = ([0.0; 2], [0.0; 2]);
        for component in 0..components {
            let u: Vec<f64> = u
                .iter()
                .skip(component)
                .step_by(components)
                .copied()
                .collect();
            let squares = |integrand, role: Role, functions: &[&dyn Function]| {
                let name = role.of(component);
                let integral = Integral::new(&on, &scalar, integrand, (&name, functions))?;
                let totals = integral.totals(device, &u)?;
                if totals.iter().any(|total| !total.is_finite()) {
                    for function in functions {
                        on.find_bad_value(&name, *function)?;
                    }
                }
                Ok::<[f64; 2], ProblemError>(totals)
            };
            let value = [exact.value[component]];
            let [error, norm] = squares(Integrand::SquareOfError, Role::Exact, &value)?;
            l2 = [l2[0] + error, l2[1] + norm];
            if let Some(gradient) = &exact.gradient {
                let gradient = &gradient[component];
                let [error, norm] = squares(
                    Integrand::SquareOfGradientError,
                    Role::ExactGradient,
                    gradient,
                )?;
                h1 = [h1[0] + error, h1[1] + norm];
            }
        }
        // Rounding may make a sum of zero squares negative.
        let root = |square: f64| square.max(0.0).sqrt();
        let h1 = exact.gradient.as_ref().map(|_| h1.map(root));
        Ok(ErrorNorms {
            l2: root(l2[0]),
            l2_exact: root(l2[1]),
            h1_seminorm: h1.map(|[error, _]| error),
            h1_seminorm_exact: h1.map(|[_, norm]| norm),
        })
    }
}
