//! How GMRES can fail.

use crate::solve::OperatorError;
use femto_platform::device::DeviceError;
use std::fmt;
use thiserror::Error;

/// A system that was not solved. The solution vector holds the last iterate, whose residual is the
/// smallest so far.
#[derive(Debug)]
pub struct GmresError {
    /// What went wrong.
    pub failure: GmresFailure,
    /// The norm of the residual before the first step and after each, as in
    /// [`GmresInfo`](super::GmresInfo); empty where the solver did not come so far.
    pub residual_history: Vec<f64>,
}

impl GmresError {
    /// How many steps were taken.
    pub fn iterations(&self) -> usize {
        self.residual_history.len().saturating_sub(1)
    }
}

impl std::error::Error for GmresError {}

impl fmt::Display for GmresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.failure)?;
        match self.residual_history.last() {
            None => Ok(()),
            Some(residual) => {
                let iterations = self.iterations();
                write!(f, " (iteration {iterations}, residual {residual:.3e})")
            }
        }
    }
}

/// Why GMRES stopped without a solution.
#[derive(Debug, Error)]
pub enum GmresFailure {
    /// No combination of the directions that A makes of the residual reduces it further, and A M⁻¹
    /// takes one of them to zero.
    #[error("the operator is singular: |b - A x| of {residual:.3e} is the least that was found")]
    Singular {
        /// The norm of the residual.
        residual: f64,
    },
    /// The iterations are used up.
    #[error("no convergence: a residual of {target:.3e} was not reached")]
    NotConverged {
        /// The norm of the residual that was asked for.
        target: f64,
    },
    /// From one start to the next the residual stayed.
    #[error(
        "no progress in {restart} steps: start again less often (`restart`), or take a better \
         preconditioner"
    )]
    NoProgress {
        /// Steps between two starts.
        restart: usize,
    },
    /// The residual of the small problem is small enough, but b - A x is not, and does not get
    /// smaller: the tolerance is below what the precision of the vectors allows.
    #[error(
        "the precision of the vectors is exhausted: |b - A x| stays at {true_residual:.3e}, and \
         {target:.3e} was asked for"
    )]
    Stagnated {
        /// The norm of b - A x.
        true_residual: f64,
        /// The norm of the residual that was asked for.
        target: f64,
    },
    /// The observer ended it.
    #[error("interrupted")]
    Interrupted,
    /// A number of the iteration is infinite or not a number.
    #[error("{quantity} is {value}")]
    Breakdown {
        /// Which one.
        quantity: &'static str,
        /// What it is.
        value: f64,
    },
    /// The operator, the preconditioner or the device failed, or a vector has another length than
    /// the operator.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A tolerance is negative or not a finite number; nothing was done.
    #[error("the {name} tolerance is {value}; it must be a finite number that is not negative")]
    InvalidTolerance {
        /// `relative` or `absolute`.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// No steps between two starts; nothing was done.
    #[error("`restart` is 0; it must be at least 1")]
    InvalidRestart,
}

impl From<DeviceError> for GmresFailure {
    fn from(error: DeviceError) -> Self {
        Self::Operator(error.into())
    }
}
