//! Monitoring of iterations, and the history in every result.

use super::newton::NewtonStep;
use super::{Method, SolveError, SolveInfo, StopCriteria, StopReason, System};
use crate::Number;
use crate::vector::{VectorOps, download_f64};
use femto_kernel::scalar::Precision;
use std::ops::ControlFlow;

/// One step of a solver; number 0 is the initial state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Whether it is a linear solver step towards the next Newton direction.
    pub is_direction: bool,
    /// Number of steps taken.
    pub number: usize,
    /// The Euclidean norm of the residual that the solver updates.
    pub residual: f64,
    /// The norm at which the solver stops.
    pub target: f64,
}

/// Follows the iterations and can stop them with [`StopReason::Interrupted`].
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

/// The history of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The method.
    pub method: Method,
    /// The norm of the residual before the first step and after each; empty if the solver did not get that
    /// far.
    ///
    /// For conjugate gradients the recurrence's, for GMRES that of the least-squares problem, replaced by
    /// that of b - A x wherever it was computed.
    pub residuals: Vec<f64>,
    /// The reference of the relative tolerance: |b|; for Newton's method the size of the forces at the last
    /// iterate or, if unknown, the initial residual.
    pub reference: f64,
    /// The Newton steps, one fewer than residuals; empty for the other methods.
    pub newton_steps: Vec<NewtonStep>,
}

impl History {
    /// An empty history with memory for this many steps.
    pub(super) fn new(method: Method, steps: usize) -> Self {
        Self {
            method,
            residuals: Vec::with_capacity(steps + 1),
            reference: 0.0,
            newton_steps: Vec::new(),
        }
    }

    /// Puts the history of the same solve before another start from its last iterate in front.
    pub(crate) fn continue_from(&mut self, before: Self) {
        let mut residuals = before.residuals;
        if !self.residuals.is_empty() {
            // The residual of the common iterate.
            residuals.pop();
        }
        residuals.append(&mut self.residuals);
        self.residuals = residuals;
        let mut steps = before.newton_steps;
        steps.append(&mut self.newton_steps);
        self.newton_steps = steps;
    }

    /// Number of steps; for Newton's method its own.
    pub fn iterations(&self) -> usize {
        self.residuals.len().saturating_sub(1)
    }

    /// Total number of linear solver steps, failed directions not counted.
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

/// Keeps the history, calls the monitor and decides when to stop.
pub(super) struct Recorder<'a> {
    stop: StopCriteria,
    /// The norm of the residual at which to stop.
    pub(super) target: f64,
    /// The stop reason if the target is reached.
    reason: StopReason,
    pub(super) history: History,
    pub(super) monitor: &'a mut dyn Monitor,
}

/// Maximum number of iterations whose residuals are allocated up front; the history grows beyond it.
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

    /// Fails if a tolerance is invalid.
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

    /// Sets the target relative to this norm, but not below the `rounding` level.
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

    /// Sets the target relative to |b|. For b = 0 it sets x = 0, the solution, and returns true. Fails if the
    /// square of a residual that is only rounding would underflow.
    pub(super) fn start<T: Number, D: VectorOps<T>>(
        &mut self,
        system: &System<'_, T, D>,
        b: &D::Buffer<T>,
        x: &mut D::Buffer<T>,
    ) -> Result<bool, StopReason> {
        let device = system.device;
        let norm = finite("the norm of the right-hand side", device.norm(b)?)?;
        if norm == 0.0 && device.info().executes {
            check_underflow::<T, D>(device, b)?;
            device.fill(0.0, x)?;
            self.history.residuals.push(0.0);
            return Ok(true);
        }
        self.aim(norm, 0.0);
        let smallest = (norm * f64::EPSILON).powi(2);
        // In fp32 norms are those of fp64, but not vectors.
        let is_single = T::PRECISION == Precision::Fp32;
        let is_lost = is_single && norm * f64::from(f32::EPSILON) < f64::from(f32::MIN_POSITIVE);
        let is_wanted = norm > self.target && device.info().executes;
        match (smallest < f64::MIN_POSITIVE || is_lost) && is_wanted {
            true => Err(StopReason::Underflow { norm }),
            false => Ok(false),
        }
    }

    /// Fails if no steps are left.
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
        });
        match residual <= self.target {
            true => Ok(true),
            false if flow.is_break() => Err(StopReason::Interrupted),
            false => Ok(false),
        }
    }

    /// Replaces the last recorded residual by the norm of b - A x.
    pub(super) fn correct(&mut self, residual: f64) {
        if let Some(last) = self.history.residuals.last_mut() {
            *last = residual;
        }
    }

    /// The result; `outcome` is the norm of the residual computed from the solution, or the reason for
    /// failing.
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

/// A number of the iteration, unless it is infinite or NaN.
pub(super) fn finite(quantity: &'static str, value: f64) -> Result<f64, StopReason> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(StopReason::Breakdown { quantity, value }),
    }
}

/// Fails if a vector whose norm is zero is not zero: the squares of its entries are.
pub(super) fn check_underflow<T: Number, D: VectorOps<T>>(
    device: &D,
    vector: &D::Buffer<T>,
) -> Result<(), StopReason> {
    let entries = download_f64::<T, D>(device, vector)?;
    match entries.iter().all(|entry| *entry == 0.0) {
        true => Ok(()),
        false => Err(StopReason::Underflow { norm: 0.0 }),
    }
}
