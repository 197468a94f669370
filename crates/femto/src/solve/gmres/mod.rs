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
//! recorded is that of the system itself, in the Euclidean norm.
//!
//! All vectors stay on the device. The host has the small least-squares problem, and waits four times
//! a step for sums. x is brought up to date where the iteration starts again and where it ends; then
//! b - A x is computed, which takes the place of the residual of the small problem, from which rounding
//! lets it drift.

mod arnoldi;
mod least_squares;

use super::cg::{NEAR, SLACK};
use super::monitor::{Recorder, finite};
use super::{
    Method, Monitor, OperatorError, SolveError, SolveInfo, StopCriteria, StopReason, System,
};
use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use least_squares::LeastSquares;
use std::fmt;

/// When GMRES stops, and after how many steps it starts again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GmresParams {
    /// When it stops.
    pub stop: StopCriteria,
    /// Steps after which x is brought up to date and the basis built anew; at least 1. A vector of
    /// the workspace for each, and per step work that grows with their number: more of them need
    /// fewer steps. Default 30.
    pub restart: usize,
}

impl Default for GmresParams {
    fn default() -> Self {
        Self {
            stop: StopCriteria::default(),
            restart: 30,
        }
    }
}

impl GmresParams {
    /// Steps between two starts for systems of `size` unknowns: more than there are unknowns are
    /// never needed.
    fn restart(&self, size: usize) -> usize {
        self.restart.min(size)
    }
}

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
    /// Space for systems of `size` unknowns, for so many steps between two starts.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize, restart: usize) -> Result<Self, DeviceError> {
        let vectors = restart.min(size) + 1;
        let basis = (0..vectors).map(|_| device.zeros(size));
        Ok(Self {
            basis: basis.collect::<Result<_, _>>()?,
            z: device.zeros(size)?,
            sums: Sums::new(device, vectors)?,
            column: vec![0.0; vectors + 1],
            small: LeastSquares::new(vectors),
        })
    }

    #[cfg(test)]
    pub(super) fn vectors(&mut self) -> Vec<&mut D::Buffer<T>> {
        self.basis.iter_mut().chain([&mut self.z]).collect()
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
/// said to be solved has |b - A x| ≤ 1.1 times the target, or after another start from b - A x, 10 times.
/// Results have the same bits for any number of threads where the operator's have.
///
/// # Errors
/// A [`SolveError`], with the history; `x` then holds the last iterate, whose residual is the smallest so
/// far. A tolerance that the precision `T` cannot reach is [`StopReason::Stagnated`].
pub fn solve<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut GmresWorkspace<T, D>,
    params: &GmresParams,
    monitor: &mut dyn Monitor,
) -> Result<SolveInfo, SolveError> {
    let device = system.device;
    let mut solver = Solver {
        system,
        workspace,
        params,
        recorder: Recorder::new(Method::Gmres, &params.stop, monitor),
    };
    let outcome = device.enter(|| solver.run(b, x));
    solver.recorder.finish(outcome)
}

/// One run, with everything in it borrowed.
struct Solver<'a, 's, T: Number, D: VectorOps<T>> {
    system: &'a mut System<'s, T, D>,
    workspace: &'a mut GmresWorkspace<T, D>,
    params: &'a GmresParams,
    recorder: Recorder<'a>,
}

/// Why the steps from one start ended.
enum End {
    /// The residual of the small problem is small enough, or cannot become smaller.
    Reached,
    /// There are as many steps as there may be.
    Full,
    /// There will be no more.
    Failed(StopReason),
}

impl<T: Number, D: VectorOps<T>> Solver<'_, '_, T, D> {
    fn check(&self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<(), StopReason> {
        self.recorder.check()?;
        let restart = self.params.restart;
        StopReason::require(restart > 0, "restart length", restart as f64, "at least 1")?;
        self.system.check(b, x, &self.workspace.z)?;
        let vectors = self.params.restart(b.len()) + 1;
        let found = self.workspace.basis.len();
        Ok(check_len("the basis", found.min(vectors), vectors)?)
    }

    /// Returns the norm of b - A x.
    fn run(&mut self, b: &D::Buffer<T>, x: &mut D::Buffer<T>) -> Result<f64, StopReason> {
        self.check(b, x)?;
        if self.recorder.start(self.system, b, x)? {
            return Ok(0.0);
        }
        let mut residual = self.residual(b, x)?;
        if self.recorder.record(residual)? {
            return Ok(residual);
        }
        let target = self.recorder.target;
        let mut replacements = 0;
        loop {
            let end = self.cycle(residual)?;
            let small = self.workspace.small.residual();
            arnoldi::update(self.system, self.workspace, x)?;
            let start = std::mem::replace(&mut residual, self.residual(b, x)?);
            self.recorder.correct(residual);
            finite("the norm of b - A x", residual)?;
            let stagnated = StopReason::Stagnated {
                true_residual: residual,
                target,
            };
            match end {
                _ if residual <= target => return Ok(residual),
                End::Reached if residual <= [NEAR, SLACK][replacements.min(1)] * target => {
                    return Ok(residual);
                }
                End::Reached => {
                    replacements += 1;
                    if residual > start / 2.0 || replacements > MAX_REPLACEMENTS {
                        return match residual <= SLACK * target {
                            true => Ok(residual),
                            false => Err(stagnated),
                        };
                    }
                }
                // What was good enough before the last start is so still.
                End::Failed(StopReason::NotConverged { .. })
                    if replacements > 0 && residual <= SLACK * target =>
                {
                    return Ok(residual);
                }
                End::Full if residual < start * (1.0 - PROGRESS) => (),
                End::Full if small < residual / 2.0 => return Err(stagnated),
                End::Full => {
                    let restart = self.workspace.small.columns();
                    return Err(StopReason::NoProgress { restart });
                }
                End::Failed(reason) => return Err(reason),
            }
        }
    }

    /// Steps from r = b - A x of norm `start`, in the first vector of the basis.
    fn cycle(&mut self, start: f64) -> Result<End, StopReason> {
        let (system, workspace) = (&mut *self.system, &mut *self.workspace);
        workspace.small.start(start);
        arnoldi::scale(
            system.device,
            1.0 / start,
            &mut workspace.basis[0],
            &mut workspace.z,
        )?;
        for k in 0..self.params.restart(workspace.z.len()) {
            if let Err(reason) = self.recorder.allow_step() {
                return Ok(End::Failed(reason));
            }
            let direction = match arnoldi::step(system, workspace, k) {
                Ok(direction) => direction,
                Err(reason @ StopReason::Breakdown { .. }) => return Ok(End::Failed(reason)),
                Err(reason) => return Err(reason),
            };
            let negligible = direction.negligible::<T>();
            let column = &mut workspace.column[..k + 2];
            if !workspace.small.push(column, negligible) {
                let residual = workspace.small.residual();
                return Ok(End::Failed(StopReason::Singular { residual }));
            }
            match self.recorder.record(workspace.small.residual()) {
                Ok(false) if direction.dependent => return Ok(End::Reached),
                Ok(false) => (),
                Ok(true) => return Ok(End::Reached),
                Err(reason) => return Ok(End::Failed(reason)),
            }
        }
        Ok(End::Full)
    }

    /// Puts b - A x into the first vector of the basis; returns its norm.
    fn residual(&mut self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<f64, OperatorError> {
        self.system.residual(b, x, &mut self.workspace.basis[0])
    }
}
