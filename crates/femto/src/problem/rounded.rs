//! Residuals of linear equations that are only rounding.

use super::iterate::Discrete;
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::cg::SLACK;
use crate::solve::{LinearOperator, SolveError, SolveInfo, StopReason};
use crate::vector::VectorOps;
use femto_kernel::vector::random;
use femto_platform::device::Buffer;

/// The largest residual, relative to the loads, that may pass for rounding: loads that rounding hides are not solved for.
const LARGEST: f64 = 0.05;

/// Seed of the rounding errors.
const SEED: u32 = 5;

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
    /// The outcome of a linear solver. With the default tolerance, which on fine meshes the precision of the vectors cannot
    /// reach, a residual is small enough if rounding the solution's own entries would make as large a one.
    pub(super) fn unless_rounding(
        &self,
        operator: &dyn LinearOperator<T, B>,
        x: &B::Buffer<T>,
        outcome: Result<SolveInfo, SolveError>,
    ) -> Result<SolveInfo, SolveError> {
        let error = match outcome {
            Err(error) if self.solver.has_default_tolerance() => error,
            outcome => return outcome,
        };
        let StopReason::Stagnated { true_residual, .. } = error.reason else {
            return Err(error);
        };
        let is_small = true_residual <= LARGEST * error.history.reference;
        let rounding = match is_small {
            true => self.rounding(operator, x).unwrap_or(0.0),
            false => 0.0,
        };
        match true_residual <= SLACK * rounding {
            true => Ok(SolveInfo {
                history: error.history,
                true_residual,
                reason: StopReason::Rounding,
            }),
            false => Err(error),
        }
    }

    /// |A δ| for changes δ of the entries of x by up to half a unit in the last place.
    fn rounding(
        &self,
        operator: &dyn LinearOperator<T, B>,
        x: &B::Buffer<T>,
    ) -> Result<f64, OperatorError> {
        let (device, half) = (self.device, 0.5 * T::EPSILON);
        let changes = (0..x.len()).map(|i| T::from_f64(half * random::entry(SEED, i as u32)));
        let mut changes = device.upload(&changes.collect::<Vec<_>>())?;
        device.multiply(x, &mut changes)?;
        let mut product = device.zeros(x.len())?;
        operator.apply(&changes, &mut product)?;
        Ok(device.norm(&product)?)
    }
}
