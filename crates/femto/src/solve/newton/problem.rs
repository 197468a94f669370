//! The trait of nonlinear equations, and their linearisation.

use crate::Number;
use crate::solve::{LinearOperator, OperatorError};
use femto_platform::device::Device;

/// Equations R(u) = 0, as many as there are unknowns, and their derivative.
///
/// Those of a boundary value problem are L-vectors: u has the given boundary values at its constrained entries,
/// where `residual` and `jacobian` give zero.
pub trait NonlinearProblem<T: Number, D: Device>: Sync {
    /// The length of the vectors that it takes and gives.
    fn size(&self) -> usize;

    /// r = R(u). Where R has no value at u, r holds infinities or NaNs; that is no error.
    ///
    /// # Errors
    /// Where a vector is not [`NonlinearProblem::size`] long or the device fails.
    fn residual(&mut self, u: &D::Buffer<T>, r: &mut D::Buffer<T>) -> Result<(), OperatorError>;

    /// The size of what the last residual is a difference of, such as forces and loads, which the relative tolerance
    /// refers to. Where it is not known, as by default, that is the residual of the start.
    fn forces(&self) -> Option<f64> {
        None
    }

    /// Makes [`NonlinearProblem::jacobian`] and [`NonlinearProblem::diagonal`] those at `u`, which stays
    /// as it is until the next call.
    ///
    /// # Errors
    /// Where a vector is not [`NonlinearProblem::size`] long or the device fails.
    fn linearize(&mut self, u: &D::Buffer<T>) -> Result<(), OperatorError>;

    /// v = R'(u) w at the u of the last [`NonlinearProblem::linearize`]. What it asks of a device must be
    /// the same each time between two of these, as for [`LinearOperator::apply`].
    ///
    /// # Errors
    /// Where a vector is not [`NonlinearProblem::size`] long or the device fails.
    fn jacobian(&self, w: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError>;

    /// Puts the diagonal of R'(u) into `diagonal`; false, as by default, where it is not known or not
    /// wanted as a preconditioner. Its entries must be positive.
    ///
    /// # Errors
    /// Where the vector is not [`NonlinearProblem::size`] long or the device fails.
    fn diagonal(&self, diagonal: &mut D::Buffer<T>) -> Result<bool, OperatorError> {
        let _ = diagonal;
        Ok(false)
    }
}

/// R'(u), for linear solvers.
pub(super) struct Linearized<'a, T: Number, D: Device>(pub(super) &'a dyn NonlinearProblem<T, D>);

impl<T: Number, D: Device> LinearOperator<T, D> for Linearized<'_, T, D> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.0.jacobian(u, v)
    }
}
