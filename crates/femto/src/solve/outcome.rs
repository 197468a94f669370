//! Stop criteria, stop reasons, results and errors of solvers.

use super::{History, JacobiError, OperatorError};
use femto_platform::device::DeviceError;
use std::fmt;
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

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cg => "conjugate gradients",
            Self::Gmres => "GMRES",
            Self::Newton => "Newton's method",
        })
    }
}

/// When a solver stops: at a residual of max(relative tolerance · reference, absolute tolerance), or after
/// so many iterations.
///
/// Vectors of `f32` reach relative tolerances of about 1e-6 at best, the less so the worse the
/// condition of the matrix; [`StopReason::Stagnated`] says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopCriteria {
    /// Relative to |b|, for Newton's method to the residual of the start. Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the residual. Default 0.
    pub absolute_tolerance: f64,
    /// The most steps that are taken. Default 1000.
    pub max_iterations: usize,
}

impl Default for StopCriteria {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-8,
            absolute_tolerance: 0.0,
            max_iterations: 1000,
        }
    }
}

/// A finished solve.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveInfo {
    /// Every step.
    pub history: History,
    /// The norm of the residual, computed from the solution returned; of a linear system at most ten times
    /// the target.
    pub true_residual: f64,
    /// The tolerance that was met, which is relative to [`History::reference`]; or
    /// [`StopReason::ZeroRightHandSide`].
    pub reason: StopReason,
}

impl SolveInfo {
    /// How many steps were taken; of Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.history.iterations()
    }
}

/// Equations that were not solved. The solution vector holds the last iterate.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveError {
    /// Why.
    pub reason: StopReason,
    /// Every step until then.
    pub history: History,
}

impl SolveError {
    /// How many steps were taken; of Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.history.iterations()
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The reason is in the message.
        self.reason.source()
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        let Some(residual) = self.history.residuals.last() else {
            return Ok(());
        };
        let step = match self.history.method {
            Method::Cg | Method::Gmres => "iteration",
            Method::Newton => "Newton step",
        };
        let iterations = self.iterations();
        write!(f, " ({step} {iterations}, residual {residual:.3e})")
    }
}

/// Why a solver stopped: the first four are solutions, the others are not.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StopReason {
    /// The residual is within the relative tolerance.
    #[error("the relative tolerance is met")]
    RelativeTolerance,
    /// The residual is within the absolute tolerance, the larger of the two.
    #[error("the absolute tolerance is met")]
    AbsoluteTolerance,
    /// The residual of Newton's method is what rounding leaves of the forces a few steps before.
    #[error("the residual is no more than rounding")]
    Rounding,
    /// b = 0, so x = 0 without any step.
    #[error("the right-hand side is zero")]
    ZeroRightHandSide,
    /// The iterations are used up.
    #[error("no convergence: a residual of {target:.3e} was not reached")]
    NotConverged {
        /// The norm of the residual that was asked for.
        target: f64,
    },
    /// From one start of GMRES to the next the residual stayed.
    #[error(
        "no progress in {restart} steps: start again less often (`restart`), or take a better \
         preconditioner"
    )]
    NoProgress {
        /// Steps between two starts.
        restart: usize,
    },
    /// The residual that the solver carries along is small enough, but b - A x is not, and does not get
    /// smaller: the tolerance is below what the precision of the vectors allows.
    #[error(
        "the precision of the vectors is exhausted: |b - A x| stays at {true_residual:.3e}, and \
         {target:.3e} was asked for; ask for less, or take fp64 where it is fp32"
    )]
    Stagnated {
        /// The norm of b - A x.
        true_residual: f64,
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
    /// The monitor ended it.
    #[error("interrupted")]
    Interrupted,
    /// (p, A p) ≤ 0 for a direction p of conjugate gradients.
    #[error("the operator is not positive definite: (p, A p) = {curvature:.3e}")]
    NotPositiveDefinite {
        /// (p, A p).
        curvature: f64,
    },
    /// (r, M⁻¹ r) ≤ 0 for a residual r of conjugate gradients.
    #[error("the preconditioner is not positive definite: (r, M⁻¹ r) = {product:.3e}")]
    PreconditionerNotPositiveDefinite {
        /// (r, M⁻¹ r).
        product: f64,
    },
    /// No combination of the directions that A makes of the residual reduces it further, and A M⁻¹
    /// takes one of them to zero.
    #[error("the operator is singular: |b - A x| of {residual:.3e} is the least that was found")]
    Singular {
        /// The norm of the residual.
        residual: f64,
    },
    /// A number of the iteration is infinite or not a number.
    #[error("{quantity} is {value}")]
    Breakdown {
        /// Which one.
        quantity: &'static str,
        /// What it is.
        value: f64,
    },
    /// There is no direction for Newton's method.
    #[error("no direction: {}: {}", .0.history.method, .0)]
    Direction(Box<SolveError>),
    /// The diagonal of the Jacobian is no preconditioner.
    #[error("the diagonal of the Jacobian: {0}")]
    Diagonal(Box<JacobiError>),
    /// The operator, the preconditioner or the device failed, or a vector has another length than
    /// the operator.
    #[error(transparent)]
    Operator(Box<OperatorError>),
    /// A parameter is out of its range; nothing was done.
    #[error("the {name} is {value}; it must be {wanted}")]
    InvalidParameter {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// The workspace was made for another linear solver; nothing was done.
    #[error("the workspace was made for another linear solver than the one asked for")]
    Workspace,
}

impl StopReason {
    /// Fails with [`StopReason::InvalidParameter`] unless a parameter is `valid`.
    pub(super) fn require(
        valid: bool,
        name: &'static str,
        value: f64,
        wanted: &'static str,
    ) -> Result<(), Self> {
        match valid {
            true => Ok(()),
            false => Err(Self::InvalidParameter {
                name,
                value,
                wanted,
            }),
        }
    }
}

impl From<JacobiError> for StopReason {
    fn from(error: JacobiError) -> Self {
        Self::Diagonal(Box::new(error))
    }
}

impl From<OperatorError> for StopReason {
    fn from(error: OperatorError) -> Self {
        Self::Operator(Box::new(error))
    }
}

impl From<DeviceError> for StopReason {
    fn from(error: DeviceError) -> Self {
        OperatorError::from(error).into()
    }
}
