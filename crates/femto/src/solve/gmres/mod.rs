//! Restarted flexible GMRES, preconditioned from the right.
//!
//! For any nonsingular A and any approximation M of it, starting from the given x:
//!
//! ```text
//! repeat until |r| is small:
//!     r = b - A x;  v₀ = r / |r|
//!     for k = 0 … restart - 1, until |r| is small:
//!         z_k = M⁻¹ v_k
//!         w = A z_k;  h_k = Vᵀ w;  w = w - V h_k
//!         v_{k+1} = w / |w|
//!     x = x + Z y  with the y that minimises |b - A x|
//! ```
//! The z_k are kept, so that M⁻¹ need not be the same at each step: cycles in fp32 are so only up to their rounding. If
//! M is diagonal, Z y is M⁻¹ V y. Saad and Schultz, GMRES: a generalized minimal residual algorithm for solving
//! nonsymmetric linear systems, SIAM Journal on Scientific and Statistical Computing 7, 1986; Saad, Iterative Methods
//! for Sparse Linear Systems, 2nd edition, algorithms 9.5 and 9.6. Because M is applied from the right, the recorded
//! residual is that of the system itself, in the Euclidean norm.
//!
//! All vectors stay on the device. The host solves the small least-squares problem, and waits for sums four
//! times a step. x is updated at restarts and at the end; then b - A x is computed, and replaces the
//! residual of the least-squares problem, which drifts from it by rounding.

mod arnoldi;
mod least_squares;

use super::cg::{NEAR, SLACK};
use super::monitor::{Recorder, finite};
use super::{
    Method, Monitor, OperatorError, Preconditioning, SolveError, SolveInfo, StopCriteria,
    StopReason, System,
};
use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError};
use least_squares::LeastSquares;
use std::fmt;

/// Stop criteria and restart length of GMRES.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GmresParams {
    /// The stop criteria.
    pub stop: StopCriteria,
    /// Steps after which x is updated and the basis rebuilt; at least 1. Each costs a vector of workspace,
    /// and the work per step grows with their number, but more of them need fewer steps. Default 30.
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
    /// Steps between restarts for systems of `size` unknowns: never more than there are unknowns.
    fn restart(&self, size: usize) -> usize {
        self.restart.min(size)
    }
}

/// Maximum number of restarts after which b - A x is not small although the least-squares residual was.
const MAX_REPLACEMENTS: usize = 3;
/// Convergence has stalled if the residual falls by less than this fraction between restarts.
const PROGRESS: f64 = 1e-6;

/// The vectors that the solver needs besides b and x, its sums and its least-squares problem. They grow with the steps
/// of the first cycle: two vectors more than steps between restarts, and as many again for a preconditioner that is not
/// diagonal.
pub struct GmresWorkspace<T: Number, D: Device> {
    basis: Vec<D::Buffer<T>>,
    /// The z_k of a preconditioner that is not diagonal: as many as steps were taken before a restart.
    directions: Vec<D::Buffer<T>>,
    z: D::Buffer<T>,
    sums: Sums<D>,
    /// A column of H.
    column: Vec<f64>,
    small: LeastSquares,
}

impl<T: Number, D: Device> GmresWorkspace<T, D> {
    /// Allocates for systems of `size` unknowns, before the first step.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            basis: vec![device.zeros(size)?],
            directions: Vec::new(),
            z: device.zeros(size)?,
            sums: Sums::new(device, 1)?,
            column: Vec::new(),
            small: LeastSquares::default(),
        })
    }

    /// Makes room for step `k` of a cycle, and for its z_k if the preconditioner is not diagonal.
    fn grow(&mut self, device: &D, k: usize, is_diagonal: bool) -> Result<(), DeviceError> {
        let size = self.z.len();
        while self.basis.len() < k + 2 {
            self.basis.push(device.zeros(size)?);
        }
        while !is_diagonal && self.directions.len() <= k {
            self.directions.push(device.zeros(size)?);
        }
        if self.column.len() < k + 2 {
            self.sums = Sums::new(device, 2 * (k + 2))?;
            self.column.resize(2 * (k + 2), 0.0);
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn vectors(&mut self) -> Vec<&mut D::Buffer<T>> {
        let vectors = self.basis.iter_mut().chain(&mut self.directions);
        vectors.chain([&mut self.z]).collect()
    }
}

impl<T: Number, D: Device> fmt::Debug for GmresWorkspace<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GmresWorkspace")
            .field("size", &self.z.len())
            .field("vectors", &(self.basis.len() + self.directions.len() + 1))
            .finish()
    }
}

/// Solves A x = b, starting from the contents of `x`.
///
/// Vectors are allocated by the steps before the first restart; if a device has no memory for more,
/// that comes earlier. For b = 0 the answer is x = 0 after no iterations. A converged
/// solution has |b - A x| ≤ 1.1 times the target, or 10 times after another restart from b - A x. Results
/// are bitwise independent of the number of threads if the operator's are.
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

/// One run, with everything it borrows.
struct Solver<'a, 's, T: Number, D: VectorOps<T>> {
    system: &'a mut System<'s, T, D>,
    workspace: &'a mut GmresWorkspace<T, D>,
    params: &'a GmresParams,
    recorder: Recorder<'a>,
}

/// Why a cycle ended.
enum End {
    /// The least-squares residual is small enough, or cannot be reduced further.
    Reached,
    /// The cycle has reached its maximum length, or memory is short.
    Full,
    /// The iteration ends here.
    Failed(StopReason),
}

impl<T: Number, D: VectorOps<T>> Solver<'_, '_, T, D> {
    fn check(&self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<(), StopReason> {
        self.recorder.check()?;
        let restart = self.params.restart;
        StopReason::require(restart > 0, "restart length", restart as f64, "at least 1")?;
        Ok(self.system.check(b, x, &self.workspace.z)?)
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
        // The residual when it was last halved, and the steps since then.
        let (mut halved, mut stalled) = (residual, 0);
        loop {
            let end = self.cycle(residual)?;
            stalled += self.workspace.small.columns();
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
                // A solution good enough before the restart still is.
                End::Failed(StopReason::NotConverged { .. })
                    if replacements > 0 && residual <= SLACK * target =>
                {
                    return Ok(residual);
                }
                End::Full if residual < start * (1.0 - PROGRESS) => {
                    if residual <= halved / 2.0 {
                        (halved, stalled) = (residual, 0);
                    } else if stalled >= self.params.stop.max_stalled {
                        return Err(StopReason::Stalled { steps: stalled });
                    }
                }
                End::Full if small < residual / 2.0 => return Err(stagnated),
                End::Full => {
                    let restart = self.workspace.small.columns();
                    return Err(StopReason::NoProgress { restart });
                }
                End::Failed(reason) => return Err(reason),
            }
        }
    }

    /// One cycle of steps from r = b - A x of norm `start`, stored in the first vector of the basis.
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
            let is_diagonal = !matches!(system.preconditioning, Preconditioning::Any(_));
            match workspace.grow(system.device, k, is_diagonal) {
                Err(DeviceError::OutOfMemory { .. }) if k > 0 => return Ok(End::Full),
                grown => grown?,
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

    /// Writes b - A x into the first vector of the basis; returns its norm.
    fn residual(&mut self, b: &D::Buffer<T>, x: &D::Buffer<T>) -> Result<f64, OperatorError> {
        self.system.residual(b, x, &mut self.workspace.basis[0])
    }
}
