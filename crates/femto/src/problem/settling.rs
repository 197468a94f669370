//! Going on with a lower tolerance, where the largest loads hide what is left to do elsewhere.

use super::iterate::Discrete;
use super::newton::Equations;
use super::{Constrained, Method, ProblemError, SolverParams};
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::newton::NonlinearProblem as _;
use crate::solve::{Preconditioning, SolveError, SolveInfo, StopReason};
use crate::vector::VectorOps;
use femto_platform::device::{Buffer, DeviceError};

/// The change of the solution, relative to it and to the tolerance, above which the solver goes on.
const SETTLED: f64 = 10.0;

/// How often it goes on.
const MAX_RUNS: usize = 4;

/// The smallest factor by which it lowers the tolerance each time.
const SMALLEST: f64 = 1e-4;

/// Continued runs of a solver with lower tolerances, if none is given.
pub(super) struct Continued<T: Number, B: Backend> {
    /// The tolerance; `None` if it is given.
    tolerance: Option<f64>,
    runs: usize,
    /// The solution before this run, and how it was found.
    good: Option<(B::Buffer<T>, SolveInfo)>,
    /// How much the last run changed the solution, relative to it.
    changed: f64,
}

impl<T: Number, B: Backend + VectorOps<T>> Continued<T, B> {
    pub(super) fn new(solver: &SolverParams, tolerance: f64) -> Self {
        Self {
            tolerance: solver.has_default_tolerance().then_some(tolerance),
            runs: 0,
            good: None,
            changed: 0.0,
        }
    }

    /// Whether there is a solution that met the tolerance.
    pub(super) fn is_good(&self) -> bool {
        self.good.is_some()
    }

    /// The most iterations of a linear solver's next run, after `done` of them.
    pub(super) fn most(&self, done: usize) -> usize {
        match self.good {
            Some(_) => 2 * done + 100,
            None => usize::MAX,
        }
    }

    /// The outcome of a run that ended at `x`. After a solution that met the tolerance there is no failure: unless the residual
    /// is known to be smaller now, that solution is back.
    pub(super) fn outcome(
        &mut self,
        device: &B,
        x: &mut B::Buffer<T>,
        outcome: Result<SolveInfo, SolveError>,
    ) -> Result<SolveInfo, SolveError> {
        let Some((mut before, good)) = self.good.take() else {
            return outcome;
        };
        let (history, residual) = match outcome {
            Ok(info) => (info.history, Some(info.true_residual)),
            Err(error) => {
                self.runs = MAX_RUNS;
                let residual = known_residual(&error);
                let is_smaller = residual.is_some_and(|it| it < good.true_residual);
                (error.history, residual.filter(|_| is_smaller))
            }
        };
        let restored = match residual {
            Some(_) => self.measure(device, x, &mut before),
            None => device.copy(&before, x),
        };
        match restored {
            Ok(()) => Ok(SolveInfo {
                history,
                true_residual: residual.unwrap_or(good.true_residual),
                reason: good.reason,
            }),
            Err(error) => Err(SolveError {
                reason: error.into(),
                history,
            }),
        }
    }

    /// Finds how much the run changed the solution, in place of what it was.
    fn measure(
        &mut self,
        device: &B,
        x: &B::Buffer<T>,
        before: &mut B::Buffer<T>,
    ) -> Result<(), DeviceError> {
        device.axpy(-1.0, x, before)?;
        let (change, size) = (device.norm(before)?, device.norm(x)?);
        self.changed = if size > 0.0 { change / size } else { 0.0 };
        Ok(())
    }

    /// How much the solution may still change, relative to it: by an estimate, or as much as in the last run.
    pub(super) fn change(&self, estimate: Option<f64>) -> Option<f64> {
        estimate.map(|estimate| estimate.max(self.changed))
    }

    /// The factor of the tolerance for another run from the solution `x`, which may still change by `change`; `None` if there
    /// is none.
    pub(super) fn factor(
        &mut self,
        device: &B,
        (x, info): (&B::Buffer<T>, &SolveInfo),
        change: Option<f64>,
    ) -> Option<f64> {
        let wanted = SETTLED * self.tolerance?;
        let change = change.filter(|&it| it > wanted && self.runs < MAX_RUNS)?;
        let mut before = device.zeros(x.len()).ok()?;
        device.copy(x, &mut before).ok()?;
        self.runs += 1;
        self.good = Some((before, info.clone()));
        Some((0.1 * wanted / change).max(SMALLEST))
    }
}

/// The norm of the residual at the last iterate of a run that failed, if it is known: that of conjugate gradients is not.
fn known_residual(error: &SolveError) -> Option<f64> {
    use StopReason::{Direction, Interrupted, LineSearch, NotConverged};
    match error.reason {
        StopReason::Stagnated { true_residual, .. } => Some(true_residual),
        NotConverged { .. } | LineSearch { .. } | Direction(_) | Interrupted => {
            let last = error.history.residuals.last().copied();
            last.filter(|_| error.history.method == Method::Newton)
        }
        _ => None,
    }
}

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
    /// |D⁻¹ r| of the residual r, with the operator's diagonal D, relative to the size of the solution; `None` if that is
    /// zero.
    pub(super) fn settling(
        &self,
        operator: &Constrained<'_, T, B>,
        (r, size): (&mut B::Buffer<T>, f64),
    ) -> Result<Option<f64>, OperatorError> {
        let mut d = self.device.zeros(r.len())?;
        operator.diagonal(&mut d)?;
        self.device.invert(&mut d)?;
        self.device.multiply(&d, r)?;
        Ok((size > 0.0).then_some(self.device.norm(r)? / size))
    }

    /// |M⁻¹ r| of the residual r at u, with the preconditioner M of the last direction, relative to the size of u; `None` if that
    /// is zero. With multigrid the error is several times as large.
    pub(super) fn settling_of_newton(
        &self,
        equations: &mut Equations<'_, T, B>,
        u: &B::Buffer<T>,
    ) -> Result<Option<f64>, ProblemError> {
        let mut r = self.device.zeros(u.len())?;
        equations.residual(u, &mut r)?;
        equations.move_to(u)?;
        let size = self.device.norm(u)?;
        Ok(match equations.preconditioning() {
            Ok(Preconditioning::Any(mut cycle)) => {
                let mut z = self.device.zeros(u.len())?;
                cycle(&r, &mut z)?;
                (size > 0.0).then_some(self.device.norm(&z)? / size)
            }
            _ => self.settling(&equations.constrained_jacobian(), (&mut r, size))?,
        })
    }
}
