//! One step, without waiting for any of its numbers.
//!
//! A vector is passed over as rarely as sums allow: r gets its step together with the sums over it, and x
//! gets its own when p is next at hand. Where M is diagonal or the identity there is no z.

use super::{CgFailure, CgWorkspace, System, finite};
use crate::Number;
use crate::solve::{OperatorError, Product, Structure};
use crate::vector::{Advance, Ratio, Reduce, Replay, Sum, VectorOps};
use femto_platform::device::DeviceError;

/// Sums of a step.
pub(super) const SLOTS: usize = 3;
/// (r, z), where z is not r.
const PRODUCT: usize = 0;
/// (p, A p).
const CURVATURE: usize = 1;
/// (r, r), of the new r.
const SQUARE: usize = 2;

/// Where (r, z) is.
fn product<B>(structure: Structure<'_, B>) -> usize {
    match structure {
        Structure::Identity => SQUARE,
        Structure::Diagonal(_) | Structure::Any => PRODUCT,
    }
}

/// Before the first step from an r: (r, z), and no step before.
pub(super) fn start<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<(), OperatorError> {
    workspace.sums.clear(system.device)?;
    match system.preconditioner.structure() {
        Structure::Identity => {
            let CgWorkspace { r, sums, .. } = workspace;
            Ok(system.device.dot_into(r, r, sums, SQUARE)?)
        }
        Structure::Diagonal(_) | Structure::Any => precondition(system, workspace),
    }
}

/// z = M⁻¹ r, and (r, z).
fn precondition<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<(), OperatorError> {
    let CgWorkspace { r, z, sums, .. } = workspace;
    let slot = PRODUCT;
    let product = Product { sums, slot };
    system.preconditioner.apply(system.device, r, z, product)
}

/// x = x + α p with the last step's α and p, which closes that step; then p = z + β p, which opens the
/// next. Both factors are zero before the first step.
pub(super) fn advance<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), OperatorError> {
    let CgWorkspace { r, z, p, sums, .. } = workspace;
    let structure = system.preconditioner.structure();
    let product = product(structure);
    let (d, z) = match structure {
        Structure::Identity => (None, &*r),
        Structure::Diagonal(d) => (Some(d), &*r),
        Structure::Any => (None, &*z),
    };
    let step = Advance {
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
    Ok(system.device.advance(step, sums)?)
}

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
    /// One step. Where (r, z) or (p, A p) is not positive, x and r stay.
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

/// A step but for x, which the next one, or `advance`, brings up to date.
fn step<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), OperatorError> {
    advance(system, workspace, x)?;
    let structure = system.preconditioner.structure();
    let CgWorkspace { r, p, ap, sums, .. } = workspace;
    system.operator.apply(p, ap)?;
    system.device.dot_into(p, ap, sums, CURVATURE)?;
    let step = Reduce {
        alpha: Ratio {
            numerator: Sum::Last(product(structure)),
            denominator: Sum::Last(CURVATURE),
        },
        ap,
        r,
        square: SQUARE,
        scaled: match structure {
            Structure::Diagonal(d) => Some((d, PRODUCT)),
            Structure::Identity | Structure::Any => None,
        },
    };
    system.device.reduce(step, sums)?;
    match structure {
        Structure::Any => precondition(system, workspace),
        Structure::Identity | Structure::Diagonal(_) => Ok(()),
    }
}

/// Waits for the step; returns the norm of the new r.
pub(super) fn finish<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<f64, CgFailure> {
    let slot = product(system.preconditioner.structure());
    let sums = &mut workspace.sums;
    sums.read(system.device)?;
    let product = finite("(r, M⁻¹ r)", sums.get(Sum::Before(slot)))?;
    if product <= 0.0 {
        return Err(CgFailure::PreconditionerNotPositiveDefinite { product });
    }
    let curvature = finite("(p, A p)", sums.get(Sum::Last(CURVATURE)))?;
    if curvature <= 0.0 {
        return Err(CgFailure::NotPositiveDefinite { curvature });
    }
    Ok(sums.get(Sum::Last(SQUARE)).sqrt())
}
