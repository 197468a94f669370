//! The monitor of iterations, and the history in every result.

use super::newton::NewtonStep;
use super::{Method, SolveError, SolveInfo, StopCriteria, StopReason, System};
use crate::Number;
use crate::vector::VectorOps;
use std::ops::ControlFlow;

/// One step of a solver; number 0 is the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Whether it is a step of the linear solver on the way to the next direction of Newton's method.
    pub is_direction: bool,
    /// How many steps have been taken.
    pub number: usize,
    /// The Euclidean norm of the residual, as the solver carries it along.
    pub residual: f64,
    /// The norm at which the solver stops.
    pub target: f64,
    /// The step of Newton's method that led here.
    pub newton_step: Option<NewtonStep>,
}

/// Follows the iterations and may end them with [`StopReason::Interrupted`].
///
/// `()` follows nothing; a closure is a monitor.
pub trait Monitor: Send {
    /// Called before the first step and after each, on a thread of the device.
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()>;
}

impl Monitor for () {
    fn record(&mut self, _: Iteration) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(Iteration) -> ControlFlow<()> + Send> Monitor for F {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self(iteration)
    }
}

/// The course of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Who solved.
    pub method: Method,
    /// The norm of the residual before the first step and after each; empty if the solver did not get that
    /// far.
    ///
    /// Of conjugate gradients the recurrence's, of GMRES that of the small problem, but that of b - A x
    /// wherever it was computed.
    pub residuals: Vec<f64>,
    /// What the relative tolerance refers to: |b|; of Newton's method the size of the forces at the last iterate, or
    /// where that is not known the residual of the start.
    pub reference: f64,
    /// The steps of Newton's method, one fewer than residuals; empty for the others.
    pub newton_steps: Vec<NewtonStep>,
}

impl History {
    /// Nothing yet, with memory for so many steps.
    pub(super) fn new(method: Method, steps: usize) -> Self {
        Self {
            method,
            residuals: Vec::with_capacity(steps + 1),
            reference: 0.0,
            newton_steps: Vec::new(),
        }
    }

    /// How many steps were taken; of Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.residuals.len().saturating_sub(1)
    }

    /// Steps of the linear solver, in all; of a direction that was not found none.
    pub fn linear_iterations(&self) -> usize {
        match self.method {
            Method::Cg | Method::Gmres => self.iterations(),
            Method::Newton => {
                let steps = self.newton_steps.iter();
                steps.map(|step| step.linear_iterations).sum()
            }
        }
    }
}

/// Keeps the history, talks to the monitor and knows when to stop.
pub(super) struct Recorder<'a> {
    stop: StopCriteria,
    /// The norm of the residual at which to stop.
    pub(super) target: f64,
    /// What reaching the target means.
    reason: StopReason,
    pub(super) history: History,
    pub(super) monitor: &'a mut dyn Monitor,
}

/// Most iterations whose residuals get their memory before the first; beyond, it grows.
const PREALLOCATED: usize = 100_000;

impl<'a> Recorder<'a> {
    pub(super) fn new(method: Method, stop: &StopCriteria, monitor: &'a mut dyn Monitor) -> Self {
        Self {
            target: 0.0,
            reason: StopReason::ZeroRightHandSide,
            history: History::new(method, stop.max_iterations.min(PREALLOCATED)),
            stop: *stop,
            monitor,
        }
    }

    /// Fails where a tolerance makes no sense.
    pub(super) fn check(&self) -> Result<(), StopReason> {
        for (name, value) in [
            ("relative tolerance", self.stop.relative_tolerance),
            ("absolute tolerance", self.stop.absolute_tolerance),
        ] {
            let wanted = "a finite number that is not negative";
            StopReason::require((0.0..f64::INFINITY).contains(&value), name, value, wanted)?;
        }
        Ok(())
    }

    /// Sets the target relative to this norm, but not below what `rounding` leaves.
    pub(super) fn aim(&mut self, norm: f64, rounding: f64) {
        self.history.reference = norm;
        let relative = self.stop.relative_tolerance * norm;
        let absolute = self.stop.absolute_tolerance;
        (self.target, self.reason) = match relative >= absolute {
            true => (relative, StopReason::RelativeTolerance),
            false => (absolute, StopReason::AbsoluteTolerance),
        };
        if rounding > self.target {
            (self.target, self.reason) = (rounding, StopReason::Rounding);
        }
    }

    /// Sets the target relative to |b|. For b = 0 it sets x = 0 and returns true: that is the solution.
    pub(super) fn start<T: Number, D: VectorOps<T>>(
        &mut self,
        system: &System<'_, T, D>,
        b: &D::Buffer<T>,
        x: &mut D::Buffer<T>,
    ) -> Result<bool, StopReason> {
        let device = system.device;
        let norm = finite("the norm of the right-hand side", device.norm(b)?)?;
        if norm == 0.0 && device.info().executes {
            device.fill(0.0, x)?;
            self.history.residuals.push(0.0);
            return Ok(true);
        }
        self.aim(norm, 0.0);
        Ok(false)
    }

    /// Fails where the steps are used up.
    pub(super) fn allow_step(&self) -> Result<(), StopReason> {
        match self.history.iterations() < self.stop.max_iterations {
            true => Ok(()),
            false => Err(StopReason::NotConverged {
                target: self.target,
            }),
        }
    }

    /// Records a residual; returns whether it is small enough.
    pub(super) fn record(&mut self, residual: f64) -> Result<bool, StopReason> {
        self.history.residuals.push(residual);
        finite("the norm of the residual", residual)?;
        let flow = self.monitor.record(Iteration {
            is_direction: false,
            number: self.history.iterations(),
            residual,
            target: self.target,
            newton_step: self.history.newton_steps.last().copied(),
        });
        match residual <= self.target {
            true => Ok(true),
            false if flow.is_break() => Err(StopReason::Interrupted),
            false => Ok(false),
        }
    }

    /// Puts the norm of b - A x in the place of the residual recorded last.
    pub(super) fn correct(&mut self, residual: f64) {
        if let Some(last) = self.history.residuals.last_mut() {
            *last = residual;
        }
    }

    /// The result; `outcome` is the norm of the residual computed from the solution, or what went wrong.
    pub(super) fn finish(self, outcome: Result<f64, StopReason>) -> Result<SolveInfo, SolveError> {
        let history = self.history;
        match outcome {
            Ok(true_residual) => Ok(SolveInfo {
                history,
                true_residual,
                reason: self.reason,
            }),
            Err(reason) => Err(SolveError { reason, history }),
        }
    }
}

/// A number of the iteration, unless it is infinite or none.
pub(super) fn finite(quantity: &'static str, value: f64) -> Result<f64, StopReason> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(StopReason::Breakdown { quantity, value }),
    }
}
