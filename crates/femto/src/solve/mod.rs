//! Conjugate gradients, GMRES and Newton's method, matrix-free.
//!
//! All three return `Result<`[`SolveInfo`]`, `[`SolveError`]`>`, share the same [`StopCriteria`], report
//! every step to a [`Monitor`] and keep the same [`History`].

pub mod cg;
pub mod gmres;
pub mod krylov;
mod monitor;
pub mod newton;
mod outcome;
mod preconditioner;

pub use crate::operator::OperatorError;
pub use monitor::{History, Iteration, Monitor};
pub use outcome::{Method, SolveError, SolveInfo, StopCriteria, StopReason};
pub use preconditioner::{Jacobi, JacobiError, Preconditioner, Preconditioning};

use crate::Number;
use crate::vector::VectorOps;
use femto_platform::device::{Buffer, Device, DeviceError, check_len};

/// A square matrix, defined by its product with a vector.
///
/// `apply` must issue the same device work each time: solvers may capture it once and launch it many times.
pub trait LinearOperator<T: Number, D: Device>: Sync {
    /// Length of its input and output vectors.
    fn size(&self) -> usize;

    /// v = A u.
    ///
    /// # Errors
    /// A vector is not [`LinearOperator::size`] long, or the device fails.
    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError>;
}

/// A system to solve: A, M and their device.
pub struct System<'a, T: Number, D: Device> {
    /// The device of all vectors.
    pub device: &'a D,
    /// The matrix A; for conjugate gradients symmetric positive definite.
    pub operator: &'a dyn LinearOperator<T, D>,
    /// M⁻¹; for conjugate gradients symmetric positive definite.
    pub preconditioning: Preconditioning<'a, T, D>,
}

impl<T: Number, D: VectorOps<T>> System<'_, T, D> {
    /// Fails unless all vectors have the operator's size.
    fn check(
        &self,
        b: &D::Buffer<T>,
        x: &D::Buffer<T>,
        workspace: &D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        let size = self.operator.size();
        check_len("the right-hand side", b.len(), size)?;
        check_len("the start of the solution", x.len(), size)?;
        check_len("the workspace", workspace.len(), size)
    }

    /// r = b - A x; returns its norm.
    fn residual(
        &self,
        b: &D::Buffer<T>,
        x: &D::Buffer<T>,
        r: &mut D::Buffer<T>,
    ) -> Result<f64, OperatorError> {
        self.operator.apply(x, r)?;
        self.device.xpby(b, -1.0, r)?;
        Ok(self.device.norm(r)?)
    }
}

#[cfg(test)]
mod tests;
