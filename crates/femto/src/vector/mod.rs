//! Vectors on a device: what a Krylov solver does between two applications of its operator.

mod accelerator;
pub(crate) mod cut;
mod host;
mod null;
mod replay;
mod sums;

pub use replay::Replay;
pub use sums::{Ratio, Sum, Sums};

use crate::Number;
use femto_platform::device::{Buffer, DeviceError, Element, check_len};

/// A device that can work on vectors of `T`.
///
/// Scalars go in and come out in double precision; sums are taken in double precision in an order
/// that depends on the length only, so that they are bitwise repeatable for any number of threads.
/// Functions that return a sum wait for it; those that put it into a slot of [`Sums`] do not.
/// Nothing is allocated. Every function returns [`DeviceError::LengthMismatch`] where its vectors
/// differ in length or a slot does not exist, and has then done nothing.
pub trait VectorOps<T: Number>: Replay + Sized {
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

    /// Puts Σ x y into a slot.
    fn dot_into(
        &self,
        x: &Self::Buffer<T>,
        y: &Self::Buffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError>;

    /// z = d r, entry by entry; puts Σ r z into a slot.
    fn precondition_dot(
        &self,
        d: &Self::Buffer<T>,
        r: &Self::Buffer<T>,
        z: &mut Self::Buffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError>;

    /// y = x + β y with a β that the device computes; where it is zero, y = x whatever y was.
    ///
    /// The next direction of conjugate gradients.
    fn direct(
        &self,
        beta: Ratio,
        x: &Self::Buffer<T>,
        y: &mut Self::Buffer<T>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError>;

    /// x = x + α p and r = r - α ap with an α that the device computes; puts Σ r r of the new r into a
    /// slot. Where α is zero, x and r stay, whatever p and ap are.
    ///
    /// The two updates of conjugate gradients and the norm that they need, in one pass.
    fn update(
        &self,
        alpha: Ratio,
        directions: Directions<'_, Self::Buffer<T>>,
        iterate: Iterate<'_, Self::Buffer<T>>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError>;
}

/// What [`VectorOps::update`] reads.
#[derive(Debug)]
pub struct Directions<'a, B> {
    /// The direction.
    pub p: &'a B,
    /// A p.
    pub ap: &'a B,
}

/// What [`VectorOps::update`] changes.
#[derive(Debug)]
pub struct Iterate<'a, B> {
    /// The solution so far.
    pub x: &'a mut B,
    /// The residual of x.
    pub r: &'a mut B,
}

/// Fails unless the vectors of an update have one length.
fn same_len_of_update<T: Element, B: Buffer<T>>(
    directions: &Directions<'_, B>,
    iterate: &Iterate<'_, B>,
) -> Result<(), DeviceError> {
    let Iterate { x, r } = iterate;
    same_len("p of update", directions.p, &**r)?;
    same_len("ap of update", directions.ap, &**r)?;
    same_len("x of update", &**x, &**r)
}

/// Fails unless `x`, called `what`, is as long as `y`.
fn same_len<T: Element>(
    what: &'static str,
    x: &impl Buffer<T>,
    y: &impl Buffer<T>,
) -> Result<(), DeviceError> {
    check_len(what, x.len(), y.len())
}

#[cfg(test)]
mod tests;
