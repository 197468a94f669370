//! A problem's nonlinear equations for Newton's method, and their start.

use super::{Constrained, PreconditionerKind};
use crate::operator::{Backend, OperatorError};
use crate::solve::LinearOperator;
use crate::solve::newton::NonlinearProblem;
use crate::vector::{Entries, VectorOps};
use crate::{Number, Operator};

/// R(u) = A(u) - b, but zero at the constrained entries, where u keeps its boundary values.
pub(super) struct Equations<'a, T: Number, B: Backend> {
    pub(super) device: &'a B,
    pub(super) operator: &'a Operator<T, B>,
    /// The Jacobian; the state is its first nodal fields.
    pub(super) jacobian: &'a mut Operator<T, B>,
    pub(super) b: &'a B::Buffer<T>,
    /// |b|.
    pub(super) loads: f64,
    /// |A(u)| of the last residual, including the forces at the constrained entries.
    pub(super) forces: f64,
    pub(super) entries: &'a Entries<B>,
    pub(super) preconditioner: PreconditionerKind,
}

impl<T: Number, B: Backend + VectorOps<T>> Equations<'_, T, B> {
    fn constrained_jacobian(&self) -> Constrained<'_, T, B> {
        Constrained::new(self.jacobian, self.entries)
    }
}

impl<T: Number, B: Backend + VectorOps<T>> NonlinearProblem<T, B> for Equations<'_, T, B> {
    fn size(&self) -> usize {
        self.operator.dofs()
    }

    fn residual(&mut self, u: &B::Buffer<T>, r: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.operator.apply(u, r)?;
        self.forces = self.device.norm(r)?;
        self.device.axpy(-1.0, self.b, r)?;
        Ok(self.device.set_entries(self.entries, 0.0, r)?)
    }

    fn forces(&self) -> Option<f64> {
        Some(self.forces.max(self.loads))
    }

    fn linearize(&mut self, u: &B::Buffer<T>) -> Result<(), OperatorError> {
        self.jacobian.set_nodal(0, u)
    }

    fn jacobian(&self, w: &B::Buffer<T>, v: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.constrained_jacobian().apply(w, v)
    }

    fn diagonal(&self, diagonal: &mut B::Buffer<T>) -> Result<bool, OperatorError> {
        if self.preconditioner == PreconditionerKind::None {
            return Ok(false);
        }
        self.constrained_jacobian().diagonal(diagonal)?;
        Ok(true)
    }
}

/// J u = 0 at the free entries, with the current Jacobian: extends boundary values smoothly inwards, so
/// that Newton's method does not start with a jump next to the boundary.
pub(super) struct Extension<'e, 'a, T: Number, B: Backend>(pub(super) &'e Equations<'a, T, B>);

impl<T: Number, B: Backend + VectorOps<T>> NonlinearProblem<T, B> for Extension<'_, '_, T, B> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn residual(&mut self, u: &B::Buffer<T>, r: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.0.jacobian(u, r)
    }

    fn linearize(&mut self, _: &B::Buffer<T>) -> Result<(), OperatorError> {
        Ok(())
    }

    fn jacobian(&self, w: &B::Buffer<T>, v: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.0.jacobian(w, v)
    }

    fn diagonal(&self, diagonal: &mut B::Buffer<T>) -> Result<bool, OperatorError> {
        self.0.diagonal(diagonal)
    }
}
