//! The discrete equations of a problem, and iterations of linear ones.

use super::assembled::LinearPreconditioner;
use super::boundary_values::BoundaryValues;
use super::chosen::linear_multigrid;
use super::multigrid::MakeMultigrid;
use super::null_space::{NullSpace, WeakFunction};
use super::patience::{Patience, Watch};
use super::settling::Continued;
use super::{
    Constrained, Method, PreconditionerChoice, PreconditionerReason, ProblemError, SolverParams,
};
use crate::operator::Backend;
use crate::solve::krylov::{self, KrylovWorkspace};
use crate::solve::{
    History, LinearOperator as _, Monitor, SolveError, SolveInfo, StopReason, System,
};
use crate::vector::{Projector, VectorOps, download_f64, upload_f64};
use crate::{Number, Operator};
use femto_fem::space::{Block, Constraints};
use femto_platform::device::Buffer;

/// Iterations with a preconditioner on trial that may pass without progress: cycles that converge slowly, but
/// in the end faster than Jacobi, took up to 95 (`docs/multigrid.md`).
pub(super) const MAX_STALLED: usize = 150;

/// The discrete equations and their solver, for all methods.
pub(super) struct Discrete<'a, T: Number, B: Backend> {
    pub(super) device: &'a B,
    pub(super) operator: &'a Operator<T, B>,
    pub(super) solver: &'a SolverParams,
    /// An L-vector; for linear equations projected.
    pub(super) b: &'a B::Buffer<T>,
    pub(super) constraints: &'a Constraints,
    pub(super) projector: &'a Projector<T, B>,
    /// Those of the equations' solution.
    pub(super) boundary_values: &'a BoundaryValues,
    /// An L-vector.
    pub(super) start: Option<&'a [f64]>,
    /// Makes multigrid, if Jacobi is only taken as long as it is not slow.
    pub(super) multigrid: Option<(&'a MakeMultigrid<'a, T, B>, Patience)>,
    /// What the constraints leave free.
    pub(super) null_space: Option<&'a NullSpace>,
    /// The blocks of the space, and constants and motions that the operator holds weakly, if it is linear and symmetric.
    pub(super) weak: (&'a [Block], &'a [WeakFunction]),
    /// Whether fields or terms on facets may make some rows far larger than others.
    pub(super) may_be_uneven: bool,
}

/// The outcome of the iterations.
pub(super) struct Outcome {
    /// The last iterate, an L-vector.
    pub(super) x: Vec<f64>,
    pub(super) result: Result<SolveInfo, SolveError>,
    /// As [`Solution::settling`](super::Solution::settling).
    pub(super) settling: Option<f64>,
    /// As [`Solution::undecided`](super::Solution::undecided).
    pub(super) undecided: Option<f64>,
}

pub(super) fn history(outcome: &mut Result<SolveInfo, SolveError>) -> &mut History {
    match outcome {
        Ok(info) => &mut info.history,
        Err(error) => &mut error.history,
    }
}

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
    /// Conjugate gradients or GMRES on L-vectors that are zero where they are constrained. If a preconditioner on
    /// trial fails, or a watched one is slow, another one goes on from the last iterate: each step of conjugate
    /// gradients minimises the error's energy along its direction, whatever the preconditioner, so that no iterate
    /// is better.
    pub(super) fn krylov(
        &self,
        method: Method,
        (preconditioner, choice): (&mut LinearPreconditioner<T, B>, &mut PreconditionerChoice),
        monitor: &mut dyn Monitor,
    ) -> Result<Outcome, ProblemError> {
        let size = self.b.len();
        let mut x = match self.start {
            Some(start) => upload_f64(self.device, start)?,
            None => self.device.zeros(size)?,
        };
        self.projector.project(self.device, &mut x)?;
        let mut params = self.solver.krylov(method, T::PRECISION);
        let mut continued = Continued::new(self.solver, params.stop.relative_tolerance);
        let mut workspace = KrylovWorkspace::new(self.device, size, params.solver)?;
        let operator = Constrained::new(self.operator, self.projector);
        let mut before: Option<History> = None;
        loop {
            let done = before.as_ref().map_or(0, History::iterations);
            let mut run = params;
            run.stop.max_iterations = (run.stop.max_iterations - done).min(continued.most(done));
            if choice.is_on_trial() {
                run.stop.max_stalled = MAX_STALLED;
            }
            let most = run.stop.max_iterations;
            let watched = self.multigrid.filter(|_| choice.is_watched());
            let patience = watched.map(|(_, patience)| (patience, most));
            let mut watch = Watch::new(monitor, done, patience);
            let mut outcome = {
                let mut system = System {
                    device: self.device,
                    operator: &operator,
                    preconditioning: preconditioner.preconditioning()?,
                };
                let workspace = &mut workspace;
                krylov::solve(&mut system, self.b, &mut x, workspace, &run, &mut watch)
            };
            let slow = watch.slow;
            let history = history(&mut outcome);
            if let Some(before) = before.take() {
                history.continue_from(before);
            }
            let iterations = history.iterations();
            match (outcome, slow, self.multigrid) {
                (Err(error), Some(slow), Some((multigrid, _))) if !continued.is_good() => {
                    *choice = PreconditionerChoice::multigrid(slow);
                    if let Some(made) =
                        linear_multigrid(choice, |default| multigrid(self.null_space, default))?
                    {
                        *preconditioner = LinearPreconditioner::Multigrid(made);
                    }
                    before = Some(error.history);
                }
                (Err(error), ..)
                    if choice.is_on_trial()
                        && error.reason.may_be_the_preconditioners()
                        && !continued.is_good() =>
                {
                    let SolveError {
                        reason: why,
                        history,
                    } = error;
                    *preconditioner = match operator.jacobi() {
                        Ok(jacobi) => LinearPreconditioner::Jacobi(jacobi),
                        Err(reason) => {
                            let error = SolveError { reason, history };
                            return Ok(Outcome {
                                x: download_f64(self.device, &x)?,
                                result: Err(error),
                                settling: None,
                                undecided: None,
                            });
                        }
                    };
                    *choice = PreconditionerChoice::jacobi(PreconditionerReason::GaveUp {
                        iterations: iterations - done,
                        reason: why,
                    });
                    before = Some(history);
                }
                (outcome, ..) => {
                    let outcome = match continued.is_good() {
                        true => outcome,
                        false => self.unless_rounding(&operator, &x, outcome),
                    };
                    let mut outcome = continued.outcome(self.device, &mut x, outcome);
                    let residual = |x: &_| {
                        let mut r = self.device.zeros(size)?;
                        operator.apply(x, &mut r)?;
                        self.device.xpby(self.b, -1.0, &mut r)?;
                        Ok(r)
                    };
                    let BoundaryValues { entries, slanted } = self.boundary_values;
                    let given: f64 = entries.iter().chain(slanted).map(|it| it * it).sum();
                    let of_solution = self.device.norm(&x)?.hypot(given.sqrt());
                    // Checks that fail, for lack of memory say, are left out: there is a solution.
                    let estimate = |x: &_, is_wanted: bool| {
                        let found = is_wanted.then(|| {
                            let mut r = residual(x)?;
                            self.settling(&operator, (&mut r, of_solution))
                        });
                        found.and_then(Result::ok).flatten()
                    };
                    let is_wanted = outcome.is_ok() && self.may_be_uneven;
                    let mut settling = continued.change(estimate(&x, is_wanted));
                    if let Ok(info) = &outcome
                        && info.reason != StopReason::Rounding
                        && let Some(factor) = continued.factor(self.device, (&x, info), settling)
                    {
                        params.stop.relative_tolerance *= factor;
                        before = Some(info.history.clone());
                        continue;
                    }
                    let undecided = outcome.as_mut().ok().and_then(|info| {
                        self.correct_linear(method, residual, (&mut x, of_solution), info)
                    });
                    if undecided.is_some() {
                        settling = continued.change(estimate(&x, is_wanted));
                    }
                    return Ok(Outcome {
                        x: download_f64(self.device, &x)?,
                        result: outcome,
                        settling,
                        undecided,
                    });
                }
            }
        }
    }
}
