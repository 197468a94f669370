//! One step of conjugate gradients, without waiting for any of its sums.
//!
//! Vectors are passed over as rarely as the sums allow: the update of r is fused with the sums over it, and
//! that of x with the next update of p. If M is diagonal or the identity there is no z.

use super::{CgWorkspace, StopReason, System, finite};
use crate::Number;
use crate::solve::{OperatorError, Preconditioning};
use crate::vector::{Capture, Ratio, Sum, UpdateDirection, UpdateResidual, VectorOps};
use femto_platform::device::{Device, DeviceError};

/// Number of sums of a step.
pub(super) const SLOTS: usize = 3;
/// Slot of (r, z), if z is not r.
const PRODUCT: usize = 0;
/// Slot of (p, A p).
const CURVATURE: usize = 1;
/// Slot of (r, r), for the new r.
const SQUARE: usize = 2;

/// The slot of (r, z).
fn product<T: Number, D: Device>(preconditioning: &Preconditioning<'_, T, D>) -> usize {
    match preconditioning {
        Preconditioning::Identity => SQUARE,
        Preconditioning::Jacobi(_) | Preconditioning::Any(_) => PRODUCT,
    }
}

/// Before the first step from some r: computes (r, z), with no previous step.
pub(super) fn start<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<(), OperatorError> {
    let CgWorkspace { r, z, sums, .. } = workspace;
    let device = system.device;
    sums.clear(device)?;
    match &mut system.preconditioning {
        Preconditioning::Identity => device.dot_into(r, r, sums, SQUARE)?,
        Preconditioning::Jacobi(jacobi) => {
            device.precondition_dot(&jacobi.inverse, r, z, sums, PRODUCT)?;
        }
        Preconditioning::Any(apply) => {
            apply(r, z)?;
            device.dot_into(r, z, sums, PRODUCT)?;
        }
    }
    Ok(())
}

/// x = x + α p with the last step's α and p, which completes that step; then p = z + β p, which starts the
/// next. Both factors are zero before the first step.
pub(super) fn update_direction<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), OperatorError> {
    let CgWorkspace { r, z, p, sums, .. } = workspace;
    let product = product(&system.preconditioning);
    let (d, z) = match &system.preconditioning {
        Preconditioning::Identity => (None, &*r),
        Preconditioning::Jacobi(jacobi) => (Some(&jacobi.inverse), &*r),
        Preconditioning::Any(_) => (None, &*z),
    };
    let update = UpdateDirection {
        alpha: Ratio {
            numerator: Sum::Before(product),
            denominator: Sum::Last(CURVATURE),
        },
        beta: Ratio {
            numerator: Sum::Last(product),
            denominator: Sum::Before(product),
        },
        d,
        z,
        p,
        x,
    };
    Ok(system.device.update_direction(update, sums)?)
}

/// Takes steps; captures one if the device can, to launch it again.
pub(super) enum Stepper<G> {
    /// No step taken yet. The first one is not captured, since it may compile kernels, for example.
    New,
    /// The next step may be captured.
    Warm,
    /// Every step launches this graph.
    Captured(G),
    /// The device or the operator does not allow it.
    Impossible,
}

impl<G> Stepper<G> {
    /// Takes one step. If (r, z) or (p, A p) is not positive, x and r are unchanged.
    pub(super) fn step<T: Number, D: VectorOps<T> + Capture<LaunchGraph = G>>(
        &mut self,
        system: &mut System<'_, T, D>,
        workspace: &mut CgWorkspace<T, D>,
        x: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        if let Self::Warm = self {
            let device = system.device;
            let mut body = || step(system, workspace, x).map_err(|_| NOT_CAPTURED);
            *self = match device.capture(&mut body) {
                Some(graph) => Self::Captured(graph),
                None => Self::Impossible,
            };
        }
        match self {
            Self::Captured(graph) => Ok(system.device.launch_graph(graph)?),
            Self::Impossible => step(system, workspace, x),
            Self::New | Self::Warm => {
                *self = Self::Warm;
                step(system, workspace, x)
            }
        }
    }
}

/// Ends a capture whose step fails; the uncaptured step will report why.
const NOT_CAPTURED: DeviceError = DeviceError::Unsupported {
    device: "host",
    what: "capture a step",
};

/// A step except for the update of x, left to the next step or to `update_direction`.
pub(in crate::solve) fn step<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), OperatorError> {
    update_direction(system, workspace, x)?;
    let CgWorkspace { r, z, p, ap, sums } = workspace;
    let device = system.device;
    system.operator.apply(p, ap)?;
    device.dot_into(p, ap, sums, CURVATURE)?;
    let update = UpdateResidual {
        alpha: Ratio {
            numerator: Sum::Last(product(&system.preconditioning)),
            denominator: Sum::Last(CURVATURE),
        },
        ap,
        r,
        square: SQUARE,
        scaled: match &system.preconditioning {
            Preconditioning::Jacobi(jacobi) => Some((&jacobi.inverse, PRODUCT)),
            Preconditioning::Identity | Preconditioning::Any(_) => None,
        },
    };
    device.update_residual(update, sums)?;
    if let Preconditioning::Any(apply) = &mut system.preconditioning {
        apply(r, z)?;
        device.dot_into(r, z, sums, PRODUCT)?;
    }
    Ok(())
}

/// The results of a step.
pub(super) struct Finished {
    /// The norm of the new r.
    pub(super) residual: f64,
    /// (r, M⁻¹ r) for the r before.
    pub(super) product: f64,
}

/// Waits for the step.
pub(super) fn finish<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<Finished, StopReason> {
    let slot = product(&system.preconditioning);
    let sums = &mut workspace.sums;
    sums.read(system.device)?;
    let product = finite("(r, M⁻¹ r)", sums.get(Sum::Before(slot)))?;
    if product <= 0.0 {
        return Err(StopReason::PreconditionerNotPositiveDefinite { product });
    }
    let curvature = finite("(p, A p)", sums.get(Sum::Last(CURVATURE)))?;
    if curvature <= 0.0 {
        return Err(StopReason::NotPositiveDefinite { curvature });
    }
    let residual = sums.get(Sum::Last(SQUARE)).sqrt();
    Ok(Finished { residual, product })
}
