//! Newton's method with directions from a Krylov solver.
//!
//! ```text
//! repeat until |R(u)| is small:
//!     solve R'(u) d = R(u) to |R(u) - R'(u) d| ≤ η |R(u)|
//!     u = u - α d  with the first α of 1, … for which |R(u - α d)| is small enough
//! ```
//! Dembo, Eisenstat and Steihaug, Inexact Newton methods, SIAM Journal on Numerical Analysis 19, 1982;
//! Eisenstat and Walker, Globally convergent inexact Newton methods, SIAM Journal on Optimization 4, 1994.
//! Norms are Euclidean. The Jacobian is defined only by its product with a vector ([`NonlinearProblem`]);
//! vectors stay on the device.
//!
//! If R has no value at a trial u (its residual is infinite or NaN: a logarithm of a negative number, an
//! element turned inside out), the step is shortened.

mod forcing;
mod line_search;
mod params;
mod problem;

pub use params::{Forcing, LineSearch, NewtonParams};
pub use problem::NonlinearProblem;

use super::cg::SLACK;
use super::krylov::{self, KrylovParams, KrylovWorkspace};
use super::monitor::{Recorder, check_underflow, finite};
use super::{Iteration, Method, Monitor, SolveError, SolveInfo, StopCriteria, StopReason, System};
use crate::Number;
use crate::vector::VectorOps;
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use forcing::Terms;
use line_search::Lengths;
use problem::Linearized;
use std::fmt;

/// One step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonStep {
    /// The forcing term η of its direction.
    pub forcing: f64,
    /// Steps of the linear solver.
    pub linear_iterations: usize,
    /// Whether the direction reached the requested accuracy.
    pub linear_converged: bool,
    /// The step length α; 1 is the full Newton step.
    pub length: f64,
}

/// The four vectors that the solver needs besides u, and those of its linear solver.
pub struct NewtonWorkspace<T: Number, D: Device> {
    /// R(u).
    r: D::Buffer<T>,
    direction: D::Buffer<T>,
    /// u - α d.
    trial: D::Buffer<T>,
    /// R(u - α d).
    trial_r: D::Buffer<T>,
    linear: KrylovWorkspace<T, D>,
}

impl<T: Number, D: Device> NewtonWorkspace<T, D> {
    /// Allocates for problems of `size` unknowns, with the linear solver of `params`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize, params: &NewtonParams) -> Result<Self, DeviceError> {
        Ok(Self {
            r: device.zeros(size)?,
            direction: device.zeros(size)?,
            trial: device.zeros(size)?,
            trial_r: device.zeros(size)?,
            linear: KrylovWorkspace::new(device, size, params.linear)?,
        })
    }

    #[cfg(test)]
    pub(super) fn vectors(&mut self) -> Vec<&mut D::Buffer<T>> {
        let own = [
            &mut self.r,
            &mut self.direction,
            &mut self.trial,
            &mut self.trial_r,
        ];
        own.into_iter().chain(self.linear.vectors()).collect()
    }
}

impl<T: Number, D: Device> fmt::Debug for NewtonWorkspace<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewtonWorkspace")
            .field("size", &self.r.len())
            .field("linear", &self.linear)
            .finish()
    }
}

/// The number of iterates whose forces set the scale. Those of a start far away are larger by orders of magnitude and must
/// not count for long; near the solution zero, where each step takes forces down by ten orders, the residual must come
/// within the rounding of the largest.
const RECENT: usize = 5;

/// What rounding leaves of recent forces, where those now are nothing beside them, as at the solution zero; else the
/// tolerance alone counts.
fn rounding<T: Number>(forces: f64, recent: [f64; RECENT]) -> f64 {
    let largest = recent.into_iter().fold(0.0, f64::max);
    match forces <= T::EPSILON.sqrt() * largest {
        true => T::EPSILON * largest,
        false => 0.0,
    }
}

/// Rounding, in units of the precision's ε, of sums of terms that cancel: a few for each of the products that make up an
/// entry.
const CANCELLED: f64 = 32.0;

/// Loads below this part of what rounding may leave at most change a solution less than rounding does.
const NOTHING: f64 = 1e-3;

/// The accuracy of the direction that tells how far an iterate is from the solution.
const ACCURATE: f64 = 1e-2;

/// A direction.
struct Direction {
    /// Linear solver steps that it took.
    linear_iterations: usize,
    /// Why it is less accurate than requested. It may be good enough.
    inexact: Option<SolveError>,
}

/// Solves R(u) = 0, starting from the contents of `u`.
///
/// # Errors
/// A [`SolveError`], with the history; `u` then holds the last iterate, whose residual is the smallest so
/// far.
pub fn solve<T: Number, D: VectorOps<T>>(
    device: &D,
    problem: &mut dyn NonlinearProblem<T, D>,
    u: &mut D::Buffer<T>,
    workspace: &mut NewtonWorkspace<T, D>,
    params: &NewtonParams,
    monitor: &mut dyn Monitor,
) -> Result<SolveInfo, SolveError> {
    let mut solver = Solver {
        device,
        problem,
        workspace,
        params,
        recorder: Recorder::new(Method::Newton, &params.stop, monitor),
    };
    let outcome = solver.run(u);
    solver.recorder.finish(outcome)
}

/// One run, with everything it borrows.
struct Solver<'a, T: Number, D: VectorOps<T>> {
    device: &'a D,
    problem: &'a mut dyn NonlinearProblem<T, D>,
    workspace: &'a mut NewtonWorkspace<T, D>,
    params: &'a NewtonParams,
    recorder: Recorder<'a>,
}

impl<T: Number, D: VectorOps<T>> Solver<'_, T, D> {
    fn check(&self, u: &D::Buffer<T>) -> Result<(), StopReason> {
        self.recorder.check()?;
        self.params.check()?;
        let size = self.problem.size();
        check_len("the start of the solution", u.len(), size)?;
        check_len("the workspace", self.workspace.r.len(), size)?;
        match self.workspace.linear.is_for(self.params.linear) {
            true => Ok(()),
            false => Err(StopReason::Workspace),
        }
    }

    /// Returns the norm of the residual.
    fn run(&mut self, u: &mut D::Buffer<T>) -> Result<f64, StopReason> {
        self.check(u)?;
        self.problem.residual(u, &mut self.workspace.r)?;
        let norm = self.device.norm(&self.workspace.r)?;
        let mut norm = finite(
            "the norm of the residual of the initial guess (`start`)",
            norm,
        )?;
        if norm == 0.0 && self.device.info().executes {
            check_underflow::<T, D>(self.device, &self.workspace.r)?;
        }
        let (start, mut recent) = (norm, [0.0_f64; RECENT]);
        let mut terms = Terms::new(self.params.forcing);
        loop {
            let forces = self.problem.forces(u, &mut self.workspace.trial)?;
            let forces = forces.filter(|forces| forces.is_finite()).unwrap_or(start);
            recent.rotate_left(1);
            recent[RECENT - 1] = forces;
            self.recorder.aim(forces, rounding::<T>(forces, recent));
            if self.recorder.record(norm)? {
                return Ok(norm);
            }
            self.recorder.allow_step()?;
            let forcing = terms.next(norm, self.recorder.target);
            let direction = self.direction(u, forcing)?;
            let (linear_iterations, linear_converged) =
                (direction.linear_iterations, direction.inexact.is_none());
            let length;
            (length, norm) = match self.step(u, norm, direction) {
                Err(reason @ (StopReason::LineSearch { .. } | StopReason::Direction(_))) => {
                    return self.rounded(u, (norm, forces), reason);
                }
                step => step?,
            };
            self.recorder.history.newton_steps.push(NewtonStep {
                forcing,
                linear_iterations,
                linear_converged,
                length,
            });
        }
    }

    /// The norm of a residual that no step reduces, if it is only what rounding leaves of terms that cancel, and near the
    /// target or, if the forces are no more than rounding either, near the solution.
    fn rounded(
        &mut self,
        u: &D::Buffer<T>,
        (norm, forces): (f64, f64),
        reason: StopReason,
    ) -> Result<f64, StopReason> {
        let size = self.problem.cancelling(u, &mut self.workspace.trial)?;
        let rounding = CANCELLED * T::EPSILON * size;
        // Terms without a value are no measure.
        if !(rounding.is_finite() && norm <= rounding) {
            return Err(reason);
        }
        let stagnated = StopReason::Stagnated {
            true_residual: norm,
            target: self.recorder.target,
        };
        let is_rounding = match &reason {
            StopReason::Direction(error) => matches!(error.reason, StopReason::Stagnated { .. }),
            _ => true,
        };
        // As linear solvers that start again from the residual.
        if is_rounding && norm <= SLACK * self.recorder.target {
            self.recorder.aim(forces, norm);
            return Ok(norm);
        }
        if forces > rounding {
            return Err(match is_rounding {
                true => stagnated,
                false => reason,
            });
        }
        // Loads below rounding are not nothing, unless they are nothing beside that too.
        let NewtonWorkspace { trial, trial_r, .. } = &mut *self.workspace;
        self.device.fill(0.0, trial)?;
        self.problem.residual(trial, trial_r)?;
        let loads = self.device.norm(trial_r)?;
        if loads.is_finite() && loads > NOTHING * rounding {
            return Err(stagnated);
        }
        // However small the residual, where hardly anything holds u it may hide a large error: the direction is that error.
        // Half of the digits of u must be right.
        let direction = match self.direction(u, ACCURATE) {
            Err(error) if error != StopReason::Interrupted => return Err(reason),
            direction => direction?,
        };
        let error = self.device.norm(&self.workspace.direction)?;
        let is_close =
            direction.inexact.is_none() && error <= T::EPSILON.sqrt() * self.device.norm(u)?;
        if !is_close {
            return Err(stagnated);
        }
        self.recorder.aim(size, rounding);
        Ok(norm)
    }

    /// Solves R'(u) d = R(u) to the relative tolerance `eta`, from d = 0; from the last iterate again if the problem
    /// replaces a preconditioner that failed or took long.
    fn direction(&mut self, u: &D::Buffer<T>, eta: f64) -> Result<Direction, StopReason> {
        self.problem.linearize(u)?;
        self.device.fill(0.0, &mut self.workspace.direction)?;
        let mut before = 0;
        loop {
            let solved = self.linear_solve(eta, before)?;
            let linear_iterations = before
                + match &solved {
                    Ok(info) => info.iterations(),
                    Err(error) => error.iterations(),
                };
            let inexact = match solved {
                Ok(info) => {
                    self.problem.solved(&info.history);
                    None
                }
                Err(error) => match error.reason {
                    StopReason::NotConverged { .. } | StopReason::NoProgress { .. }
                        if linear_iterations < self.params.max_linear_iterations
                            && self.problem.replace_preconditioner(u, &error)? =>
                    {
                        before = linear_iterations;
                        continue;
                    }
                    StopReason::NotConverged { .. }
                    | StopReason::NoProgress { .. }
                    | StopReason::Stagnated { .. } => Some(error),
                    StopReason::Interrupted | StopReason::Operator(_) => return Err(error.reason),
                    _ if error.reason.may_be_the_preconditioners()
                        && self.problem.replace_preconditioner(u, &error)? =>
                    {
                        before = linear_iterations;
                        continue;
                    }
                    _ => return Err(StopReason::Direction(Box::new(error))),
                },
            };
            return Ok(Direction {
                linear_iterations,
                inexact,
            });
        }
    }

    /// Solves for the direction from what it holds, after this number of iterations.
    fn linear_solve(
        &mut self,
        eta: f64,
        before: usize,
    ) -> Result<Result<SolveInfo, SolveError>, StopReason> {
        let NewtonWorkspace {
            r,
            direction,
            linear,
            ..
        } = &mut *self.workspace;
        let mut system = System {
            device: self.device,
            operator: &Linearized(&*self.problem),
            preconditioning: self.problem.preconditioning()?,
        };
        let most = self.params.max_linear_iterations - before;
        let params = KrylovParams {
            solver: self.params.linear,
            stop: StopCriteria {
                relative_tolerance: eta,
                absolute_tolerance: 0.0,
                max_iterations: most.min(self.problem.allowed(eta)),
                max_stalled: self.problem.max_stalled(),
            },
        };
        let monitor = &mut *self.recorder.monitor;
        let mut directions = |iteration: Iteration| {
            monitor.record(Iteration {
                is_direction: true,
                number: before + iteration.number,
                ..iteration
            })
        };
        Ok(krylov::solve(
            &mut system,
            r,
            direction,
            linear,
            &params,
            &mut directions,
        ))
    }

    /// u = u - α d, and R(u); returns α and |R(u)|.
    fn step(
        &mut self,
        u: &mut D::Buffer<T>,
        norm: f64,
        direction: Direction,
    ) -> Result<(f64, f64), StopReason> {
        let (device, workspace) = (self.device, &mut *self.workspace);
        let mut lengths = Lengths::new(self.params.line_search, norm);
        loop {
            let length = lengths.length;
            device.copy(u, &mut workspace.trial)?;
            device.axpy(-length, &workspace.direction, &mut workspace.trial)?;
            self.problem
                .residual(&workspace.trial, &mut workspace.trial_r)?;
            let residual = device.norm(&workspace.trial_r)?;
            if lengths.accepts(residual) {
                std::mem::swap(u, &mut workspace.trial);
                std::mem::swap(&mut workspace.r, &mut workspace.trial_r);
                return Ok((length, residual));
            }
            if !lengths.cut(residual) {
                // An inaccurate direction is the more likely reason.
                return Err(match direction.inexact {
                    Some(error) => StopReason::Direction(Box::new(error)),
                    None => StopReason::LineSearch { length, residual },
                });
            }
        }
    }
}
