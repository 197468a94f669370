//! Stages of a problem, and the trait for monitoring them.

use super::ProblemError;
use crate::solve::Monitor;
use femto_fem::space::{Block, Constraints};
use std::fmt;

/// A stage of [`Problem::solve`](super::Problem::solve), in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The maps of the cells, and a check that they are invertible.
    Geometry,
    /// The numbering of unknowns.
    Space,
    /// The operator on the device.
    Operator,
    /// The right-hand side.
    Loads,
    /// The boundary values' part of the right-hand side.
    Lifting,
    /// The preconditioner; for nonlinear forms the Jacobian.
    Preconditioner,
    /// The iterations.
    Solve,
    /// Restoring the boundary values.
    Extend,
    /// The error against the exact solution.
    Errors,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Geometry => "geometry",
            Self::Space => "space",
            Self::Operator => "operator",
            Self::Loads => "loads",
            Self::Lifting => "boundary values",
            Self::Preconditioner => "preconditioner",
            Self::Solve => "solve",
            Self::Extend => "solution",
            Self::Errors => "errors",
        })
    }
}

/// A [`Monitor`] that also follows the stages and can stop the solve before any of them. By default every
/// function does nothing; `()` follows nothing.
pub trait StageMonitor: Monitor {
    /// A stage begins.
    fn begin(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// The stage begun last has ended, successfully or not.
    fn end(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// The unknowns are numbered.
    fn space(&mut self, blocks: &[Block], constraints: &Constraints) {
        let _ = (blocks, constraints);
    }

    /// Whether to stop; asked before every stage up to the iterations.
    fn stop(&mut self) -> bool {
        false
    }
}

impl StageMonitor for () {}

/// A monitor, with the bookkeeping of stages.
pub(super) struct Stages<'a>(pub(super) &'a mut dyn StageMonitor);

impl Stages<'_> {
    /// Runs one stage of the preparation, unless the monitor wants to stop.
    pub(super) fn run<R>(
        &mut self,
        stage: Stage,
        body: impl FnOnce() -> Result<R, ProblemError>,
    ) -> Result<R, ProblemError> {
        if self.0.stop() {
            return Err(ProblemError::Interrupted { stage });
        }
        self.last(stage, body)
    }

    /// Runs a stage without asking the monitor whether to stop.
    pub(super) fn last<R>(&mut self, stage: Stage, body: impl FnOnce() -> R) -> R {
        self.0.begin(stage);
        let result = body();
        self.0.end(stage);
        result
    }
}
