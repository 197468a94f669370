//! An operator with constrained entries, as solvers take it.

use crate::operator::{Backend, OperatorError};
use crate::solve::{Jacobi, JacobiError, LinearOperator};
use crate::vector::{Entries, VectorOps};
use crate::{Number, Operator};

/// `v = A u` on L-vectors, with the constrained entries of v then set to zero.
///
/// u must be zero there too; this is then A without the rows and columns of these entries. Solvers keep it
/// so if the right-hand side, the initial iterate and the preconditioner do.
pub struct Constrained<'a, T: Number, D: Backend> {
    operator: &'a Operator<T, D>,
    entries: &'a Entries<D>,
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Constrained<'a, T, D> {
    /// Constrains the listed entries.
    pub fn new(operator: &'a Operator<T, D>, entries: &'a Entries<D>) -> Self {
        Self { operator, entries }
    }

    /// The diagonal, an L-vector: that of A, and one at constrained entries.
    ///
    /// # Errors
    /// As [`Operator::diagonal`].
    pub fn diagonal(&self, d: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.operator.diagonal(d)?;
        Ok(self.operator.device().set_entries(self.entries, 1.0, d)?)
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
        Ok(self.operator.device().set_entries(self.entries, 0.0, v)?)
    }
}
