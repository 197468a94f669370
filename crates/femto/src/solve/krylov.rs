//! Conjugate gradients or GMRES, chosen at run time.

use super::cg::{self, CgWorkspace};
use super::gmres::{self, GmresParams, GmresWorkspace};
use super::{History, Method, Monitor, SolveError, SolveInfo, StopCriteria, StopReason, System};
use crate::Number;
use crate::vector::VectorOps;
use femto_platform::device::{Device, DeviceError};

/// A linear solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinearSolver {
    /// Conjugate gradients, for operators that are symmetric and positive definite.
    Cg,
    /// GMRES, for any operator.
    Gmres {
        /// Steps between restarts, as in [`GmresParams`].
        restart: usize,
    },
}

impl Default for LinearSolver {
    fn default() -> Self {
        let restart = GmresParams::default().restart;
        Self::Gmres { restart }
    }
}

/// A linear solver and its stop criteria.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KrylovParams {
    /// The solver. Default GMRES.
    pub solver: LinearSolver,
    /// The stop criteria.
    pub stop: StopCriteria,
}

/// The workspace of either.
#[derive(Debug)]
pub enum KrylovWorkspace<T: Number, D: Device> {
    /// For conjugate gradients.
    Cg(CgWorkspace<T, D>),
    /// For GMRES.
    Gmres(GmresWorkspace<T, D>),
}

impl<T: Number, D: Device> KrylovWorkspace<T, D> {
    /// Allocates for systems of `size` unknowns.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, size: usize, solver: LinearSolver) -> Result<Self, DeviceError> {
        Ok(match solver {
            LinearSolver::Cg => Self::Cg(CgWorkspace::new(device, size)?),
            LinearSolver::Gmres { .. } => Self::Gmres(GmresWorkspace::new(device, size)?),
        })
    }

    /// Whether it was allocated for this solver.
    pub(super) fn is_for(&self, solver: LinearSolver) -> bool {
        matches!(
            (self, solver),
            (Self::Cg(_), LinearSolver::Cg) | (Self::Gmres(_), LinearSolver::Gmres { .. })
        )
    }

    #[cfg(test)]
    pub(super) fn vectors(&mut self) -> Vec<&mut D::Buffer<T>> {
        match self {
            Self::Cg(workspace) => workspace.vectors(),
            Self::Gmres(workspace) => workspace.vectors(),
        }
    }
}

/// Solves A x = b, starting from the contents of `x`: [`cg::solve`] or [`gmres::solve`].
///
/// # Errors
/// As these; [`StopReason::Workspace`] if the workspace is for the other solver.
pub fn solve<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut KrylovWorkspace<T, D>,
    params: &KrylovParams,
    monitor: &mut dyn Monitor,
) -> Result<SolveInfo, SolveError> {
    let stop = params.stop;
    let method = match (workspace, params.solver) {
        (KrylovWorkspace::Cg(workspace), LinearSolver::Cg) => {
            return cg::solve(system, b, x, workspace, &stop, monitor);
        }
        (KrylovWorkspace::Gmres(workspace), LinearSolver::Gmres { restart }) => {
            let params = GmresParams { stop, restart };
            return gmres::solve(system, b, x, workspace, &params, monitor);
        }
        (_, LinearSolver::Cg) => Method::Cg,
        (_, LinearSolver::Gmres { .. }) => Method::Gmres,
    };
    Err(SolveError {
        reason: StopReason::Workspace,
        history: History::new(method, 0),
    })
}
