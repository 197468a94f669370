//! The published ladder: each step is one change of the one before.
//!
//! Steps 1 to 3 are the report's section 3.2, step 4 its section 3.3. Steps 5 to 9 are its section 3.4: with 6
//! accumulators the kernel got slower; with the loops interchanged, additions to one accumulator are 6 apart, then 12.
//! Their compiler unrolled all loops at the end; what it did before is not reported, and here the loop over points is not
//! unrolled. The last step was tried and dropped.

use super::{Accumulators, Loops, Schedule, Tables, Visit};
use crate::family::ladder::{self, Change, climb};
use core::fmt;

/// A step, numbered from 1.
pub type Step = ladder::Step<Schedule>;

impl fmt::Display for Step {
    /// The name used by [`find`]: `helmholtz/4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "helmholtz/{}", self.number)
    }
}

const CHANGES: &[Change<Schedule>] = &[
    ("a thread per cell, tables in thread-local memory", |_| {}),
    ("expression 1 visits nodes", |s| s.visit = Visit::Nodes),
    ("no copy: the load is passed on", |s| s.copy = false),
    ("tables in constant memory", |s| s.tables = Tables::Constant),
    ("rows summed before 6 atomic additions", |s| {
        s.row_sums = true
    }),
    ("6 accumulators", |s| s.accumulators = Accumulators::Rows),
    ("loops interchanged to point, k, j", |s| {
        s.loops = Loops::PointKJ
    }),
    ("12 accumulators, A[k % 2][j]", |s| {
        s.accumulators = Accumulators::HalfRows;
    }),
    ("all loops unrolled, as the authors' compiler did", |s| {
        s.unroll = true
    }),
    ("the loop over points innermost", |s| {
        s.loops = Loops::KJPoint
    }),
];

/// The steps, in order.
pub fn steps() -> Vec<Step> {
    climb(1, Schedule::default(), CHANGES)
}

/// The step with a name such as `helmholtz/4`.
pub fn find(name: &str) -> Option<Step> {
    steps().into_iter().find(|step| step.to_string() == name)
}
