//! Vectors on a device: what a Krylov solver does between two applications of its operator.

pub(crate) mod cut;
mod host;
mod null;

use crate::Number;
use femto_platform::device::{Buffer, Device, DeviceError, Element, check_len};

/// A device that can work on vectors of `T`.
///
/// Scalars go in and come out in double precision; sums are taken in double precision in an order
/// that depends on the length only, so that they are bitwise repeatable for any number of threads.
/// Nothing is allocated. Every function returns [`DeviceError::LengthMismatch`] where its vectors
/// differ in length, and has then done nothing.
pub trait VectorOps<T: Number>: Device {
    /// y = α.
    fn fill(&self, alpha: f64, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = x.
    fn copy(&self, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = y + α x.
    fn axpy(
        &self,
        alpha: f64,
        x: &Self::Buffer<T>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x + β y.
    fn xpby(
        &self,
        x: &Self::Buffer<T>,
        beta: f64,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x y, entry by entry.
    fn multiply(&self, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = y / x, entry by entry.
    fn divide(&self, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// Σ x y.
    fn dot(&self, x: &Self::Buffer<T>, y: &Self::Buffer<T>) -> Result<f64, DeviceError>;

    /// √(Σ x x), without care for squares that overflow.
    fn norm(&self, x: &Self::Buffer<T>) -> Result<f64, DeviceError>;

    /// x = x + α p and r = r - α ap; returns Σ r r of the new r.
    ///
    /// The two updates of conjugate gradients and the norm that they need, in one pass.
    fn update(
        &self,
        alpha: f64,
        p: &Self::Buffer<T>,
        ap: &Self::Buffer<T>,
        x: &mut Self::Buffer<T>,
        r: &mut Self::Buffer<T>,
    ) -> Result<f64, DeviceError>;

    /// z = d r, entry by entry; returns Σ r z.
    fn precondition_dot(
        &self,
        d: &Self::Buffer<T>,
        r: &Self::Buffer<T>,
        z: &mut Self::Buffer<T>,
    ) -> Result<f64, DeviceError>;
}

/// Fails unless `x`, called `what`, is as long as `y`.
fn same_len<T: Element>(
    what: &'static str,
    x: &impl Buffer<T>,
    y: &impl Buffer<T>,
) -> Result<(), DeviceError> {
    check_len(what, x.len(), y.len())
}
