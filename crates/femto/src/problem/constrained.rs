//! An operator with constraints, as solvers take it.

use crate::operator::{Backend, OperatorError};
use crate::solve::{Jacobi, JacobiError, LinearOperator};
use crate::vector::{Projector, VectorOps};
use crate::{Number, Operator};

/// `v = P A u` on L-vectors, with the projection P to those that are zero where they are constrained.
///
/// u must be one of them: this is then P A P, or A without the rows and columns of constrained entries. Solvers
/// keep it so if the right-hand side, the initial iterate and the preconditioner do.
pub struct Constrained<'a, T: Number, D: Backend> {
    operator: &'a Operator<T, D>,
    projector: &'a Projector<T, D>,
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Constrained<'a, T, D> {
    /// Constrains vectors to those of a projection.
    pub fn new(operator: &'a Operator<T, D>, projector: &'a Projector<T, D>) -> Self {
        Self {
            operator,
            projector,
        }
    }

    /// The diagonal, an L-vector: that of A, apart from [`Projector::set_diagonal`].
    ///
    /// # Errors
    /// As [`Operator::diagonal`].
    pub fn diagonal(&self, d: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.operator.diagonal(d)?;
        Ok(self.projector.set_diagonal(self.operator.device(), d)?)
    }

    /// Jacobi's preconditioner.
    ///
    /// # Errors
    /// As [`Constrained::diagonal`] and [`Jacobi::new`].
    pub fn jacobi<E>(&self) -> Result<Jacobi<T, D>, E>
    where
        E: From<OperatorError> + From<JacobiError>,
    {
        let device = self.operator.device();
        let diagonal = device.zeros(self.operator.dofs());
        let mut diagonal = diagonal.map_err(OperatorError::from)?;
        self.diagonal(&mut diagonal)?;
        Ok(Jacobi::new(device, &diagonal)?)
    }
}

impl<T: Number, D: Backend + VectorOps<T>> LinearOperator<T, D> for Constrained<'_, T, D> {
    fn size(&self) -> usize {
        self.operator.dofs()
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.operator.apply(u, v)?;
        Ok(self.projector.project(self.operator.device(), v)?)
    }
}
