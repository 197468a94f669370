//! How Newton's method goes about it.

use super::{NewtonFailure, Reason};

/// How Newton's method goes about it, and when it stops: |R(u)| ≤ max(relative tolerance · |R(u₀)|,
/// absolute tolerance), or after so many iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonParams {
    /// Relative to the norm of the residual of the start. Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the residual. Default 0; a start close to the solution asks for more.
    pub absolute_tolerance: f64,
    /// The most steps that are taken. Default 50.
    pub max_iterations: usize,
    /// What solves for a direction. Default GMRES.
    pub linear: LinearSolver,
    /// How exactly. Default [`Forcing::default`].
    pub forcing: Forcing,
    /// How far to go. Default [`LineSearch::default`].
    pub line_search: LineSearch,
}

impl Default for NewtonParams {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-8,
            absolute_tolerance: 0.0,
            max_iterations: 50,
            linear: LinearSolver::default(),
            forcing: Forcing::default(),
            line_search: LineSearch::default(),
        }
    }
}

/// What solves for Newton's direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinearSolver {
    /// Conjugate gradients, where the Jacobian is symmetric and positive definite.
    Cg {
        /// The most steps for one direction.
        max_iterations: usize,
    },
    /// GMRES, for any Jacobian.
    Gmres {
        /// The most steps for one direction.
        max_iterations: usize,
        /// Steps between two starts, as in [`GmresParams`](crate::solve::gmres::GmresParams).
        restart: usize,
    },
}

impl Default for LinearSolver {
    fn default() -> Self {
        Self::Gmres {
            max_iterations: 1000,
            restart: 30,
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
    pub(super) fn check(&self) -> Result<(), NewtonFailure> {
        let between = |value: f64, least: f64, below: f64| value >= least && value < below;
        let tolerance = |name, value| (name, value, between(value, 0.0, f64::INFINITY));
        let forcing = |name, value| (name, value, between(value, f64::MIN_POSITIVE, 1.0));
        let [first, most] = match self.forcing {
            Forcing::Fixed(fixed) => [fixed, fixed],
            Forcing::EisenstatWalker { first, most } => [first, most],
        };
        let decrease = self.line_search.decrease;
        let all = [
            tolerance("relative tolerance", self.relative_tolerance),
            tolerance("absolute tolerance", self.absolute_tolerance),
            forcing("forcing term of the first step", first),
            forcing("largest forcing term", most),
            ("least decrease", decrease, between(decrease, 0.0, 1.0)),
        ];
        for (name, value, good) in all {
            if !good {
                return Err(NewtonFailure::InvalidParameter { name, value });
            }
        }
        Ok(())
    }

    /// The norm of the residual at which to stop, and which of the tolerances that is.
    pub(super) fn target(&self, start: f64) -> (f64, Reason) {
        let relative = self.relative_tolerance * start;
        if relative > self.absolute_tolerance {
            (relative, Reason::Relative)
        } else {
            (self.absolute_tolerance, Reason::Absolute)
        }
    }
}
