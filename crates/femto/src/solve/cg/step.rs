//! One step, without waiting for any of its numbers.

use super::{CgFailure, CgWorkspace, System, finite};
use crate::Number;
use crate::solve::{OperatorError, Product};
use crate::vector::{Directions, Iterate, Ratio, Replay, Sum, VectorOps};
use femto_platform::device::DeviceError;

/// Sums of a step.
pub(super) const SLOTS: usize = 3;
/// (r, z).
const PRODUCT: usize = 0;
/// (p, A p).
const CURVATURE: usize = 1;
/// (r, r), of the new r.
const SQUARE: usize = 2;

const ALPHA: Ratio = Ratio {
    numerator: Sum::Last(PRODUCT),
    denominator: Sum::Last(CURVATURE),
};
/// Zero in the first step after the sums were cleared, so that p = z.
const BETA: Ratio = Ratio {
    numerator: Sum::Last(PRODUCT),
    denominator: Sum::Before(PRODUCT),
};

/// Takes steps, and has the device note one to repeat it.
pub(super) enum Stepper<R> {
    /// No step was taken yet. The first is done as it is: it may compile kernels, for example.
    New,
    /// The next step may be noted.
    Warm,
    /// Every step is this one.
    Noted(R),
    /// The device or the operator cannot be noted.
    Impossible,
}

impl<R> Stepper<R> {
    /// One step from x, whose residual is r. Where (r, z) or (p, A p) is not positive, x and r stay.
    pub(super) fn step<T: Number, D: VectorOps<T> + Replay<Recording = R>>(
        &mut self,
        system: &System<'_, T, D>,
        workspace: &mut CgWorkspace<T, D>,
        x: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        if let Self::Warm = self {
            let mut note = || step(system, workspace, x).map_err(|_| NOT_NOTED);
            *self = match system.device.record(&mut note) {
                Some(recording) => Self::Noted(recording),
                None => Self::Impossible,
            };
        }
        match self {
            Self::Noted(recording) => Ok(system.device.replay(recording)?),
            Self::Impossible => step(system, workspace, x),
            Self::New | Self::Warm => {
                *self = Self::Warm;
                step(system, workspace, x)
            }
        }
    }
}

/// Ends a recording whose step fails; the step says why when it is done without one.
const NOT_NOTED: DeviceError = DeviceError::Unsupported {
    device: "host",
    what: "note a step",
};

fn step<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), OperatorError> {
    let System {
        device,
        operator,
        preconditioner,
    } = system;
    let CgWorkspace { r, z, p, ap, sums } = workspace;
    let product = Product {
        sums,
        slot: PRODUCT,
    };
    preconditioner.apply(device, r, z, product)?;
    device.direct(BETA, z, p, sums)?;
    operator.apply(p, ap)?;
    device.dot_into(p, ap, sums, CURVATURE)?;
    device.update(ALPHA, Directions { p, ap }, Iterate { x, r }, sums, SQUARE)?;
    Ok(())
}

/// Waits for the step; returns the norm of the new r.
pub(super) fn finish<T: Number, D: VectorOps<T>>(
    device: &D,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<f64, CgFailure> {
    let sums = &mut workspace.sums;
    sums.read(device)?;
    let product = finite("(r, M⁻¹ r)", sums.get(Sum::Last(PRODUCT)))?;
    if product <= 0.0 {
        return Err(CgFailure::PreconditionerNotPositiveDefinite { product });
    }
    let curvature = finite("(p, A p)", sums.get(Sum::Last(CURVATURE)))?;
    if curvature <= 0.0 {
        return Err(CgFailure::NotPositiveDefinite { curvature });
    }
    Ok(sums.get(Sum::Last(SQUARE)).sqrt())
}
