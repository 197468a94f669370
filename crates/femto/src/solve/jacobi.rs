//! The diagonal as a preconditioner.

use super::{OperatorError, Preconditioner, Product, Structure};
use crate::Number;
use crate::vector::VectorOps;
use femto_platform::device::{Buffer, Device, DeviceError};
use std::fmt;
use thiserror::Error;

/// Why a diagonal is no preconditioner.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum JacobiError {
    /// An entry that no positive definite matrix has, or whose inverse is not a finite number.
    #[error(
        "entry {index} of the diagonal is {value}; a positive definite operator has positive finite entries"
    )]
    NotPositive {
        /// The first such entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Division by the diagonal of the operator.
pub struct Jacobi<T: Number, D: Device> {
    inverse: D::Buffer<T>,
}

impl<T: Number, D: Device> Jacobi<T, D> {
    /// The preconditioner of an operator with this diagonal.
    ///
    /// # Errors
    /// [`JacobiError::NotPositive`] names the first entry that is zero, negative or not finite.
    pub fn new(device: &D, diagonal: &D::Buffer<T>) -> Result<Self, JacobiError> {
        let mut values = vec![T::default(); diagonal.len()];
        device.read(diagonal, &mut values)?;
        if device.info().executes {
            for (index, value) in values.iter_mut().enumerate() {
                *value = inverse_of(*value).ok_or(JacobiError::NotPositive {
                    index,
                    value: value.to_f64(),
                })?;
            }
        }
        let inverse = device.upload(&values)?;
        Ok(Self { inverse })
    }
}

/// The inverse of a positive number, where both are finite.
fn inverse_of<T: Number>(value: T) -> Option<T> {
    let inverse = T::from_f64(1.0) / value;
    let good = |number: T| number.to_f64() > 0.0 && number.to_f64().is_finite();
    (good(value) && good(inverse)).then_some(inverse)
}

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Jacobi<T, D> {
    fn apply(
        &self,
        device: &D,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        product: Product<'_, D>,
    ) -> Result<(), OperatorError> {
        let Product { sums, slot } = product;
        Ok(device.precondition_dot(&self.inverse, r, z, sums, slot)?)
    }

    fn structure(&self) -> Structure<'_, D::Buffer<T>> {
        Structure::Diagonal(&self.inverse)
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
    use crate::vector::{Sum, Sums};
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
        let mut sums = Sums::new(&host, 1).unwrap();
        let sums_of = Product {
            sums: &mut sums,
            slot: 0,
        };
        let jacobi = jacobi(&[2.0, 4.0, 8.0]).unwrap();
        jacobi.apply(&host, &r, &mut z, sums_of).unwrap();
        assert_eq!(z[..], [0.5, 0.5, 0.375]);
        sums.read(&host).unwrap();
        assert_eq!(sums.get(Sum::Last(0)), 0.5 + 1.0 + 1.125);
    }

    #[test]
    fn the_first_bad_entry_is_named() {
        for bad in [0.0, -0.0, -1.0, f64::INFINITY, 1e-310] {
            let error = jacobi(&[1.0, bad, 0.0]).unwrap_err();
            let wanted = JacobiError::NotPositive {
                index: 1,
                value: bad,
            };
            assert_eq!(error, wanted);
        }
        let error = jacobi(&[1.0, 1.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, JacobiError::NotPositive { index: 2, value } if value.is_nan()));
    }

    #[test]
    fn a_residual_of_another_length_is_an_error() {
        let host = Host::with_threads(1).unwrap();
        let mut z = host.zeros(3).unwrap();
        let r = host.zeros(2).unwrap();
        let mut sums = Sums::new(&host, 1).unwrap();
        let product = Product {
            sums: &mut sums,
            slot: 0,
        };
        let jacobi = jacobi(&[1.0; 3]).unwrap();
        assert!(jacobi.apply(&host, &r, &mut z, product).is_err());
    }
}
