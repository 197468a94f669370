//! Preconditioners: the trait, Jacobi, and the choice passed to solvers.

use super::OperatorError;
use crate::Number;
use crate::vector::VectorOps;
use femto_kernel::vector::invertible;
use femto_platform::device::{Buffer, Device, DeviceError};
use std::fmt;
use thiserror::Error;

/// An approximate inverse of a matrix.
///
/// `apply` must issue the same device work each time, and should not wait for it: solvers capture it once
/// and launch it many times. The workspace may hold vectors of another precision.
pub trait Preconditioner<T: Number, D: Device>: Sync {
    /// Scratch memory of `apply`.
    type Workspace: Send;

    /// Allocates the memory, once for all applications.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn workspace(&self, device: &D) -> Result<Self::Workspace, DeviceError>;

    /// z = M⁻¹ r, without allocating.
    ///
    /// # Errors
    /// The vectors do not have the matrix's size, or the device fails.
    fn apply(
        &self,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        workspace: &mut Self::Workspace,
    ) -> Result<(), OperatorError>;
}

impl<T: Number, D: Device, P: Preconditioner<T, D>> Preconditioner<T, D> for &P {
    type Workspace = P::Workspace;

    fn workspace(&self, device: &D) -> Result<Self::Workspace, DeviceError> {
        (**self).workspace(device)
    }

    fn apply(
        &self,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        workspace: &mut Self::Workspace,
    ) -> Result<(), OperatorError> {
        (**self).apply(r, z, workspace)
    }
}

/// The preconditioner of a system: one that solvers fuse with their own work, or any other.
#[derive(Default)]
pub enum Preconditioning<'a, T: Number, D: Device> {
    /// No preconditioner: z = r.
    #[default]
    Identity,
    /// The inverse of the diagonal.
    Jacobi(&'a Jacobi<T, D>),
    /// Any other with its workspace, made by [`Preconditioning::any`].
    Any(Application<'a, T, D>),
}

/// z = M⁻¹ r for given r and z.
type Application<'a, T, D> = Box<
    dyn FnMut(&<D as Device>::Buffer<T>, &mut <D as Device>::Buffer<T>) -> Result<(), OperatorError>
        + Send
        + 'a,
>;

impl<'a, T: Number, D: Device> Preconditioning<'a, T, D> {
    /// Any preconditioner, with its workspace.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn any<P>(device: &D, preconditioner: P) -> Result<Self, DeviceError>
    where
        P: Preconditioner<T, D> + Send + 'a,
        P::Workspace: 'a,
    {
        let mut workspace = preconditioner.workspace(device)?;
        Ok(Self::Any(Box::new(move |r, z| {
            preconditioner.apply(r, z, &mut workspace)
        })))
    }
}

impl<'a, T: Number, D: Device> From<Option<&'a Jacobi<T, D>>> for Preconditioning<'a, T, D> {
    fn from(jacobi: Option<&'a Jacobi<T, D>>) -> Self {
        jacobi.map_or(Self::Identity, Self::Jacobi)
    }
}

/// Why a diagonal is unsuitable as a preconditioner.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum JacobiError {
    /// An entry that is infinite or NaN.
    #[error(
        "entry {index} of the diagonal is {value:.3e}: the form's derivative has no finite value in this state, or none in \
         this precision; give a start where it has one, or take fp64 and other units"
    )]
    NotFinite {
        /// The first such entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// An entry that is not positive, or whose inverse is not finite.
    #[error(
        "entry {index} of the diagonal is {value:.3e}; a positive definite operator has positive finite entries: check \
         the signs of the form (the flux f1 of -div(kappa grad u) is kappa*grad(u)) and that the precision has numbers so \
         small; where a nonlinear form's derivative vanishes in the state, give another start; or take gmres without \
         preconditioner"
    )]
    NotPositive {
        /// The first such entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A device error.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Division by the diagonal of the operator.
pub struct Jacobi<T: Number, D: Device> {
    device: D,
    pub(crate) inverse: D::Buffer<T>,
}

impl<T: Number, D: VectorOps<T>> Jacobi<T, D> {
    /// The preconditioner of an operator with this diagonal.
    ///
    /// # Errors
    /// [`JacobiError::NotPositive`] or [`JacobiError::NotFinite`] names the first entry that is zero, negative or not
    /// finite.
    pub fn new(device: &D, diagonal: &D::Buffer<T>) -> Result<Self, JacobiError> {
        let mut inverse = device.zeros(diagonal.len())?;
        VectorOps::copy(device, diagonal, &mut inverse)?;
        if device.invert(&mut inverse)? > 0.0 {
            let mut values = vec![T::default(); diagonal.len()];
            device.read(diagonal, &mut values)?;
            if let Some(index) = values.iter().position(|&value| !invertible(value)) {
                let value = values[index].to_f64();
                return Err(match value.is_finite() {
                    true => JacobiError::NotPositive { index, value },
                    false => JacobiError::NotFinite { index, value },
                });
            }
        }
        Ok(Self {
            device: device.clone(),
            inverse,
        })
    }
}

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Jacobi<T, D> {
    type Workspace = ();

    fn workspace(&self, _: &D) -> Result<(), DeviceError> {
        Ok(())
    }

    fn apply(
        &self,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        (): &mut (),
    ) -> Result<(), OperatorError> {
        self.device.copy(r, z)?;
        Ok(self.device.multiply(&self.inverse, z)?)
    }
}

impl<T: Number, D: Device> fmt::Debug for Jacobi<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jacobi")
            .field("size", &self.inverse.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::host::Host;

    fn jacobi(diagonal: &[f64]) -> Result<Jacobi<f64, Host>, JacobiError> {
        let host = Host::with_threads(1)?;
        Jacobi::new(&host, &host.upload(diagonal)?)
    }

    #[test]
    fn it_divides_by_the_diagonal() {
        let host = Host::with_threads(1).unwrap();
        let r = host.upload(&[1.0, 2.0, 3.0]).unwrap();
        let mut z = host.zeros(3).unwrap();
        let jacobi = jacobi(&[2.0, 4.0, 8.0]).unwrap();
        jacobi.apply(&r, &mut z, &mut ()).unwrap();
        assert_eq!(z[..], [0.5, 0.5, 0.375]);
    }

    #[test]
    fn the_first_bad_entry_is_named() {
        for bad in [0.0, -0.0, -1.0, f64::INFINITY, 1e-310] {
            let error = jacobi(&[1.0, bad, 0.0]).unwrap_err();
            let (index, value) = (1, bad);
            let wanted = match bad.is_finite() {
                true => JacobiError::NotPositive { index, value },
                false => JacobiError::NotFinite { index, value },
            };
            assert_eq!(error, wanted);
        }
        let error = jacobi(&[1.0, 1.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, JacobiError::NotFinite { index: 2, value } if value.is_nan()));
    }

    #[test]
    fn a_residual_of_another_length_is_an_error() {
        let host = Host::with_threads(1).unwrap();
        let mut z = host.zeros(3).unwrap();
        let r = host.zeros(2).unwrap();
        let jacobi = jacobi(&[1.0; 3]).unwrap();
        assert!(jacobi.apply(&r, &mut z, &mut ()).is_err());
    }
}
