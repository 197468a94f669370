//! Stop criteria, stop reasons, results and errors of solvers.

use super::{History, JacobiError, OperatorError};
use crate::multigrid::MultigridError;
use femto_platform::device::DeviceError;
use std::fmt;
use thiserror::Error;

/// A method of solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients, for symmetric positive definite forms.
    Cg,
    /// GMRES, for any linear form.
    Gmres,
    /// Newton's method, with directions from one of the others.
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

/// Solvers stop at a residual of max(relative tolerance · reference, absolute tolerance), or after a
/// maximum number of iterations.
///
/// `f32` vectors reach relative tolerances of about 1e-6 at best, worse for ill-conditioned matrices;
/// [`StopReason::Stagnated`] reports that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopCriteria {
    /// Relative to |b|; in Newton's method to the forces, or if unknown to the initial residual. Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the residual. Default 0.
    pub absolute_tolerance: f64,
    /// Maximum number of steps. Default 1000.
    pub max_iterations: usize,
    /// Conjugate gradients stop after this many steps without a new minimum of (r, M⁻¹ r), the square of the
    /// error's energy if M is close to A; GMRES at a restart after this many in which the residual was not halved. Default
    /// [`usize::MAX`].
    pub max_stalled: usize,
}

impl Default for StopCriteria {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-8,
            absolute_tolerance: 0.0,
            max_iterations: 1000,
            max_stalled: usize::MAX,
        }
    }
}

/// A finished solve.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveInfo {
    /// All steps.
    pub history: History,
    /// The norm of the residual computed from the returned solution; for linear systems at most ten times
    /// the target, unless the reason is [`StopReason::Rounding`].
    pub true_residual: f64,
    /// The tolerance that was met; the relative one refers to [`History::reference`]. Or
    /// [`StopReason::ZeroRightHandSide`].
    pub reason: StopReason,
}

impl SolveInfo {
    /// Number of steps; for Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.history.iterations()
    }
}

/// A failed solve. The solution vector holds the last iterate.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveError {
    /// Why the solver stopped.
    pub reason: StopReason,
    /// All steps up to the failure.
    pub history: History,
}

impl SolveError {
    /// Number of steps; for Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.history.iterations()
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already includes the reason.
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

/// Why a solver stopped. The first four reasons are successes, the others failures.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StopReason {
    /// The residual is within the relative tolerance.
    #[error("the relative tolerance is met")]
    RelativeTolerance,
    /// The residual is within the absolute tolerance, which is the larger one.
    #[error("the absolute tolerance is met")]
    AbsoluteTolerance,
    /// Newton's residual is only rounding, relative to the forces a few steps before; or that of linear equations, as far
    /// as a [`Problem`](crate::problem::Problem) without a tolerance is concerned.
    #[error("the residual is no more than rounding")]
    Rounding,
    /// b = 0, so x = 0 without taking a step.
    #[error("the right-hand side is zero")]
    ZeroRightHandSide,
    /// Residuals, or their squares, are too small for a number.
    #[error(
        "the right-hand side is too small for this precision, its norm {norm:.1e}: scale the loads"
    )]
    Underflow {
        /// The norm of b, 0 if that cannot be squared.
        norm: f64,
    },
    /// The maximum number of iterations is reached.
    #[error("no convergence in the iterations allowed: a residual of {target:.3e} was not reached")]
    NotConverged {
        /// The target norm of the residual.
        target: f64,
    },
    /// The residual did not fall between restarts of GMRES.
    #[error(
        "no progress in {restart} steps: start again less often (`restart`), or take a better \
         preconditioner"
    )]
    NoProgress {
        /// Steps between restarts.
        restart: usize,
    },
    /// Hardly any progress for [`StopCriteria::max_stalled`] steps.
    #[error("hardly any progress in {steps} steps")]
    Stalled {
        /// The number of these steps.
        steps: usize,
    },
    /// The solver's own residual is small enough, but b - A x is not and does not decrease, or Newton's residual is only
    /// rounding of terms that cancel: the tolerance is beyond the precision of the vectors.
    #[error(
        "the precision of the vectors is exhausted: the residual stays at {true_residual:.3e}, and \
         {target:.3e} was asked for; raise the tolerance, or take fp64 where it is fp32"
    )]
    Stagnated {
        /// The norm of b - A x, or of Newton's residual.
        true_residual: f64,
        /// The target norm of the residual.
        target: f64,
    },
    /// No step along Newton's direction reduces the residual: the Jacobian is nearly singular or does not
    /// match the residual, the residual has a local minimum that is not a solution, or the tolerance is
    /// beyond the precision of the vectors.
    #[error(
        "no step along Newton's direction makes the residual smaller: it is {residual:.3e} after \
         a step of {length:.1e}"
    )]
    LineSearch {
        /// The shortest step length tried; the full Newton step is 1.
        length: f64,
        /// The norm of the residual after it.
        residual: f64,
    },
    /// The monitor stopped the solver.
    #[error("interrupted")]
    Interrupted,
    /// (p, A p) ≤ 0 for a direction p of conjugate gradients.
    #[error(
        "the operator is not positive definite: (p, A p) = {curvature:.3e}; check that a condition or a term holds every \
         part of the mesh, or solve an indefinite form with gmres"
    )]
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
    /// No combination of the Krylov directions reduces the residual further, and A M⁻¹ maps one of them to
    /// zero.
    #[error("the operator is singular: |b - A x| of {residual:.3e} is the least that was found")]
    Singular {
        /// The norm of the residual.
        residual: f64,
    },
    /// A number of the iteration is infinite or NaN.
    #[error("{quantity} is {value}")]
    Breakdown {
        /// Name of the number.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// No direction was found for Newton's method.
    #[error("no direction: {}: {}", .0.history.method, .0)]
    Direction(Box<SolveError>),
    /// The diagonal of the Jacobian is unsuitable as a preconditioner.
    #[error("the diagonal of the Jacobian: {0}")]
    Diagonal(Box<JacobiError>),
    /// The Jacobian has no multigrid preconditioner.
    #[error("multigrid for the Jacobian: {0}")]
    Multigrid(Box<MultigridError>),
    /// The operator, the preconditioner or the device failed, or a vector's length does not match the
    /// operator.
    #[error(transparent)]
    Operator(Box<OperatorError>),
    /// A parameter is out of range; nothing was done.
    #[error("the {name} is {value}; it must be {wanted}")]
    InvalidParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its range.
        wanted: &'static str,
    },
    /// The workspace was made for another linear solver; nothing was done.
    #[error("the workspace was made for another linear solver than the one asked for")]
    Workspace,
}

impl StopReason {
    /// Whether a solver may do better with another preconditioner.
    pub(crate) fn may_be_the_preconditioners(&self) -> bool {
        matches!(
            self,
            Self::PreconditionerNotPositiveDefinite { .. }
                | Self::NotPositiveDefinite { .. }
                | Self::Stalled { .. }
                | Self::NoProgress { .. }
                | Self::Breakdown { .. }
                | Self::Singular { .. }
        )
    }

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

impl From<MultigridError> for StopReason {
    fn from(error: MultigridError) -> Self {
        Self::Multigrid(Box::new(error))
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
