//! Assembled equations of any precision on any device.

use super::{Assembled, Method, ProblemError, Solution, StageMonitor};
use crate::Number;
use crate::operator::{AnyOperator, Backend};
use crate::vector::VectorOps;
use femto_fem::space::{Block, Constraints};

/// [`Assembled`] equations whose precision and device do not show: see
/// [`Problem::assemble_on`](super::Problem::assemble_on).
pub trait AnyAssembled {
    /// As [`Assembled::blocks`].
    fn blocks(&self) -> &[Block];

    /// As [`Assembled::constraints`].
    fn constraints(&self) -> &Constraints;

    /// As [`Assembled::linear_operator`].
    fn linear_operator(&self) -> &dyn AnyOperator;

    /// As [`Assembled::method`].
    fn method(&self) -> Method;

    /// As [`Assembled::solve`].
    ///
    /// # Errors
    /// As there.
    fn solve(&mut self, monitor: &mut dyn StageMonitor) -> Result<Solution, ProblemError>;
}

impl<T, B> AnyAssembled for Assembled<'_, T, B>
where
    T: Number,
    B: Backend + VectorOps<T> + VectorOps<f64>,
{
    fn blocks(&self) -> &[Block] {
        self.blocks()
    }

    fn constraints(&self) -> &Constraints {
        self.constraints()
    }

    fn linear_operator(&self) -> &dyn AnyOperator {
        self.linear_operator()
    }

    fn method(&self) -> Method {
        self.method()
    }

    fn solve(&mut self, monitor: &mut dyn StageMonitor) -> Result<Solution, ProblemError> {
        self.solve(monitor)
    }
}
