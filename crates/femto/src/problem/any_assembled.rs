//! Assembled equations of any precision on any device.

use super::{
    Assembled, Method, MultigridLevel, ProblemError, Solution, SparseSystem, StageMonitor,
};
use crate::Number;
use crate::operator::{AnyOperator, Application, Backend};
use crate::vector::VectorOps;
use femto_fem::space::{Block, Constraints};
use femto_platform::device::DeviceError;
use femto_platform::device::null::Null;

/// [`Assembled`] equations with precision and device erased: see
/// [`Discretized::assemble_on`](super::Discretized::assemble_on).
pub trait AnyAssembled {
    /// As [`Assembled::blocks`].
    fn blocks(&self) -> &[Block];

    /// As [`Assembled::constraints`].
    fn constraints(&self) -> &Constraints;

    /// As [`Assembled::linear_operator`].
    fn linear_operator(&self) -> &dyn AnyOperator;

    /// As [`Assembled::method`].
    fn method(&self) -> Method;

    /// As [`Assembled::multigrid_levels`].
    fn multigrid_levels(&self) -> Vec<MultigridLevel>;

    /// As [`Assembled::cycle_from`].
    ///
    /// # Errors
    /// As there.
    fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError>;

    /// As [`Assembled::sparse_system`].
    ///
    /// # Errors
    /// As there; the null device, which only counts.
    fn sparse_system(&self) -> Result<SparseSystem, ProblemError>;

    /// As [`Assembled::solve`].
    ///
    /// # Errors
    /// As there; the null device, which only counts.
    fn solve(&mut self, monitor: &mut dyn StageMonitor) -> Result<Solution, ProblemError>;
}

impl<T, B> AnyAssembled for Assembled<'_, T, B>
where
    T: Number,
    B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
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

    fn multigrid_levels(&self) -> Vec<MultigridLevel> {
        self.multigrid_levels()
    }

    fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError> {
        self.cycle_from(level)
    }

    fn sparse_system(&self) -> Result<SparseSystem, ProblemError> {
        self.sparse_system()
    }

    fn solve(&mut self, monitor: &mut dyn StageMonitor) -> Result<Solution, ProblemError> {
        self.solve(monitor)
    }
}

/// Equations on the null device, which need no solvers.
pub(super) struct Counted<'a, T: Number>(pub(super) Assembled<'a, T, Null>);

impl<T: Number> AnyAssembled for Counted<'_, T> {
    fn blocks(&self) -> &[Block] {
        self.0.blocks()
    }

    fn constraints(&self) -> &Constraints {
        self.0.constraints()
    }

    fn linear_operator(&self) -> &dyn AnyOperator {
        self.0.linear_operator()
    }

    fn method(&self) -> Method {
        self.0.method()
    }

    fn multigrid_levels(&self) -> Vec<MultigridLevel> {
        self.0.multigrid_levels()
    }

    fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError> {
        self.0.cycle_from(level)
    }

    fn sparse_system(&self) -> Result<SparseSystem, ProblemError> {
        Err(ProblemError::of_null_device(
            "find a matrix: it does nothing",
        ))
    }

    fn solve(&mut self, _: &mut dyn StageMonitor) -> Result<Solution, ProblemError> {
        Err(ProblemError::of_null_device("solve: it does nothing"))
    }
}
