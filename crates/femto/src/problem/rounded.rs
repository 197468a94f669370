//! Residuals of linear equations that are only rounding.

use super::iterate::Discrete;
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::cg::SLACK;
use crate::solve::{LinearOperator, SolveError, SolveInfo, StopReason};
use crate::vector::{VectorOps, download_f64, upload_f64};
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
        let rounding = self.rounding(operator, (x, true_residual));
        let rounding = rounding.unwrap_or(0.0);
        match true_residual <= SLACK * rounding {
            true => Ok(SolveInfo {
                history: error.history,
                true_residual,
                reason: StopReason::Rounding,
            }),
            false => Err(error),
        }
    }

    /// |A δ| for changes δ of the entries of x by up to half a unit in the last place; 0 if the residual is too large beside the
    /// loads. Of these the part of constants, which Robin terms and the like may make large, does not count.
    fn rounding(
        &self,
        operator: &dyn LinearOperator<T, B>,
        (x, residual): (&B::Buffer<T>, f64),
    ) -> Result<f64, OperatorError> {
        let (device, len) = (self.device, x.len());
        let [mut y, mut product] = [device.zeros(len)?, device.zeros(len)?];
        let mut constants = download_f64(device, x)?;
        let space = &self.weak.0[0].space;
        let mut sums = vec![(0.0, 0.0); space.components()];
        for (entry, value) in constants.iter().enumerate() {
            let (sum, count) = &mut sums[space.node_of(entry).1];
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        for (entry, value) in constants.iter_mut().enumerate() {
            let (sum, count) = sums[space.node_of(entry).1];
            *value = sum / count;
        }
        let constants = upload_f64(device, &constants)?;
        VectorOps::<T>::copy(device, &constants, &mut y)?;
        self.projector.project(device, &mut y)?;
        operator.apply(&y, &mut product)?;
        device.xpby(self.b, -1.0, &mut product)?;
        let loads = device.norm(&product)?.min(device.norm(self.b)?);
        if residual > LARGEST * loads {
            return Ok(0.0);
        }
        device.randomise(SEED, &mut y)?;
        device.multiply(x, &mut y)?;
        operator.apply(&y, &mut product)?;
        Ok(0.5 * T::EPSILON * device.norm(&product)?)
    }
}
