//! Newton's method with directions from a Krylov solver.
//!
//! ```text
//! repeat until |R(u)| is small:
//!     solve R'(u) d = R(u) to |R(u) - R'(u) d| ≤ η |R(u)|
//!     u = u - α d  with the first α of 1, … for which |R(u - α d)| is small enough
//! ```
//! Dembo, Eisenstat and Steihaug, Inexact Newton methods, SIAM Journal on Numerical Analysis 19, 1982;
//! Eisenstat and Walker, Globally convergent inexact Newton methods, SIAM Journal on Optimization 4,
//! 1994. Norms are Euclidean. The Jacobian is known only by what it does to a vector
//! ([`NonlinearProblem`]); vectors stay on the device.
//!
//! Where R has no value at a trial u (its residual is infinite or NaN: a logarithm of a negative
//! number, an element turned inside out), the step is made shorter.

mod error;
mod forcing;
mod line_search;
mod linear;
mod params;
mod problem;

pub use super::system::{Iteration, Reason};
pub use error::{LinearError, NewtonError, NewtonFailure};
pub use params::{Forcing, LineSearch, LinearSolver, NewtonParams};
pub use problem::NonlinearProblem;

use super::{Identity, Jacobi, Preconditioner, System};
use crate::Number;
use crate::vector::VectorOps;
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use forcing::Terms;
use line_search::Lengths;
use linear::Direction;
use problem::Linearized;
use std::fmt;
use std::ops::ControlFlow;

/// One step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonStep {
    /// η that its direction was asked for.
    pub forcing: f64,
    /// Steps of the linear solver.
    pub linear_iterations: usize,
    /// Whether the direction is as exact as was asked for.
    pub linear_converged: bool,
    /// α, 1 for Newton's own step.
    pub length: f64,
}

/// Told to the observer after every step, and before the first as number 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonIteration {
    /// How many steps have been taken.
    pub number: usize,
    /// The norm of the residual.
    pub residual: f64,
    /// The norm at which the solver stops.
    pub target: f64,
    /// The step that led here.
    pub step: Option<NewtonStep>,
}

/// What the observer is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// A step of Newton's method.
    Newton(NewtonIteration),
    /// A step of the linear solver on the way to the next direction.
    Linear(Iteration),
}

/// Watches the iterations and may end them; an end is [`NewtonFailure::Interrupted`].
pub type NewtonObserver<'a> = dyn FnMut(Progress) -> ControlFlow<()> + Send + 'a;

/// A finished solve.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonInfo {
    /// The norm of the residual before the first step and after each.
    pub residual_history: Vec<f64>,
    /// The steps, one less than there are residuals.
    pub steps: Vec<NewtonStep>,
    /// Why it ended; what is relative is so to |R(u₀)|.
    pub reason: Reason,
}

impl NewtonInfo {
    /// How many steps were taken.
    pub fn iterations(&self) -> usize {
        self.steps.len()
    }

    /// Steps of the linear solver, in all.
    pub fn linear_iterations(&self) -> usize {
        self.steps.iter().map(|step| step.linear_iterations).sum()
    }
}

/// The five vectors that the solver needs besides u, and those of its linear solver.
pub struct NewtonWorkspace<T: Number, D: Device> {
    /// R(u).
    r: D::Buffer<T>,
    direction: D::Buffer<T>,
    /// u - α d.
    trial: D::Buffer<T>,
    /// R(u - α d).
    trial_r: D::Buffer<T>,
    diagonal: D::Buffer<T>,
    linear: linear::Workspace<T, D>,
}

impl<T: Number, D: Device> NewtonWorkspace<T, D> {
    /// Space for problems of `size` unknowns, for the linear solver that `params` asks for.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize, params: &NewtonParams) -> Result<Self, DeviceError> {
        Ok(Self {
            r: device.zeros(size)?,
            direction: device.zeros(size)?,
            trial: device.zeros(size)?,
            trial_r: device.zeros(size)?,
            diagonal: device.zeros(size)?,
            linear: linear::Workspace::new(device, size, params.linear)?,
        })
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

/// Solves R(u) = 0, starting from what `u` holds.
///
/// # Errors
/// A [`NewtonError`], with the residual history and the steps; `u` then holds the last iterate.
pub fn solve<T: Number, D: VectorOps<T>>(
    device: &D,
    problem: &mut dyn NonlinearProblem<T, D>,
    u: &mut D::Buffer<T>,
    workspace: &mut NewtonWorkspace<T, D>,
    params: &NewtonParams,
    observer: &mut NewtonObserver<'_>,
) -> Result<NewtonInfo, NewtonError> {
    let mut solver = Solver {
        device,
        problem,
        workspace,
        params,
        observer,
        residual_history: Vec::new(),
        steps: Vec::new(),
    };
    let outcome = solver.run(u);
    let (residual_history, steps) = (solver.residual_history, solver.steps);
    match outcome {
        Ok(reason) => Ok(NewtonInfo {
            residual_history,
            steps,
            reason,
        }),
        Err(failure) => Err(NewtonError {
            failure,
            residual_history,
            steps,
        }),
    }
}

/// One run, with everything in it borrowed.
struct Solver<'a, T: Number, D: VectorOps<T>> {
    device: &'a D,
    problem: &'a mut dyn NonlinearProblem<T, D>,
    workspace: &'a mut NewtonWorkspace<T, D>,
    params: &'a NewtonParams,
    observer: &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send),
    residual_history: Vec<f64>,
    steps: Vec<NewtonStep>,
}

impl<T: Number, D: VectorOps<T>> Solver<'_, T, D> {
    fn check(&self, u: &D::Buffer<T>) -> Result<(), NewtonFailure> {
        self.params.check()?;
        let size = self.problem.size();
        check_len("the start of the solution", u.len(), size)?;
        check_len("the workspace", self.workspace.r.len(), size)?;
        match self.workspace.linear.is_for(self.params.linear) {
            true => Ok(()),
            false => Err(NewtonFailure::Workspace),
        }
    }

    fn run(&mut self, u: &mut D::Buffer<T>) -> Result<Reason, NewtonFailure> {
        self.check(u)?;
        self.problem.residual(u, &mut self.workspace.r)?;
        let mut norm = self.device.norm(&self.workspace.r)?;
        if !norm.is_finite() {
            return Err(NewtonFailure::Breakdown {
                quantity: "the norm of the residual of the start",
                value: norm,
            });
        }
        let (target, reason) = self.params.target(norm);
        let mut terms = Terms::new(self.params.forcing);
        while !self.see(norm, target)? {
            if self.steps.len() == self.params.max_iterations {
                return Err(NewtonFailure::NotConverged { target });
            }
            let forcing = terms.next(norm, target);
            let direction = self.direction(u, forcing)?;
            let (linear_iterations, linear_converged) =
                (direction.iterations, direction.inexact.is_none());
            let length;
            (length, norm) = self.advance(u, norm, direction)?;
            self.steps.push(NewtonStep {
                forcing,
                linear_iterations,
                linear_converged,
                length,
            });
        }
        Ok(reason)
    }

    /// Notes a residual; returns whether it is small enough.
    fn see(&mut self, residual: f64, target: f64) -> Result<bool, NewtonFailure> {
        self.residual_history.push(residual);
        let flow = (self.observer)(Progress::Newton(NewtonIteration {
            number: self.steps.len(),
            residual,
            target,
            step: self.steps.last().copied(),
        }));
        if residual <= target {
            Ok(true)
        } else if flow.is_break() {
            Err(NewtonFailure::Interrupted)
        } else {
            Ok(false)
        }
    }

    /// Solves R'(u) d = R(u).
    fn direction(&mut self, u: &D::Buffer<T>, eta: f64) -> Result<Direction, NewtonFailure> {
        self.problem.linearize(u)?;
        let NewtonWorkspace {
            r,
            direction,
            diagonal,
            linear,
            ..
        } = &mut *self.workspace;
        let jacobi;
        let preconditioner: &dyn Preconditioner<T, D> = match self.problem.diagonal(diagonal)? {
            true => {
                jacobi = Jacobi::new(self.device, diagonal)?;
                &jacobi
            }
            false => &Identity,
        };
        let system = System {
            device: self.device,
            operator: &Linearized(&*self.problem),
            preconditioner,
        };
        let observer = &mut *self.observer;
        let mut see = |iteration| observer(Progress::Linear(iteration));
        let solver = self.params.linear;
        linear::solve(&system, (r, direction), linear, solver, eta, &mut see)
    }

    /// u = u - α d, and R(u); returns α and |R(u)|.
    fn advance(
        &mut self,
        u: &mut D::Buffer<T>,
        norm: f64,
        direction: Direction,
    ) -> Result<(f64, f64), NewtonFailure> {
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
                // A direction that is not what was asked for is the more likely reason.
                return Err(match direction.inexact {
                    Some(error) => error.into(),
                    None => NewtonFailure::LineSearch { length, residual },
                });
            }
        }
    }
}

#[cfg(test)]
mod devices;
#[cfg(test)]
mod systems;
#[cfg(test)]
mod tests;
