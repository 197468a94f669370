//! An operator on T-vectors.

use crate::operator::{Backend, OperatorError};
use crate::solve::LinearOperator;
use crate::{Number, Operator};

/// `Pᵀ A P`: the operator with constrained unknowns left out, on T-vectors, for solvers.
pub struct Constrained<'a, T: Number, D: Backend>(pub &'a Operator<T, D>);

impl<T: Number, D: Backend> LinearOperator<T, D> for Constrained<'_, T, D> {
    fn size(&self) -> usize {
        self.0.free_dofs()
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.0.apply(u, v)
    }
}
