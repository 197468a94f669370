//! The basis of GMRES, on the device.

use super::{GmresWorkspace, StopReason, System, finite};
use crate::Number;
use crate::solve::{Jacobi, Preconditioning};
use crate::vector::{Sum, Sums, VectorOps};
use femto_platform::device::DeviceError;

/// Properties of a new Krylov direction w = A M⁻¹ v.
pub(super) struct Direction {
    /// |A M⁻¹ v|.
    pub(super) norm: f64,
    /// Whether w depends on the basis up to rounding, so that there is no next vector.
    pub(super) dependent: bool,
}

/// The relative size, in units of the precision's ε, below which the part of a vector orthogonal to the
/// basis is only rounding.
const ROUNDING: f64 = 10.0;

impl Direction {
    /// The size below which it is only rounding.
    pub(super) fn negligible<T: Number>(&self) -> f64 {
        ROUNDING * T::EPSILON * self.norm
    }
}

/// w = A M⁻¹ v for the last v of the `k + 1` vectors in the basis; orthogonalises w against them, which
/// gives column `k` of H and the next unit vector of the basis.
///
/// Classical Gram–Schmidt, twice: as orthogonal as rounding allows (Giraud, Langou, Rozložník and van den
/// Eshof, Rounding error analysis of the classical Gram-Schmidt orthogonalization process, Numerische
/// Mathematik 101, 2005), and the host waits for all sums of a pass at once.
pub(super) fn step<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    workspace: &mut GmresWorkspace<T, D>,
    k: usize,
) -> Result<Direction, StopReason> {
    let device = system.device;
    let GmresWorkspace {
        basis,
        directions,
        z,
        sums,
        column,
        ..
    } = workspace;
    let (basis, rest) = basis.split_at_mut(k + 1);
    let w = &mut rest[0];
    let column = &mut column[..k + 2];
    column.fill(0.0);

    let last = &basis[k];
    match &mut system.preconditioning {
        Preconditioning::Identity => system.operator.apply(last, w)?,
        Preconditioning::Jacobi(jacobi) => {
            scaled(device, jacobi, (last, &mut *z), sums)?;
            system.operator.apply(z, w)?;
        }
        Preconditioning::Any(apply) => {
            let direction = &mut directions[k];
            apply(last, direction)?;
            system.operator.apply(direction, w)?;
        }
    }
    let norm = finite("the norm of A M⁻¹ v", device.norm(w)?)?;
    for _ in 0..2 {
        orthogonalise(device, basis, w, (sums, &mut *column))?;
    }
    let rest = finite("the norm of a direction", device.norm(w)?)?;
    let mut direction = Direction {
        norm,
        dependent: false,
    };
    direction.dependent = rest <= direction.negligible::<T>();
    if !direction.dependent {
        column[k + 1] = rest;
        scale(device, 1.0 / rest, w, z)?;
    }
    Ok(direction)
}

/// z = D⁻¹ v in one pass, where `Jacobi::apply` needs two; overwrites the first sum.
fn scaled<T: Number, D: VectorOps<T>>(
    device: &D,
    jacobi: &Jacobi<T, D>,
    (v, z): (&D::Buffer<T>, &mut D::Buffer<T>),
    sums: &mut Sums<D>,
) -> Result<(), DeviceError> {
    device.precondition_dot(&jacobi.inverse, v, z, sums, 0)
}

/// w = w - V Vᵀ w; adds Vᵀ w to `column`.
fn orthogonalise<T: Number, D: VectorOps<T>>(
    device: &D,
    basis: &[D::Buffer<T>],
    w: &mut D::Buffer<T>,
    (sums, column): (&mut Sums<D>, &mut [f64]),
) -> Result<(), StopReason> {
    for (i, v) in basis.iter().enumerate() {
        device.dot_into(v, w, sums, i)?;
    }
    sums.read(device)?;
    for (i, v) in basis.iter().enumerate() {
        let component = finite("(v, A M⁻¹ v)", sums.get(Sum::Last(i)))?;
        column[i] += component;
        device.axpy(-component, v, w)?;
    }
    Ok(())
}

/// y = α y, with `scratch` overwritten.
pub(super) fn scale<T: Number, D: VectorOps<T>>(
    device: &D,
    alpha: f64,
    y: &mut D::Buffer<T>,
    scratch: &mut D::Buffer<T>,
) -> Result<(), StopReason> {
    device.fill(alpha, scratch)?;
    Ok(device.multiply(scratch, y)?)
}

/// x = x + M⁻¹ V y, with the y of the least-squares problem.
pub(super) fn update<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    workspace: &mut GmresWorkspace<T, D>,
    x: &mut D::Buffer<T>,
) -> Result<(), DeviceError> {
    let device = system.device;
    let y = workspace.small.solve();
    let GmresWorkspace {
        basis,
        directions,
        z,
        sums,
        ..
    } = workspace;
    let add = |vectors: &[D::Buffer<T>], x: &mut D::Buffer<T>| {
        let mut terms = y.iter().zip(vectors);
        terms.try_for_each(|(&y, vector)| device.axpy(y, vector, x))
    };
    match &system.preconditioning {
        Preconditioning::Identity => add(basis, x),
        Preconditioning::Any(_) => add(directions, x),
        Preconditioning::Jacobi(jacobi) => {
            device.fill(0.0, z)?;
            add(basis, z)?;
            let Some(correction) = basis.first_mut() else {
                return Ok(());
            };
            scaled(device, jacobi, (z, &mut *correction), sums)?;
            device.axpy(1.0, correction, x)
        }
    }
}
