//! Newton's direction: the linear solver behind one name.

use super::{LinearError, LinearSolver, NewtonFailure};
use crate::Number;
use crate::solve::cg::{self, CgFailure, CgParams, CgWorkspace};
use crate::solve::gmres::{self, GmresFailure, GmresParams, GmresWorkspace};
use crate::solve::{Observer, System};
use crate::vector::VectorOps;
use femto_platform::device::{Device, DeviceError};

/// The workspace of a linear solver.
#[derive(Debug)]
pub(super) enum Workspace<T: Number, D: Device> {
    /// Of conjugate gradients.
    Cg(CgWorkspace<T, D>),
    /// Of GMRES.
    Gmres(GmresWorkspace<T, D>),
}

impl<T: Number, D: Device> Workspace<T, D> {
    pub(super) fn new(device: &D, size: usize, solver: LinearSolver) -> Result<Self, DeviceError> {
        Ok(match solver {
            LinearSolver::Cg { .. } => Self::Cg(CgWorkspace::new(device, size)?),
            LinearSolver::Gmres { .. } => {
                let params = gmres_params(solver, 0.0);
                Self::Gmres(GmresWorkspace::new(device, size, &params)?)
            }
        })
    }

    pub(super) fn is_for(&self, solver: LinearSolver) -> bool {
        matches!(
            (self, solver),
            (Self::Cg(_), LinearSolver::Cg { .. }) | (Self::Gmres(_), LinearSolver::Gmres { .. })
        )
    }
}

/// A direction.
pub(super) struct Direction {
    /// Steps that it took.
    pub(super) iterations: usize,
    /// Why it is less exact than it was to be. It may be good enough.
    pub(super) inexact: Option<LinearError>,
}

/// Solves J d = r to the relative tolerance `eta`, from d = 0.
pub(super) fn solve<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    (r, d): (&D::Buffer<T>, &mut D::Buffer<T>),
    workspace: &mut Workspace<T, D>,
    solver: LinearSolver,
    eta: f64,
    observer: &mut Observer<'_>,
) -> Result<Direction, NewtonFailure> {
    system.device.fill(0.0, d)?;
    let (iterations, inexact) = match (workspace, solver) {
        (Workspace::Cg(workspace), LinearSolver::Cg { max_iterations }) => {
            let params = CgParams {
                relative_tolerance: eta,
                absolute_tolerance: 0.0,
                max_iterations,
            };
            match cg::solve(system, r, d, workspace, &params, observer) {
                Ok(info) => (info.iterations, None),
                Err(error) => match error.failure {
                    CgFailure::NotConverged { .. } | CgFailure::Stagnated { .. } => {
                        (error.iterations(), Some(LinearError::Cg(Box::new(error))))
                    }
                    CgFailure::Interrupted => return Err(NewtonFailure::Interrupted),
                    CgFailure::Operator(error) => return Err(error.into()),
                    _ => return Err(LinearError::Cg(Box::new(error)).into()),
                },
            }
        }
        (Workspace::Gmres(workspace), LinearSolver::Gmres { .. }) => {
            let params = gmres_params(solver, eta);
            match gmres::solve(system, r, d, workspace, &params, observer) {
                Ok(info) => (info.iterations, None),
                Err(error) => match error.failure {
                    GmresFailure::NotConverged { .. }
                    | GmresFailure::NoProgress { .. }
                    | GmresFailure::Stagnated { .. } => (
                        error.iterations(),
                        Some(LinearError::Gmres(Box::new(error))),
                    ),
                    GmresFailure::Interrupted => return Err(NewtonFailure::Interrupted),
                    GmresFailure::Operator(error) => return Err(error.into()),
                    _ => return Err(LinearError::Gmres(Box::new(error)).into()),
                },
            }
        }
        _ => return Err(NewtonFailure::Workspace),
    };
    Ok(Direction {
        iterations,
        inexact,
    })
}

/// The parameters of GMRES for a direction; those of another solver are of no use.
fn gmres_params(solver: LinearSolver, eta: f64) -> GmresParams {
    let (max_iterations, restart) = match solver {
        LinearSolver::Gmres {
            max_iterations,
            restart,
        } => (max_iterations, restart),
        LinearSolver::Cg { max_iterations } => (max_iterations, 1),
    };
    GmresParams {
        relative_tolerance: eta,
        absolute_tolerance: 0.0,
        max_iterations,
        restart,
    }
}
