//! Solver parameters of a problem.

use crate::solve::gmres::GmresParams;
use crate::solve::krylov::{KrylovParams, LinearSolver};
use crate::solve::newton::{Forcing, LineSearch, NewtonParams};
use crate::solve::{Method, StopCriteria};
use femto_kernel::scalar::Precision;

/// The solver and its stop criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParams {
    /// `None` chooses by the form: conjugate gradients if it is linear and symmetric, GMRES if it is
    /// linear, otherwise Newton's method. If the method is CG or GMRES and the form is nonlinear, Newton's
    /// method uses it for its directions.
    pub method: Option<Method>,
    /// Relative to the norm of the right-hand side; in Newton's method to the forces. `None` is 1e-8, in single precision,
    /// which cannot reach that, 1e-5; of linear equations a residual that is only rounding is then small enough
    /// ([`StopReason::Rounding`](crate::solve::StopReason::Rounding)), and solvers go on with a lower one where the residual
    /// hides errors ([`Solution::settling`](super::Solution::settling)); neither with an absolute tolerance.
    pub relative_tolerance: Option<f64>,
    /// In the units of the residual. Default 0.
    pub absolute_tolerance: f64,
    /// Maximum number of linear solver steps, for Newton's method per direction. Default 10 000.
    pub max_iterations: usize,
    /// Steps of GMRES between restarts. Default 30.
    pub restart: usize,
    /// Maximum number of Newton steps. Default 50.
    pub max_newton_steps: usize,
    /// Accuracy of Newton's directions.
    pub forcing: Forcing,
    /// Step lengths along Newton's directions.
    pub line_search: LineSearch,
}

impl Default for SolverParams {
    fn default() -> Self {
        let newton = NewtonParams::default();
        Self {
            method: None,
            relative_tolerance: None,
            absolute_tolerance: newton.stop.absolute_tolerance,
            max_iterations: 10_000,
            restart: GmresParams::default().restart,
            max_newton_steps: newton.stop.max_iterations,
            forcing: newton.forcing,
            line_search: newton.line_search,
        }
    }
}

impl SolverParams {
    /// The method for the equations of a form, and the method for Newton's directions.
    pub(super) fn methods(&self, linear: bool, symmetric: bool) -> (Method, Method) {
        let krylov = match (self.method, symmetric) {
            (Some(method @ (Method::Cg | Method::Gmres)), _) => method,
            (_, true) => Method::Cg,
            (_, false) => Method::Gmres,
        };
        match (linear, self.method) {
            (true, None | Some(Method::Cg | Method::Gmres)) => (krylov, krylov),
            _ => (Method::Newton, krylov),
        }
    }

    /// The relative tolerance for vectors of this precision.
    pub fn tolerance(&self, precision: Precision) -> f64 {
        self.relative_tolerance.unwrap_or(match precision {
            Precision::Fp64 => 1e-8,
            Precision::Fp32 => 1e-5,
        })
    }

    /// Whether no tolerance is given.
    pub(super) fn has_default_tolerance(&self) -> bool {
        self.relative_tolerance.is_none() && self.absolute_tolerance == 0.0
    }

    /// Parameters for a linear form.
    pub(super) fn krylov(&self, method: Method, precision: Precision) -> KrylovParams {
        KrylovParams {
            solver: self.linear(method),
            stop: self.stop(self.max_iterations, precision),
        }
    }

    pub(super) fn newton(&self, krylov: Method, precision: Precision) -> NewtonParams {
        NewtonParams {
            stop: self.stop(self.max_newton_steps, precision),
            linear: self.linear(krylov),
            max_linear_iterations: self.max_iterations,
            forcing: self.forcing,
            line_search: self.line_search,
        }
    }

    fn linear(&self, method: Method) -> LinearSolver {
        match method {
            Method::Cg => LinearSolver::Cg,
            Method::Gmres | Method::Newton => LinearSolver::Gmres {
                restart: self.restart,
            },
        }
    }

    fn stop(&self, max_iterations: usize, precision: Precision) -> StopCriteria {
        StopCriteria {
            relative_tolerance: self.tolerance(precision),
            absolute_tolerance: self.absolute_tolerance,
            max_iterations,
            ..StopCriteria::default()
        }
    }
}
