//! Steps of Newton's method for a nonlinear problem.

use super::age::Age;
use super::assembled::NewtonEquation;
use super::chosen::chosen_multigrid;
use super::iterate::{Discrete, Outcome, history};
use super::newton::{Equations, Extension};
use super::patience::DirectionsWatch;
use super::settling::Continued;
use super::{PreconditionerChoice, PreconditionerKind, PreconditionerReason, ProblemError};
use crate::Number;
use crate::operator::Backend;
use crate::solve::newton::{self, Forcing, NewtonParams, NewtonWorkspace, NonlinearProblem};
use crate::solve::{History, Iteration, Monitor, SolveError, StopCriteria, StopReason};
use crate::vector::{VectorOps, download_f64, upload_f64};
use femto_kernel::scalar::Precision;
use std::ops::ControlFlow;

/// Tolerance for extending the boundary values, relative to the residual at zero.
const EXTENSION: f64 = 1e-3;

/// Steps of Newton's method each time it goes on.
const MORE_STEPS: usize = 10;

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
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
