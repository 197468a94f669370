//! When conjugate gradients stop.

use super::{CgFailure, Reason};

/// When conjugate gradients stop: |r| ≤ max(relative tolerance · |b|, absolute tolerance), or after
/// so many iterations.
///
/// Vectors of `f32` reach relative tolerances of about 1e-6 at best, the less so the worse the
/// condition of the matrix; [`CgFailure::Stagnated`] says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgParams {
    /// Relative to the norm of the right-hand side. Default 1e-8.
    pub relative_tolerance: f64,
    /// In the units of the right-hand side. Default 0.
    pub absolute_tolerance: f64,
    /// The most steps that are taken. Default 1000.
    pub max_iterations: usize,
}

impl Default for CgParams {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-8,
            absolute_tolerance: 0.0,
            max_iterations: 1000,
        }
    }
}

impl CgParams {
    /// Most iterations whose residuals get their space before the first; beyond, it grows.
    const PREALLOCATED: usize = 100_000;

    pub(super) fn check(&self) -> Result<(), CgFailure> {
        let tolerances = [
            ("relative", self.relative_tolerance),
            ("absolute", self.absolute_tolerance),
        ];
        for (name, value) in tolerances {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(CgFailure::InvalidTolerance { name, value });
            }
        }
        Ok(())
    }

    pub(super) fn history(&self) -> Vec<f64> {
        Vec::with_capacity(self.max_iterations.min(Self::PREALLOCATED) + 1)
    }

    /// The norm of the residual at which to stop.
    pub(super) fn target(&self, b_norm: f64) -> f64 {
        (self.relative_tolerance * b_norm).max(self.absolute_tolerance)
    }

    /// Which of the tolerances is the target.
    pub(super) fn reason(&self, b_norm: f64) -> Reason {
        if self.relative_tolerance * b_norm >= self.absolute_tolerance {
            Reason::Relative
        } else {
            Reason::Absolute
        }
    }
}
