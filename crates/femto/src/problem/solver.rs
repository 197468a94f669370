//! What solves a problem's equations, and what it says.

use crate::solve::Reason;
use crate::solve::cg::{CgError, CgFailure, CgInfo, CgParams};
use crate::solve::gmres::{GmresError, GmresFailure, GmresInfo, GmresParams};
use crate::solve::newton::{
    Forcing, LineSearch, LinearSolver, NewtonError, NewtonFailure, NewtonInfo, NewtonParams,
    NewtonStep,
};
use thiserror::Error;

/// What solves the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients, for symmetric forms that are positive definite.
    Cg,
    /// GMRES, for any linear form.
    Gmres,
    /// Newton's method; its directions are from one of the others.
    Newton,
}

impl Method {
    /// The name in cases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cg => "cg",
            Self::Gmres => "gmres",
            Self::Newton => "newton",
        }
    }
}

/// What solves the equations, and when it stops.
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
            relative_tolerance: newton.relative_tolerance,
            absolute_tolerance: newton.absolute_tolerance,
            max_iterations: CgParams::default().max_iterations,
            restart: GmresParams::default().restart,
            max_newton_steps: newton.max_iterations,
            forcing: newton.forcing,
            line_search: newton.line_search,
        }
    }
}

impl SolverParams {
    /// What solves the equations of a form, and for Newton's method what gives the directions.
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

    pub(super) fn cg(&self) -> CgParams {
        CgParams {
            relative_tolerance: self.relative_tolerance,
            absolute_tolerance: self.absolute_tolerance,
            max_iterations: self.max_iterations,
        }
    }

    pub(super) fn gmres(&self) -> GmresParams {
        GmresParams {
            relative_tolerance: self.relative_tolerance,
            absolute_tolerance: self.absolute_tolerance,
            max_iterations: self.max_iterations,
            restart: self.restart,
        }
    }

    pub(super) fn newton(&self, krylov: Method) -> NewtonParams {
        let (max_iterations, restart) = (self.max_iterations, self.restart);
        NewtonParams {
            relative_tolerance: self.relative_tolerance,
            absolute_tolerance: self.absolute_tolerance,
            max_iterations: self.max_newton_steps,
            linear: match krylov {
                Method::Cg => LinearSolver::Cg { max_iterations },
                Method::Gmres | Method::Newton => LinearSolver::Gmres {
                    max_iterations,
                    restart,
                },
            },
            forcing: self.forcing,
            line_search: self.line_search,
        }
    }
}

/// How the equations were solved.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveInfo {
    /// What solved them.
    pub method: Method,
    /// Steps taken; of Newton's method its own.
    pub iterations: usize,
    /// Steps of the linear solver, in all.
    pub linear_iterations: usize,
    /// The norm of the residual before the first step and after each.
    pub residual_history: Vec<f64>,
    /// The norm of the residual, computed from the solution.
    pub true_residual: f64,
    /// Why it ended.
    pub reason: Reason,
    /// The steps of Newton's method; empty for the others.
    pub newton_steps: Vec<NewtonStep>,
}

impl From<CgInfo> for SolveInfo {
    fn from(info: CgInfo) -> Self {
        Self {
            method: Method::Cg,
            iterations: info.iterations,
            linear_iterations: info.iterations,
            residual_history: info.residual_history,
            true_residual: info.true_residual,
            reason: info.reason,
            newton_steps: Vec::new(),
        }
    }
}

impl From<GmresInfo> for SolveInfo {
    fn from(info: GmresInfo) -> Self {
        Self {
            method: Method::Gmres,
            iterations: info.iterations,
            linear_iterations: info.iterations,
            residual_history: info.residual_history,
            true_residual: info.true_residual,
            reason: info.reason,
            newton_steps: Vec::new(),
        }
    }
}

impl From<NewtonInfo> for SolveInfo {
    fn from(info: NewtonInfo) -> Self {
        Self {
            method: Method::Newton,
            iterations: info.iterations(),
            linear_iterations: info.linear_iterations(),
            true_residual: info.residual_history.last().copied().unwrap_or(0.0),
            residual_history: info.residual_history,
            reason: info.reason,
            newton_steps: info.steps,
        }
    }
}

/// Equations that were not solved.
#[derive(Debug, Error)]
pub enum SolveError {
    /// By conjugate gradients.
    #[error(transparent)]
    Cg(#[from] CgError),
    /// By GMRES.
    #[error(transparent)]
    Gmres(#[from] GmresError),
    /// By Newton's method.
    #[error(transparent)]
    Newton(#[from] NewtonError),
}

/// In a word why equations were not solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortfall {
    /// The steps are used up, or no longer help.
    NotConverged,
    /// The precision of the vectors is exhausted.
    Stagnated {
        /// The norm of the residual, computed from the last iterate.
        true_residual: f64,
    },
    /// The observer ended it.
    Interrupted,
    /// The iteration broke down.
    Failed,
}

impl SolveError {
    /// What tried to solve them.
    pub fn method(&self) -> Method {
        match self {
            Self::Cg(_) => Method::Cg,
            Self::Gmres(_) => Method::Gmres,
            Self::Newton(_) => Method::Newton,
        }
    }

    /// The norm of the residual before the first step and after each.
    pub fn residual_history(&self) -> &[f64] {
        match self {
            Self::Cg(error) => &error.residual_history,
            Self::Gmres(error) => &error.residual_history,
            Self::Newton(error) => &error.residual_history,
        }
    }

    /// Steps of the linear solver, in all; of a direction that was not found none.
    pub fn linear_iterations(&self) -> usize {
        match self {
            Self::Cg(error) => error.iterations(),
            Self::Gmres(error) => error.iterations(),
            Self::Newton(error) => error.steps.iter().map(|step| step.linear_iterations).sum(),
        }
    }

    /// Why, in a word.
    pub fn shortfall(&self) -> Shortfall {
        match self {
            Self::Cg(error) => match error.failure {
                CgFailure::NotConverged { .. } => Shortfall::NotConverged,
                CgFailure::Stagnated { true_residual, .. } => {
                    Shortfall::Stagnated { true_residual }
                }
                CgFailure::Interrupted => Shortfall::Interrupted,
                _ => Shortfall::Failed,
            },
            Self::Gmres(error) => match error.failure {
                GmresFailure::NotConverged { .. } | GmresFailure::NoProgress { .. } => {
                    Shortfall::NotConverged
                }
                GmresFailure::Stagnated { true_residual, .. } => {
                    Shortfall::Stagnated { true_residual }
                }
                GmresFailure::Interrupted => Shortfall::Interrupted,
                _ => Shortfall::Failed,
            },
            Self::Newton(error) => match error.failure {
                NewtonFailure::NotConverged { .. } | NewtonFailure::LineSearch { .. } => {
                    Shortfall::NotConverged
                }
                NewtonFailure::Interrupted => Shortfall::Interrupted,
                _ => Shortfall::Failed,
            },
        }
    }
}
