//! Iterations of a linear or nonlinear problem.

use super::age::Age;
use super::assembled::{LinearPreconditioner, NewtonEquation};
use super::boundary_values::BoundaryValues;
use super::multigrid::{MakeMultigrid, chosen_multigrid, linear_multigrid};
use super::newton::{Equations, Extension};
use super::null_space::{NullSpace, WeakFunction};
use super::patience::{DirectionsWatch, Patience, Watch};
use super::settling::Continued;
use super::{
    Constrained, Method, PreconditionerChoice, PreconditionerKind, PreconditionerReason,
    ProblemError, SolverParams,
};
use crate::operator::Backend;
use crate::solve::krylov::{self, KrylovWorkspace};
use crate::solve::newton::{self, Forcing, NewtonParams, NewtonWorkspace, NonlinearProblem};
use crate::solve::{
    History, Iteration, LinearOperator as _, Monitor, SolveError, SolveInfo, StopCriteria,
    StopReason, System,
};
use crate::vector::{Projector, VectorOps, download_f64, upload_f64};
use crate::{Number, Operator};
use femto_fem::space::{Block, Constraints};
use femto_kernel::scalar::Precision;
use femto_platform::device::Buffer;
use std::ops::ControlFlow;

/// Iterations with a preconditioner on trial that may pass without progress: cycles that converge slowly, but
/// in the end faster than Jacobi, took up to 95 (`docs/multigrid.md`).
pub(super) const MAX_STALLED: usize = 150;

/// Tolerance for extending the boundary values, relative to the residual at zero.
const EXTENSION: f64 = 1e-3;

/// Steps of Newton's method each time it goes on.
const MORE_STEPS: usize = 10;

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

fn history(outcome: &mut Result<SolveInfo, SolveError>) -> &mut History {
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

    /// Newton's method on L-vectors, with the equation's Jacobian. If watched directions are slow, another
    /// preconditioner takes those from the last iterate on.
    pub(super) fn newton(
        &self,
        (equation, choice): (&mut NewtonEquation<T, B>, &mut PreconditionerChoice),
        monitor: &mut dyn Monitor,
    ) -> Result<Outcome, ProblemError> {
        let (device, dofs) = (self.device, self.operator.dofs());
        let mut params = self.solver.newton(equation.krylov, T::PRECISION);
        if self.operator.is_affine() {
            // One direction leads to the solution.
            let least = params.stop.relative_tolerance.max(T::EPSILON);
            params.forcing = Forcing::Fixed((0.5 * least).min(0.5));
        }
        let most = params.stop.max_iterations;
        let mut workspace = NewtonWorkspace::new(device, dofs, &params)?;
        let watched = self.multigrid.filter(|_| choice.is_watched());
        let patience = watched.map(|(_, patience)| patience);
        let mut watch = DirectionsWatch::new(monitor, patience);
        let mut equations = Equations {
            device,
            operator: self.operator,
            jacobian: &mut equation.jacobian,
            is_at_iterate: false,
            multigrid: &mut equation.multigrid,
            jacobi: None,
            b: self.b,
            loads: device.norm(self.b)?,
            forces: 0.0,
            projector: self.projector,
            choice,
            age: Age::default(),
        };
        let mut u = match self.start {
            Some(_) => self.with_boundary_values()?,
            None => loop {
                let extended =
                    self.extended(&mut equations, &mut workspace, &params, &mut watch)?;
                match (extended, watch.slow.take()) {
                    (_, Some(slow)) => {
                        watch.go_on(0);
                        self.take_multigrid(&mut equations, slow)?;
                    }
                    (Ok(u), None) => {
                        watch.begin();
                        break u;
                    }
                    (Err(interruption), None) => {
                        return Ok(Outcome {
                            x: download_f64(device, &self.with_boundary_values()?)?,
                            result: Err(interruption),
                            settling: None,
                            undecided: None,
                        });
                    }
                }
            },
        };
        let mut before: Option<History> = None;
        let mut continued = Continued::new(self.solver, params.stop.relative_tolerance);
        loop {
            let mut outcome = newton::solve(
                device,
                &mut equations,
                &mut u,
                &mut workspace,
                &params,
                &mut watch,
            );
            if let Some(before) = before.take() {
                history(&mut outcome).continue_from(before);
            }
            match (outcome, watch.slow.take()) {
                (Err(error), Some(slow))
                    if error.reason == StopReason::Interrupted && !continued.is_good() =>
                {
                    self.take_multigrid(&mut equations, slow)?;
                    watch.go_on(error.iterations());
                    params.stop.max_iterations = most - error.iterations();
                    before = Some(error.history);
                }
                (mut outcome, _) => {
                    outcome = continued.outcome(device, &mut u, outcome);
                    // Near the solution zero the residual is only rounding, and u too.
                    let reason = outcome.as_ref().ok().map(|info| info.reason.clone());
                    let is_wanted = reason.is_some_and(|it| it != StopReason::Rounding);
                    // Checks that fail are left out, as of linear equations.
                    let mut estimate = |u: &_| {
                        let found = is_wanted.then(|| self.settling_of_newton(&mut equations, u));
                        found.and_then(Result::ok).flatten()
                    };
                    let mut settling = continued.change(estimate(&u));
                    if let Ok(info) = &outcome
                        && info.iterations() < most
                        && let Some(factor) = continued.factor(device, (&u, info), settling)
                    {
                        params.stop.relative_tolerance *= factor;
                        params.stop.max_iterations = MORE_STEPS.min(most - info.iterations());
                        watch.continue_after(info.iterations());
                        before = Some(info.history.clone());
                        continue;
                    }
                    let undecided = outcome.as_mut().ok().and_then(|info| {
                        let corrected = self.correct_newton(&mut equations, &mut u, info);
                        corrected.ok().flatten()
                    });
                    if undecided.is_some() {
                        let again = self.settling_of_newton(&mut equations, &u);
                        settling = continued.change(again.ok().flatten().filter(|_| is_wanted));
                    }
                    if equations.choice.kind != PreconditionerKind::Multigrid {
                        *equations.multigrid = None;
                    }
                    return Ok(Outcome {
                        x: download_f64(device, &u)?,
                        result: outcome,
                        settling,
                        undecided,
                    });
                }
            }
        }
    }

    /// Multigrid in place of Jacobi, which is slow, or Jacobi without end if there is none.
    fn take_multigrid(
        &self,
        equations: &mut Equations<'_, T, B>,
        slow: PreconditionerReason,
    ) -> Result<(), ProblemError> {
        let Some((multigrid, _)) = self.multigrid else {
            return Ok(());
        };
        *equations.choice = PreconditionerChoice::multigrid(slow);
        *equations.multigrid =
            chosen_multigrid(equations.choice, || multigrid(None, Precision::Fp32))?;
        equations.jacobi = None;
        Ok(())
    }

    /// The boundary values, extended inwards by the Jacobian at zero, or by zeros if that fails. If the monitor stops it,
    /// the interruption.
    fn extended(
        &self,
        equations: &mut Equations<'_, T, B>,
        workspace: &mut NewtonWorkspace<T, B>,
        params: &NewtonParams,
        monitor: &mut dyn Monitor,
    ) -> Result<Result<B::Buffer<T>, SolveError>, ProblemError> {
        let mut u = self.with_boundary_values()?;
        if self.boundary_values.are_zero() {
            return Ok(Ok(u));
        }
        let zero = self.device.zeros(self.operator.dofs())?;
        if equations.linearize(&zero).is_err() {
            return Ok(Ok(u));
        }
        let roughly = NewtonParams {
            stop: StopCriteria {
                relative_tolerance: EXTENSION,
                max_iterations: 1,
                ..params.stop
            },
            forcing: Forcing::Fixed(EXTENSION / 2.0),
            ..*params
        };
        let mut directions = |iteration: Iteration| match iteration.is_direction {
            true => monitor.record(iteration),
            false => ControlFlow::Continue(()),
        };
        let mut extension = Extension(equations);
        match newton::solve(
            self.device,
            &mut extension,
            &mut u,
            workspace,
            &roughly,
            &mut directions,
        ) {
            Ok(_) => Ok(Ok(u)),
            Err(mut error) if error.reason == StopReason::Interrupted => {
                // They are not those of the problem.
                error.history.residuals.clear();
                Ok(Err(error))
            }
            Err(_) => Ok(Ok(self.with_boundary_values()?)),
        }
    }

    /// The initial iterate with the boundary values: an L-vector.
    fn with_boundary_values(&self) -> Result<B::Buffer<T>, ProblemError> {
        let mut u = match self.start {
            Some(start) => start.to_vec(),
            None => vec![0.0; self.operator.dofs()],
        };
        self.boundary_values.insert(self.constraints, &mut u);
        Ok(upload_f64(self.device, &u)?)
    }
}
