//! Parameters of Newton's method.

use crate::solve::krylov::LinearSolver;
use crate::solve::{StopCriteria, StopReason};

/// Parameters and stop criteria of Newton's method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonParams {
    /// The stop criteria. Default at most 50 steps. If the start is close to the solution, set an absolute
    /// tolerance.
    pub stop: StopCriteria,
    /// The linear solver for directions. Default GMRES.
    pub linear: LinearSolver,
    /// Maximum number of linear steps per direction. Default 1000.
    pub max_linear_iterations: usize,
    /// Accuracy of the directions. Default [`Forcing::default`].
    pub forcing: Forcing,
    /// Choice of step lengths. Default [`LineSearch::default`].
    pub line_search: LineSearch,
}

impl Default for NewtonParams {
    fn default() -> Self {
        Self {
            stop: StopCriteria {
                max_iterations: 50,
                ..StopCriteria::default()
            },
            linear: LinearSolver::default(),
            max_linear_iterations: 1000,
            forcing: Forcing::default(),
            line_search: LineSearch::default(),
        }
    }
}

/// The forcing term η: a direction d is accurate enough if |R(u) - R'(u) d| ≤ η |R(u)|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forcing {
    /// A constant, above 0 and below 1. Small values give quadratic convergence.
    Fixed(f64),
    /// Adapts to the progress of the last step: η = 0.9 (|R(u)| / |R(u) before|)², but not far below 0.9
    /// times the square of the previous η, nor tighter than the final tolerance warrants. Convergence stays
    /// quadratic. Eisenstat and Walker, Choosing the forcing terms in an inexact Newton method, SIAM
    /// Journal on Scientific Computing 17, 1996, choice 2 with its safeguard; the last bound is from
    /// Kelley, Solving Nonlinear Equations with Newton's Method, 2003, section 3.2.
    EisenstatWalker {
        /// η of the first step. Default 0.3.
        first: f64,
        /// The largest η. Default 0.9.
        most: f64,
    },
}

impl Default for Forcing {
    fn default() -> Self {
        Self::EisenstatWalker {
            first: 0.3,
            most: 0.9,
        }
    }
}

/// The step length along a direction d: the first of α = 1 and shorter ones for which |R(u - α d)| ≤ (1 -
/// decrease · α) |R(u)|. A residual that is not finite is never small enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineSearch {
    /// Maximum number of times that a step is shortened, each time at least by half. Default 25; with 0
    /// only full steps are taken.
    pub max_cuts: usize,
    /// The minimum decrease, from 0 to below 1. Default 1e-4.
    pub decrease: f64,
}

impl Default for LineSearch {
    fn default() -> Self {
        Self {
            max_cuts: 25,
            decrease: 1e-4,
        }
    }
}

impl NewtonParams {
    /// Fails if a parameter is invalid; tolerances are checked elsewhere.
    pub(super) fn check(&self) -> Result<(), StopReason> {
        let [first, most] = match self.forcing {
            Forcing::Fixed(fixed) => [fixed, fixed],
            Forcing::EisenstatWalker { first, most } => [first, most],
        };
        for (name, value) in [
            ("forcing term of the first step", first),
            ("largest forcing term", most),
        ] {
            let valid = (f64::MIN_POSITIVE..1.0).contains(&value);
            StopReason::require(valid, name, value, "above 0 and below 1")?;
        }
        let decrease = self.line_search.decrease;
        let valid = (0.0..1.0).contains(&decrease);
        let wanted = "at least 0 and below 1";
        StopReason::require(valid, "least decrease", decrease, wanted)
    }
}
