//! Restarted GMRES, preconditioned from the right.
//!
//! For any A that is not singular and any approximation M of it, starting from the x that is passed
//! in:
//!
//! ```text
//! repeat until |r| is small:
//!     r = b - A x;  v₀ = r / |r|
//!     for k = 0 … restart - 1, until |r| is small:
//!         w = A M⁻¹ v_k;  h_k = Vᵀ w;  w = w - V h_k
//!         v_{k+1} = w / |w|
//!     x = x + M⁻¹ V y  with the y that makes |b - A x| least
//! ```
//! Saad and Schultz, GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear
//! systems, SIAM Journal on Scientific and Statistical Computing 7, 1986; Saad, Iterative Methods for
//! Sparse Linear Systems, 2nd edition, algorithm 9.5. Because M works from the right, the residual
//! watched is that of the system itself, in the Euclidean norm.
//!
//! All vectors stay on the device. The host has the small least-squares problem, and waits four times
//! a step for sums. x is brought up to date where the iteration starts again and where it ends; then
//! b - A x is computed, which takes the place of the residual of the small problem, from which rounding
//! lets it drift.

mod arnoldi;
mod error;
mod least_squares;
mod params;

pub use super::system::{Iteration, Observer, Reason, System};
pub use error::{GmresError, GmresFailure};
pub use params::GmresParams;

use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use least_squares::LeastSquares;
use std::fmt;
use std::ops::ControlFlow;

/// A finished solve.
#[derive(Debug, Clone, PartialEq)]
pub struct GmresInfo {
    /// Steps taken, in all.
    pub iterations: usize,
    /// The norm of the residual before the first step and after each: `iterations + 1` numbers.
    ///
    /// That of the small problem, but that of b - A x where the iteration starts again or ends.
    pub residual_history: Vec<f64>,
    /// The norm of b - A x, computed from the x returned; at most ten times the target.
    pub true_residual: f64,
    /// Why it ended.
    pub reason: Reason,
}

/// How many times the target b - A x may be where the small problem's residual has reached it.
const SLACK: f64 = 10.0;
/// How often the iteration starts again from b - A x where the small problem's residual was small.
const MAX_REPLACEMENTS: usize = 3;
/// A residual that falls by less than this fraction between two starts is not going to be small.
const PROGRESS: f64 = 1e-6;

/// The vectors that the solver needs besides b and x (one more than the steps between two starts, and
/// another), its sums and its small problem.
pub struct GmresWorkspace<T: Number, D: Device> {
    basis: Vec<D::Buffer<T>>,
    z: D::Buffer<T>,
    sums: Sums<D>,
    /// A column of H.
    column: Vec<f64>,
    small: LeastSquares,
}

impl<T: Number, D: Device> GmresWorkspace<T, D> {
    /// Space for systems of `size` unknowns, for as many steps between two starts as `params` says.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize, params: &GmresParams) -> Result<Self, DeviceError> {
        let vectors = params.restart(size) + 1;
        let basis = (0..vectors).map(|_| device.zeros(size));
        Ok(Self {
            basis: basis.collect::<Result<_, _>>()?,
            z: device.zeros(size)?,
            sums: Sums::new(device, vectors)?,
            column: vec![0.0; vectors + 1],
            small: LeastSquares::new(vectors),
        })
    }
}

impl<T: Number, D: Device> fmt::Debug for GmresWorkspace<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GmresWorkspace")
            .field("size", &self.z.len())
            .field("vectors", &(self.basis.len() + 1))
            .finish()
    }
}

/// Solves A x = b, starting from what `x` holds.
///
/// Nothing is allocated per iteration. For b = 0 the answer is x = 0 after no iteration. What is
/// said to be solved has |b - A x| ≤ 10 times the target. Results have the same bits for any number
/// of threads where the operator's have.
///
/// # Errors
/// A [`GmresError`], with the residual history; `x` then holds the last iterate. A tolerance that the
/// precision `T` cannot reach is [`GmresFailure::Stagnated`].
pub fn solve<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut GmresWorkspace<T, D>,
    params: &GmresParams,
    observer: &mut Observer<'_>,
) -> Result<GmresInfo, GmresError> {
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
    };
    let outcome = match solver.check(b, x) {
        Ok(()) => system.device.enter(|| solver.run(b, x)),
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok((reason, true_residual)) => Ok(GmresInfo {
            iterations: history.len() - 1,
            residual_history: history,
            true_residual,
            reason,
        }),
        Err(failure) => Err(GmresError {
            failure,
            residual_history: history,
        }),
    }
}

/// One run, with everything in it borrowed.
struct Solver<'a, T: Number, D: VectorOps<T>> {
    system: &'a System<'a, T, D>,
    workspace: &'a mut GmresWorkspace<T, D>,
    params: &'a GmresParams,
    watch: Watch<'a>,
}

/// Why the steps from one start ended.
enum End {
    /// The residual of the small problem is small enough, or cannot become smaller.
    Reached,
    /// There are as many steps as there may be.
    Full,
    /// There will be no more.
    Failed(GmresFailure),
}

impl<T: Number, D: VectorOps<T>> Solver<'_, T, D> {
    fn check(&self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<(), GmresFailure> {
        self.params.check()?;
        let size = self.system.operator.size();
        check_len("the right-hand side", b.len(), size)?;
        check_len("the start of the solution", x.len(), size)?;
        check_len("the workspace", self.workspace.z.len(), size)?;
        let vectors = self.params.restart(size) + 1;
        let found = self.workspace.basis.len();
        Ok(check_len("the basis", found.min(vectors), vectors)?)
    }

    /// Why it ended, and the norm of b - A x.
    fn run(
        &mut self,
        b: &D::Buffer<T>,
        x: &mut D::Buffer<T>,
    ) -> Result<(Reason, f64), GmresFailure> {
        let device = self.system.device;
        let b_norm = finite("the norm of the right-hand side", device.norm(b)?)?;
        if b_norm == 0.0 && device.info().executes {
            device.fill(0.0, x)?;
            self.watch.history.push(0.0);
            return Ok((Reason::ZeroRightHandSide, 0.0));
        }
        let (target, reason) = self.params.target(b_norm);
        let mut residual = self.residual(b, x)?;
        if self.watch.see(residual, target)? {
            return Ok((reason, residual));
        }
        let mut replacements = 0;
        loop {
            let end = self.cycle(residual, target)?;
            let small = self.workspace.small.residual();
            arnoldi::update(self.system, self.workspace, x)?;
            let start = std::mem::replace(&mut residual, self.residual(b, x)?);
            self.watch.correct(residual);
            finite("the norm of b - A x", residual)?;
            let stagnated = GmresFailure::Stagnated {
                true_residual: residual,
                target,
            };
            match end {
                _ if residual <= target => return Ok((reason, residual)),
                End::Reached if residual <= SLACK * target => return Ok((reason, residual)),
                End::Reached => {
                    replacements += 1;
                    if residual > start / 2.0 || replacements > MAX_REPLACEMENTS {
                        return Err(stagnated);
                    }
                }
                End::Full if residual < start * (1.0 - PROGRESS) => (),
                End::Full if small < residual / 2.0 => return Err(stagnated),
                End::Full => {
                    let restart = self.workspace.small.columns();
                    return Err(GmresFailure::NoProgress { restart });
                }
                End::Failed(failure) => return Err(failure),
            }
        }
    }

    /// Steps from r = b - A x of norm `start`, in the first vector of the basis.
    fn cycle(&mut self, start: f64, target: f64) -> Result<End, GmresFailure> {
        let (system, workspace) = (self.system, &mut *self.workspace);
        workspace.small.start(start);
        arnoldi::scale(
            system.device,
            1.0 / start,
            &mut workspace.basis[0],
            &mut workspace.z,
        )?;
        for k in 0..self.params.restart(workspace.z.len()) {
            if self.watch.steps() >= self.params.max_iterations {
                return Ok(End::Failed(GmresFailure::NotConverged { target }));
            }
            let direction = match arnoldi::step(system, workspace, k) {
                Ok(direction) => direction,
                Err(failure @ GmresFailure::Breakdown { .. }) => return Ok(End::Failed(failure)),
                Err(failure) => return Err(failure),
            };
            let negligible = direction.negligible::<T>();
            let column = &mut workspace.column[..k + 2];
            if !workspace.small.push(column, negligible) {
                let residual = workspace.small.residual();
                return Ok(End::Failed(GmresFailure::Singular { residual }));
            }
            match self.watch.see(workspace.small.residual(), target) {
                Ok(false) if direction.dependent => return Ok(End::Reached),
                Ok(false) => (),
                Ok(true) => return Ok(End::Reached),
                Err(failure) => return Ok(End::Failed(failure)),
            }
        }
        Ok(End::Full)
    }

    /// Puts b - A x into the first vector of the basis; returns its norm.
    fn residual(&mut self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<f64, GmresFailure> {
        let (device, r) = (self.system.device, &mut self.workspace.basis[0]);
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
    fn see(&mut self, residual: f64, target: f64) -> Result<bool, GmresFailure> {
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
            Err(GmresFailure::Interrupted)
        } else {
            Ok(false)
        }
    }
}

fn finite(quantity: &'static str, value: f64) -> Result<f64, GmresFailure> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(GmresFailure::Breakdown { quantity, value })
    }
}

#[cfg(test)]
mod devices;
#[cfg(test)]
mod systems;
#[cfg(test)]
mod tests;
