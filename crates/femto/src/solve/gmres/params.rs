//! When GMRES stops, and how much it remembers.

use super::{GmresFailure, Reason};

/// When GMRES stops: |r| ≤ max(relative tolerance · |b|, absolute tolerance), or after so many
/// iterations; and after how many steps it starts again.
///
/// Vectors of `f32` reach relative tolerances of about 1e-6 at best, the less so the worse the
/// condition of the matrix; [`GmresFailure::Stagnated`] says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GmresParams {
    /// Relative to the norm of the right-hand side. Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the right-hand side. Default 0.
    pub absolute_tolerance: f64,
    /// The most steps that are taken, in all. Default 1000.
    pub max_iterations: usize,
    /// Steps after which x is brought up to date and the basis built anew; at least 1. A vector of
    /// the workspace for each, and per step work that grows with their number: more of them need
    /// fewer steps. Default 30.
    pub restart: usize,
}

impl Default for GmresParams {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-8,
            absolute_tolerance: 0.0,
            max_iterations: 1000,
            restart: 30,
        }
    }
}

impl GmresParams {
    /// Most iterations whose residuals get their space before the first; beyond, it grows.
    const PREALLOCATED: usize = 100_000;

    pub(super) fn check(&self) -> Result<(), GmresFailure> {
        let tolerances = [
            ("relative", self.relative_tolerance),
            ("absolute", self.absolute_tolerance),
        ];
        for (name, value) in tolerances {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(GmresFailure::InvalidTolerance { name, value });
            }
        }
        match self.restart {
            0 => Err(GmresFailure::InvalidRestart),
            _ => Ok(()),
        }
    }

    /// Steps between two starts for systems of `size` unknowns: more than there are unknowns are
    /// never needed.
    pub(super) fn restart(&self, size: usize) -> usize {
        self.restart.min(size)
    }

    pub(super) fn history(&self) -> Vec<f64> {
        Vec::with_capacity(self.max_iterations.min(Self::PREALLOCATED) + 1)
    }

    /// The norm of the residual at which to stop, and which of the tolerances that is.
    pub(super) fn target(&self, b_norm: f64) -> (f64, Reason) {
        let relative = self.relative_tolerance * b_norm;
        if relative >= self.absolute_tolerance {
            (relative, Reason::Relative)
        } else {
            (self.absolute_tolerance, Reason::Absolute)
        }
    }
}
