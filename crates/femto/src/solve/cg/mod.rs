//! Preconditioned conjugate gradients.
//!
//! For a symmetric positive definite A and a symmetric positive definite approximation M of it, starting
//! from the given x:
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
//! Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 9.1. The recorded residual is
//! the recurrence's r in the Euclidean norm. A may be singular if b is in its range.
//!
//! Sums and factors stay on the device, which captures a step once and launches it as a graph if it can;
//! the host reads the sums once per step. The update x + α p is deferred until p is next read, for the next
//! direction.
//!
//! Rounding lets the recurrence's r drift from b - A x, which does not fall much below ε |A| max |x_k|,
//! whatever the recurrence says (Greenbaum, Estimating the attainable accuracy of recursively computed
//! residual methods, SIAM J. Matrix Anal. Appl. 18, 1997). So once r is small, b - A x is computed. If that
//! is not small, the iteration restarts from it (as in van der Vorst and Ye, Residual replacement
//! strategies, SIAM Journal on Scientific Computing 22, 2000); if that does not help, the precision is
//! exhausted.

mod step;

use super::monitor::{Recorder, finite};
use super::{Method, Monitor, SolveError, SolveInfo, StopCriteria, StopReason, System};
use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::fmt;
#[cfg(test)]
pub(super) use step::step;
use step::{Finished, SLOTS, Stepper};

/// When the recurrence's residual reaches the target, the iteration restarts if b - A x exceeds the target
/// by more than this factor.
pub(super) const NEAR: f64 = 1.1;
/// The factor allowed after a restart.
pub(crate) const SLACK: f64 = 10.0;
/// Maximum number of restarts from b - A x.
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
    /// Allocates vectors for systems of `size` unknowns.
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

    #[cfg(test)]
    pub(super) fn vectors(&mut self) -> Vec<&mut D::Buffer<T>> {
        vec![&mut self.r, &mut self.z, &mut self.p, &mut self.ap]
    }
}

impl<T: Number, D: Device> fmt::Debug for CgWorkspace<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CgWorkspace")
            .field("size", &self.r.len())
            .finish()
    }
}

/// Solves A x = b, starting from the contents of `x`.
///
/// On an accelerator no other thread may use the device meanwhile: its work would be captured as part of a
/// step.
///
/// Nothing is allocated per iteration. For b = 0 the answer is x = 0 after no iterations. A converged
/// solution has |b - A x| ≤ 1.1 times the target, or 10 times after a restart from b - A x.
///
/// # Errors
/// A [`SolveError`], with the history; `x` then holds the last iterate. A tolerance that the precision `T`
/// cannot reach is [`StopReason::Stagnated`].
pub fn solve<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut CgWorkspace<T, D>,
    stop: &StopCriteria,
    monitor: &mut dyn Monitor,
) -> Result<SolveInfo, SolveError> {
    let device = system.device;
    let mut solver = Solver {
        system,
        workspace,
        recorder: Recorder::new(Method::Cg, stop, monitor),
        max_stalled: stop.max_stalled,
        stepper: Stepper::New,
    };
    let outcome = device.enter(|| solver.run(b, x));
    solver.recorder.finish(outcome)
}

/// One run, with everything it borrows.
struct Solver<'a, 's, T: Number, D: VectorOps<T>> {
    system: &'a mut System<'s, T, D>,
    workspace: &'a mut CgWorkspace<T, D>,
    recorder: Recorder<'a>,
    max_stalled: usize,
    stepper: Stepper<D::LaunchGraph>,
}

impl<T: Number, D: VectorOps<T>> Solver<'_, '_, T, D> {
    /// Returns the norm of b - A x.
    fn run(&mut self, b: &D::Buffer<T>, x: &mut D::Buffer<T>) -> Result<f64, StopReason> {
        self.recorder.check()?;
        self.system.check(b, x, &self.workspace.r)?;
        if self.recorder.start(self.system, b, x)? {
            return Ok(0.0);
        }
        let mut residual = self.system.residual(b, x, &mut self.workspace.r)?;
        if self.recorder.record(residual)? {
            return Ok(residual);
        }
        let target = self.recorder.target;
        for starts in 0..=MAX_RESTARTS {
            let ended = self.descend(x);
            let is_good = starts > 0 && residual <= SLACK * target;
            match ended {
                // A solution good enough before the restart still is.
                Err(StopReason::NotConverged { .. }) if is_good => (),
                ended => ended?,
            }
            let found = self.system.residual(b, x, &mut self.workspace.r)?;
            let start = std::mem::replace(&mut residual, found);
            finite("the norm of b - A x", residual)?;
            if residual <= [NEAR, SLACK][starts.min(1)] * target {
                return Ok(residual);
            }
            self.recorder.correct(residual);
            if residual > start / 2.0 {
                break;
            }
        }
        if residual <= SLACK * target {
            return Ok(residual);
        }
        Err(StopReason::Stagnated {
            true_residual: residual,
            target,
        })
    }

    /// Steps from x, with r = b - A x, until the recurrence's residual is small enough.
    fn descend(&mut self, x: &mut D::Buffer<T>) -> Result<(), StopReason> {
        let (system, workspace) = (&mut *self.system, &mut *self.workspace);
        step::start(system, workspace)?;
        let (mut least, mut stalled) = (f64::INFINITY, 0);
        let outcome = loop {
            if let Err(reason) = self.recorder.allow_step() {
                break Err(reason);
            }
            self.stepper.step(system, workspace, x)?;
            let finished = step::finish(system, workspace);
            let recorded = finished.and_then(|Finished { residual, product }| {
                stalled = if product < least { 0 } else { stalled + 1 };
                least = least.min(product);
                self.recorder.record(residual)
            });
            match recorded {
                Ok(false) if stalled >= self.max_stalled => {
                    break Err(StopReason::Stalled { steps: stalled });
                }
                Ok(false) => (),
                Ok(true) => break Ok(()),
                Err(reason) => break Err(reason),
            }
        };
        let closed = step::update_direction(system, workspace, x);
        outcome?;
        Ok(closed?)
    }
}
