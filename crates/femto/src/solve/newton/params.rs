//! Parameters of Newton's method.

use crate::solve::krylov::LinearSolver;
use crate::solve::{StopCriteria, StopReason};

/// How Newton's method goes about it, and when it stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonParams {
    /// When it stops. Default at most 50 steps; a start close to the solution asks for an absolute
    /// tolerance.
    pub stop: StopCriteria,
    /// What solves for a direction. Default GMRES.
    pub linear: LinearSolver,
    /// The most steps for one direction. Default 1000.
    pub max_linear_iterations: usize,
    /// How exact a direction is. Default [`Forcing::default`].
    pub forcing: Forcing,
    /// How far to go. Default [`LineSearch::default`].
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

/// The forcing term η: a direction d is exact enough where |R(u) - R'(u) d| ≤ η |R(u)|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forcing {
    /// The same for every step, above 0 and below 1. Small ones give quadratic convergence.
    Fixed(f64),
    /// As exact as the last step was good: η = 0.9 (|R(u)| / |R(u) before|)², but not far below 0.9 times
    /// the square of the η before, nor so small that the target would be missed by far in vain.
    /// Convergence stays quadratic. Eisenstat and Walker, Choosing the forcing terms in an inexact
    /// Newton method, SIAM Journal on Scientific Computing 17, 1996, choice 2 with its safeguard;
    /// the last bound is of Kelley, Solving Nonlinear Equations with Newton's Method, 2003, section 3.2.
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

/// How far to go along a direction d: the first of α = 1 and shorter ones for which
/// |R(u - α d)| ≤ (1 - decrease · α) |R(u)|. A residual that is no finite number is not small enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineSearch {
    /// The most times that a step is made shorter, by a half or more. Default 25; 0 takes full steps
    /// or none.
    pub max_cuts: usize,
    /// The least decrease, from 0 to below 1. Default 1e-4.
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
    /// Fails where a parameter makes no sense; the tolerances are for others to check.
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
