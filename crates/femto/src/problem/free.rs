//! An operator on the free unknowns alone.

use crate::operator::{Backend, OperatorError};
use crate::solve::LinearOperator;
use crate::{Number, Operator};

/// `Pᵀ A P`: the operator on T-vectors, for solvers.
pub struct Free<'a, T: Number, D: Backend>(pub &'a Operator<T, D>);

impl<T: Number, D: Backend> LinearOperator<T, D> for Free<'_, T, D> {
    fn size(&self) -> usize {
        self.0.free_dofs()
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.0.apply(u, v)
    }
}
