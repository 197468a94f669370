//! Preconditioned conjugate gradients.
//!
//! For a symmetric positive definite A and a symmetric positive definite approximation M of it,
//! starting from the x that is passed in:
//!
//! ```text
//! r = b - A x;  z = M⁻¹ r;  p = z
//! repeat until |r| is small:
//!     α = (r,z) / (p, A p)
//!     x = x + α p;  r = r - α A p
//!     z = M⁻¹ r
//!     β = (r,z) / (r,z) of the step before
//!     p = z + β p
//! ```
//! Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 9.1. The residual watched
//! is the recurrence's r in the Euclidean norm. A singular A is fine where b is in its range.
//!
//! Sums and factors stay on the device, which may note a step once and replay it; the host reads the
//! sums once per step. x gets its α p when p is next at hand, for the next direction.
//!
//! Rounding lets the recurrence's r drift from b - A x, which does not fall much below
//! ε |A| max |x_k|, whatever the recurrence says (Greenbaum, Estimating the attainable accuracy of
//! recursively computed residual methods, SIAM J. Matrix Anal. Appl. 18, 1997). So once r is small,
//! b - A x is computed. Where that is not small, the iteration starts again from it (as in van der
//! Vorst and Ye, Residual replacement strategies, SIAM Journal on Scientific Computing 22, 2000);
//! where that does not help, the precision is exhausted.

mod error;
mod params;
mod step;

pub use error::{CgError, CgFailure};
pub use params::CgParams;

pub use super::system::{Iteration, Observer, Reason, System};

use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use std::fmt;
use std::ops::ControlFlow;
use step::{SLOTS, Stepper};

/// A finished solve.
#[derive(Debug, Clone, PartialEq)]
pub struct CgInfo {
    /// Steps taken.
    pub iterations: usize,
    /// The norm of the residual before the first step and after each: `iterations + 1` numbers.
    ///
    /// The recurrence's, but that of b - A x where the iteration started again from it.
    pub residual_history: Vec<f64>,
    /// The norm of b - A x, computed from the x returned; at most ten times the target.
    pub true_residual: f64,
    /// Why it ended.
    pub reason: Reason,
}

/// How many times the target b - A x may be where the recurrence's residual has reached it.
const SLACK: f64 = 10.0;
/// How often the iteration starts again from b - A x.
const MAX_RESTARTS: usize = 3;

/// The four vectors that the solver needs besides b and x, and its sums.
pub struct CgWorkspace<T: Number, D: Device> {
    r: D::Buffer<T>,
    z: D::Buffer<T>,
    p: D::Buffer<T>,
    ap: D::Buffer<T>,
    sums: Sums<D>,
}

impl<T: Number, D: Device> CgWorkspace<T, D> {
    /// Space for systems of `size` unknowns.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            r: device.zeros(size)?,
            z: device.zeros(size)?,
            p: device.zeros(size)?,
            ap: device.zeros(size)?,
            sums: Sums::new(device, SLOTS)?,
        })
    }
}

impl<T: Number, D: Device> fmt::Debug for CgWorkspace<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CgWorkspace")
            .field("size", &self.r.len())
            .finish()
    }
}

/// Solves A x = b, starting from what `x` holds.
///
/// On an accelerator no other thread may use the device meanwhile: its work would be noted as part of a
/// step.
///
/// Nothing is allocated per iteration. For b = 0 the answer is x = 0 after no iteration. What is
/// said to be solved has |b - A x| ≤ 10 times the target.
///
/// # Errors
/// A [`CgError`], with the residual history; `x` then holds the last iterate. A tolerance that the
/// precision `T` cannot reach is [`CgFailure::Stagnated`].
pub fn solve<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut CgWorkspace<T, D>,
    params: &CgParams,
    observer: &mut Observer<'_>,
) -> Result<CgInfo, CgError> {
    let mut history = params.history();
    let watch = Watch {
        history: &mut history,
        observer,
    };
    let mut solver = Solver {
        system,
        workspace,
        params,
        watch,
        stepper: Stepper::New,
    };
    let outcome = match solver.check(b, x) {
        Ok(()) => system.device.enter(|| solver.run(b, x)),
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok((reason, true_residual)) => Ok(CgInfo {
            iterations: history.len() - 1,
            residual_history: history,
            true_residual,
            reason,
        }),
        Err(failure) => Err(CgError {
            failure,
            residual_history: history,
        }),
    }
}

/// One run, with everything in it borrowed.
struct Solver<'a, T: Number, D: VectorOps<T>> {
    system: &'a System<'a, T, D>,
    workspace: &'a mut CgWorkspace<T, D>,
    params: &'a CgParams,
    watch: Watch<'a>,
    stepper: Stepper<D::Recording>,
}

impl<T: Number, D: VectorOps<T>> Solver<'_, T, D> {
    fn check(&self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<(), CgFailure> {
        self.params.check()?;
        let size = self.system.operator.size();
        check_len("the right-hand side", b.len(), size)?;
        check_len("the start of the solution", x.len(), size)?;
        Ok(check_len("the workspace", self.workspace.r.len(), size)?)
    }

    /// Why it ended, and the norm of b - A x.
    fn run(&mut self, b: &D::Buffer<T>, x: &mut D::Buffer<T>) -> Result<(Reason, f64), CgFailure> {
        let device = self.system.device;
        let b_norm = finite("the norm of the right-hand side", device.norm(b)?)?;
        if b_norm == 0.0 && device.info().executes {
            device.fill(0.0, x)?;
            self.watch.history.push(0.0);
            return Ok((Reason::ZeroRightHandSide, 0.0));
        }
        let (target, reason) = (self.params.target(b_norm), self.params.reason(b_norm));

        let mut residual = self.residual(b, x)?;
        if self.watch.see(residual, target)? {
            return Ok((reason, residual));
        }
        for _ in 0..=MAX_RESTARTS {
            self.descend(x, target)?;
            let start = std::mem::replace(&mut residual, self.residual(b, x)?);
            finite("the norm of b - A x", residual)?;
            if residual <= SLACK * target {
                return Ok((reason, residual));
            }
            self.watch.correct(residual);
            if residual > start / 2.0 {
                break;
            }
        }
        Err(CgFailure::Stagnated {
            true_residual: residual,
            target,
        })
    }

    /// Steps from x, with r = b - A x, until the recurrence's residual is small enough.
    fn descend(&mut self, x: &mut D::Buffer<T>, target: f64) -> Result<(), CgFailure> {
        let (system, workspace) = (self.system, &mut *self.workspace);
        step::start(system, workspace)?;
        let outcome = loop {
            if self.watch.steps() >= self.params.max_iterations {
                break Err(CgFailure::NotConverged { target });
            }
            self.stepper.step(system, workspace, x)?;
            let residual = step::finish(system, workspace);
            match residual.and_then(|residual| self.watch.see(residual, target)) {
                Ok(false) => (),
                Ok(true) => break Ok(()),
                Err(failure) => break Err(failure),
            }
        };
        let closed = step::advance(system, workspace, x);
        outcome?;
        Ok(closed?)
    }

    /// r = b - A x; returns its norm.
    fn residual(&mut self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<f64, CgFailure> {
        let (device, r) = (self.system.device, &mut self.workspace.r);
        self.system.operator.apply(x, r)?;
        device.xpby(b, -1.0, r)?;
        Ok(device.norm(r)?)
    }
}

/// Keeps the history and talks to the observer.
struct Watch<'a> {
    history: &'a mut Vec<f64>,
    observer: &'a mut (dyn FnMut(Iteration) -> ControlFlow<()> + Send),
}

impl Watch<'_> {
    /// How many steps have been taken.
    fn steps(&self) -> usize {
        self.history.len().saturating_sub(1)
    }

    /// Puts the norm of b - A x in the place of the residual noted last.
    fn correct(&mut self, residual: f64) {
        if let Some(last) = self.history.last_mut() {
            *last = residual;
        }
    }

    /// Notes a residual; returns whether it is small enough.
    fn see(&mut self, residual: f64, target: f64) -> Result<bool, CgFailure> {
        self.history.push(residual);
        finite("the norm of the residual", residual)?;
        let iteration = Iteration {
            number: self.steps(),
            residual,
            target,
        };
        let flow = (self.observer)(iteration);
        if residual <= target {
            Ok(true)
        } else if flow.is_break() {
            Err(CgFailure::Interrupted)
        } else {
            Ok(false)
        }
    }
}

fn finite(quantity: &'static str, value: f64) -> Result<f64, CgFailure> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(CgFailure::Breakdown { quantity, value })
    }
}

#[cfg(test)]
mod resident;
#[cfg(test)]
mod systems;
#[cfg(test)]
mod tests;
