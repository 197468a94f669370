//! The trait for nonlinear equations, and their linearisation.

use crate::Number;
use crate::solve::{
    History, LinearOperator, OperatorError, Preconditioning, SolveError, StopReason,
};
use femto_platform::device::Device;

/// Equations R(u) = 0, as many as there are unknowns, and their derivative.
///
/// In a boundary value problem u is an L-vector with the given boundary values at its constrained entries,
/// where `residual` and `jacobian` return zero.
pub trait NonlinearProblem<T: Number, D: Device>: Sync {
    /// Length of its input and output vectors.
    fn size(&self) -> usize;

    /// r = R(u). If R has no value at u, r holds infinities or NaNs; that is not an error.
    ///
    /// # Errors
    /// A vector is not [`NonlinearProblem::size`] long, or the device fails.
    fn residual(&mut self, u: &D::Buffer<T>, r: &mut D::Buffer<T>) -> Result<(), OperatorError>;

    /// The size of the terms whose sum is the residual at `u`, the last one computed: forces, loads, and what forces would
    /// change by if u changed by itself. It is the reference of the relative tolerance; `None`, the default, refers
    /// that to the initial residual. `scratch` is overwritten.
    ///
    /// # Errors
    /// A vector is not [`NonlinearProblem::size`] long, or the device fails.
    fn forces(
        &mut self,
        u: &D::Buffer<T>,
        scratch: &mut D::Buffer<T>,
    ) -> Result<Option<f64>, OperatorError> {
        let _ = (u, scratch);
        Ok(None)
    }

    /// |D u| with the diagonal D of R'(u): the size of terms that may cancel in each entry of the residual, as in a state
    /// without any forces, so that the residual cannot be smaller than their rounding. By default zero. `scratch` is
    /// overwritten.
    ///
    /// # Errors
    /// As [`NonlinearProblem::forces`].
    fn cancelling(
        &mut self,
        u: &D::Buffer<T>,
        scratch: &mut D::Buffer<T>,
    ) -> Result<f64, OperatorError> {
        let _ = (u, scratch);
        Ok(0.0)
    }

    /// Linearises at `u`: [`NonlinearProblem::jacobian`] is that at `u` until the next call. `u` does not change in
    /// between.
    ///
    /// # Errors
    /// A vector is not [`NonlinearProblem::size`] long, the device fails, or R'(u) has no preconditioner.
    fn linearize(&mut self, u: &D::Buffer<T>) -> Result<(), StopReason>;

    /// v = R'(u) w at the u of the last [`NonlinearProblem::linearize`]. Until the next one it must issue
    /// the same device work each time, as [`LinearOperator::apply`].
    ///
    /// # Errors
    /// A vector is not [`NonlinearProblem::size`] long, or the device fails.
    fn jacobian(&self, w: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError>;

    /// The preconditioner of R'(u), perhaps made for an earlier u: the same until the next
    /// [`NonlinearProblem::linearize`] or [`NonlinearProblem::replace_preconditioner`]. By default the identity.
    ///
    /// # Errors
    /// Not enough memory.
    fn preconditioning(&self) -> Result<Preconditioning<'_, T, D>, StopReason> {
        Ok(Preconditioning::Identity)
    }

    /// The number of iterations after which [`NonlinearProblem::replace_preconditioner`] is called if a linear solve
    /// has not reached this relative tolerance; by default there is none.
    fn allowed(&self, tolerance: f64) -> usize {
        let _ = tolerance;
        usize::MAX
    }

    /// [`StopCriteria::max_stalled`](crate::solve::StopCriteria::max_stalled) of linear solves; by default there is none.
    fn max_stalled(&self) -> usize {
        usize::MAX
    }

    /// Called after each linear solve that reached its tolerance, with its history.
    fn solved(&mut self, history: &History) {
        let _ = history;
    }

    /// Replaces the preconditioner, with which a linear solve failed or took long, by another one of R'(u) at the `u`
    /// of the last [`NonlinearProblem::linearize`]; returns whether there is one, with which the solve goes on. By
    /// default there is not.
    ///
    /// # Errors
    /// As [`NonlinearProblem::linearize`].
    fn replace_preconditioner(
        &mut self,
        u: &D::Buffer<T>,
        failure: &SolveError,
    ) -> Result<bool, StopReason> {
        let _ = (u, failure);
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
