//! Going on with a lower tolerance, where the largest loads hide what is left to do elsewhere.

use super::iterate::Discrete;
use super::newton::Equations;
use super::{Constrained, ProblemError, SolverParams};
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::newton::NonlinearProblem as _;
use crate::solve::{Preconditioning, SolveError, SolveInfo, StopReason};
use crate::vector::VectorOps;
use femto_platform::device::Buffer;

/// The change of the solution by a step of an iteration, relative to the solution and to the tolerance, above which the solver
/// goes on.
const SETTLED: f64 = 10.0;

/// How often it goes on.
const RUNS: usize = 3;

/// The most by which it lowers the tolerance each time.
const LEAST: f64 = 1e-4;

/// Whether a solver without a given tolerance goes on.
pub(super) struct GoingOn {
    /// The tolerance; `None` if it is given.
    tolerance: Option<f64>,
    runs: usize,
    /// The solution that met the tolerance before.
    good: Option<SolveInfo>,
}

impl GoingOn {
    pub(super) fn new(solver: &SolverParams, tolerance: f64) -> Self {
        Self {
            tolerance: solver.has_default_tolerance().then_some(tolerance),
            runs: 0,
            good: None,
        }
    }

    /// The outcome of a run: a solution that met the tolerance stays good if a lower one is not met, unless the run was stopped.
    pub(super) fn outcome(
        &mut self,
        outcome: Result<SolveInfo, SolveError>,
    ) -> Result<SolveInfo, SolveError> {
        let error = match (outcome, &self.good) {
            (Err(error), Some(_)) if error.reason != StopReason::Interrupted => error,
            (outcome, _) => return outcome,
        };
        let good = self.good.take().ok_or(error.clone())?;
        let last = error.history.residuals.last().copied();
        Ok(SolveInfo {
            true_residual: match error.reason {
                StopReason::Stagnated { true_residual, .. } => true_residual,
                _ => last.unwrap_or(good.true_residual),
            },
            history: error.history,
            reason: good.reason,
        })
    }

    /// The factor of the tolerance for another run after this one, after which a step of an iteration would change the
    /// solution by `change` of its size; `None` if there is none.
    pub(super) fn factor(&mut self, info: &SolveInfo, change: Option<f64>) -> Option<f64> {
        let wanted = SETTLED * self.tolerance?;
        let change = change.filter(|&change| change > wanted && self.runs < RUNS)?;
        self.runs += 1;
        self.good = Some(info.clone());
        Some((0.1 * wanted / change).max(LEAST))
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

    /// |M⁻¹ r| of the residual r at u, with the preconditioner M, relative to the size of u; `None` if that is zero. With
    /// multigrid it is about as large as the error.
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
