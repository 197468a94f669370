//! How Newton's method can fail.

use super::NewtonStep;
use crate::solve::cg::CgError;
use crate::solve::gmres::GmresError;
use crate::solve::{JacobiError, OperatorError};
use femto_platform::device::DeviceError;
use std::fmt;
use thiserror::Error;

/// Equations that were not solved. The solution vector holds the last iterate, whose residual is the
/// smallest so far.
#[derive(Debug)]
pub struct NewtonError {
    /// What went wrong.
    pub failure: NewtonFailure,
    /// The norm of the residual before the first step and after each; empty where the solver did not
    /// come so far.
    pub residual_history: Vec<f64>,
    /// The steps taken.
    pub steps: Vec<NewtonStep>,
}

impl NewtonError {
    /// How many steps were taken.
    pub fn iterations(&self) -> usize {
        self.steps.len()
    }
}

impl std::error::Error for NewtonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.failure)
    }
}

impl fmt::Display for NewtonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.failure)?;
        match self.residual_history.last() {
            None => Ok(()),
            Some(residual) => {
                let iterations = self.iterations();
                write!(f, " (Newton step {iterations}, residual {residual:.3e})")
            }
        }
    }
}

/// Why Newton's method stopped without a solution.
#[derive(Debug, Error)]
pub enum NewtonFailure {
    /// The steps are used up.
    #[error("no convergence: a residual of {target:.3e} was not reached")]
    NotConverged {
        /// The norm of the residual that was asked for.
        target: f64,
    },
    /// No step along Newton's direction makes the residual smaller: the Jacobian is nearly singular or
    /// not that of the residual, there is a minimum of the residual that is no solution, or the
    /// tolerance is below what the precision of the vectors allows.
    #[error(
        "no step along Newton's direction makes the residual smaller: it is {residual:.3e} after \
         a step of {length:.1e}"
    )]
    LineSearch {
        /// The shortest step that was tried, where Newton's is 1.
        length: f64,
        /// The norm of the residual after it.
        residual: f64,
    },
    /// There is no direction.
    #[error("no direction: {0}")]
    Linear(#[from] LinearError),
    /// The diagonal of the Jacobian is no preconditioner.
    #[error("the diagonal of the Jacobian: {0}")]
    Preconditioner(Box<JacobiError>),
    /// The observer ended it.
    #[error("interrupted")]
    Interrupted,
    /// A number is infinite or not a number where the line search cannot help.
    #[error("{quantity} is {value}")]
    Breakdown {
        /// Which one.
        quantity: &'static str,
        /// What it is.
        value: f64,
    },
    /// The problem or the device failed, or a vector has another length than the problem.
    #[error(transparent)]
    Operator(Box<OperatorError>),
    /// The workspace was made for another linear solver; nothing was done.
    #[error("the workspace was made for another linear solver than the one asked for")]
    Workspace,
    /// A parameter out of its range; nothing was done.
    #[error("the {name} is {value}; see NewtonParams for what it may be")]
    InvalidParameter {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// A direction that was not found.
#[derive(Debug, Error)]
pub enum LinearError {
    /// By conjugate gradients.
    #[error("conjugate gradients: {0}")]
    Cg(Box<CgError>),
    /// By GMRES.
    #[error("GMRES: {0}")]
    Gmres(Box<GmresError>),
}

impl From<JacobiError> for NewtonFailure {
    fn from(error: JacobiError) -> Self {
        Self::Preconditioner(Box::new(error))
    }
}

impl From<OperatorError> for NewtonFailure {
    fn from(error: OperatorError) -> Self {
        Self::Operator(Box::new(error))
    }
}

impl From<DeviceError> for NewtonFailure {
    fn from(error: DeviceError) -> Self {
        OperatorError::from(error).into()
    }
}
