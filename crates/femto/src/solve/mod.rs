//! Solvers of linear systems whose matrix is only known by what it does to a vector, and of equations
//! that are not linear ([`newton`]).

pub mod cg;
pub mod gmres;
mod jacobi;
pub mod newton;
mod system;

pub use jacobi::{Jacobi, JacobiError};
pub use system::{Iteration, Observer, Reason, System};

pub use crate::operator::OperatorError;

use crate::Number;
use crate::vector::{Sums, VectorOps};
use femto_platform::device::Device;

/// A square matrix, known by what it does to a vector.
///
/// What `apply` asks of a device must be the same each time: solvers may have the device note it once
/// and replay it.
pub trait LinearOperator<T: Number, D: Device>: Sync {
    /// The length of the vectors that it takes and gives.
    fn size(&self) -> usize;

    /// v = A u.
    ///
    /// # Errors
    /// Where a vector is not [`LinearOperator::size`] long or the device fails.
    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError>;
}

/// An approximate inverse of a matrix.
///
/// What `apply` asks of a device must be the same each time, as for [`LinearOperator`].
pub trait Preconditioner<T: Number, D: Device>: Sync {
    /// z = M⁻¹ r; puts Σ r z, which is cheapest to take while both are at hand, into a slot.
    ///
    /// # Errors
    /// Where the vectors do not have the matrix's size or the device fails.
    fn apply(
        &self,
        device: &D,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        product: Product<'_, D>,
    ) -> Result<(), OperatorError>;

    /// What kind of matrix M⁻¹ is: where it is a simple one, solvers need no pass of its own for it, and
    /// no z.
    fn structure(&self) -> Structure<'_, D::Buffer<T>> {
        Structure::Any
    }
}

/// A kind of matrix.
#[derive(Debug)]
pub enum Structure<'a, B> {
    /// The identity.
    Identity,
    /// Entry by entry a product with this vector.
    Diagonal(&'a B),
    /// Any.
    Any,
}

impl<B> Clone for Structure<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Structure<'_, B> {}

/// Where [`Preconditioner::apply`] puts its sum.
#[derive(Debug)]
pub struct Product<'a, D: Device> {
    /// Sums on the device.
    pub sums: &'a mut Sums<D>,
    /// Which of them.
    pub slot: usize,
}

/// No preconditioner: z = r.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Identity {
    fn apply(
        &self,
        device: &D,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        product: Product<'_, D>,
    ) -> Result<(), OperatorError> {
        device.copy(r, z)?;
        Ok(device.dot_into(r, z, product.sums, product.slot)?)
    }

    fn structure(&self) -> Structure<'_, D::Buffer<T>> {
        Structure::Identity
    }
}
