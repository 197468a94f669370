//! Parameters of the solver of a problem.

use crate::solve::gmres::GmresParams;
use crate::solve::krylov::{KrylovParams, LinearSolver};
use crate::solve::newton::{Forcing, LineSearch, NewtonParams};
use crate::solve::{Method, StopCriteria};

/// The solver and its stop criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParams {
    /// Chosen by the form where `None`: linear forms take conjugate gradients where they are symmetric,
    /// else GMRES; others take Newton's method. With one of the first two, a form that is not linear takes
    /// Newton's method with directions from it.
    pub method: Option<Method>,
    /// Relative to the norm of the right-hand side; with Newton's method to the residual of the start.
    /// Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the residual. Default 0.
    pub absolute_tolerance: f64,
    /// The most steps of a linear solver, for each direction of Newton's method. Default 1000.
    pub max_iterations: usize,
    /// Steps of GMRES between two starts. Default 30.
    pub restart: usize,
    /// The most steps of Newton's method. Default 50.
    pub max_newton_steps: usize,
    /// How exact the directions of Newton's method are.
    pub forcing: Forcing,
    /// How far it goes along them.
    pub line_search: LineSearch,
}

impl Default for SolverParams {
    fn default() -> Self {
        let newton = NewtonParams::default();
        Self {
            method: None,
            relative_tolerance: newton.stop.relative_tolerance,
            absolute_tolerance: newton.stop.absolute_tolerance,
            max_iterations: newton.max_linear_iterations,
            restart: GmresParams::default().restart,
            max_newton_steps: newton.stop.max_iterations,
            forcing: newton.forcing,
            line_search: newton.line_search,
        }
    }
}

impl SolverParams {
    /// The method for the equations of a form, and that for the directions of Newton's method.
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

    /// Of a linear form.
    pub(super) fn krylov(&self, method: Method) -> KrylovParams {
        KrylovParams {
            solver: self.linear(method),
            stop: self.stop(self.max_iterations),
        }
    }

    pub(super) fn newton(&self, krylov: Method) -> NewtonParams {
        NewtonParams {
            stop: self.stop(self.max_newton_steps),
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

    fn stop(&self, max_iterations: usize) -> StopCriteria {
        StopCriteria {
            relative_tolerance: self.relative_tolerance,
            absolute_tolerance: self.absolute_tolerance,
            max_iterations,
        }
    }
}
