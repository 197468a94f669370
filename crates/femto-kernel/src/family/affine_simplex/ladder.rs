//! The published ladder: eleven schedules, each one change of the one before.
//!
//! A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: monolithic kernel optimization on Titan
//! V" (2018), with the kernels of libParanumal. Step 9 there loads the factors of wrong elements; here they are
//! right.
//!
//! ```
//! use femto_kernel::family::affine_simplex::ladder;
//!
//! let steps = ladder::steps();
//! assert_eq!(steps.len(), 11);
//! assert_eq!(steps[6].change, "S_ab and S_ba in one matrix");
//! ```

use super::schedule::{Factors, Input, Rows, Schedule, row};
use crate::scalar::Precision;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 0.
    pub number: usize,
    /// Its change relative to the previous step.
    pub change: &'static str,
    /// Its schedule; steps 7 to 10 are tuned over elements of a thread, 8 to 10 over elements aside.
    pub schedule: Rows,
    /// Whether elements come from a list; otherwise they are consecutive.
    pub listed: bool,
}

impl Step {
    /// Flops for each number that a thread reads through a cache or shared memory, as the authors count: an entry of a
    /// matrix for two of them; from step 7 on seven entries and an input of each of the thread's elements for 14 of
    /// each.
    pub fn flops_per_access(&self, elements_per_thread: u32) -> f64 {
        let elements = f64::from(elements_per_thread);
        match self.number {
            0..7 => 2.0,
            _ => 14.0 * elements / (7.0 + elements),
        }
    }
}

/// The steps, in order, with one element per thread and aside.
pub fn steps() -> Vec<Step> {
    let mut schedule = Rows {
        const_inputs: false,
        unroll: 1,
        input: Input::Global,
        factors: Factors::Before,
        symmetric: false,
        elements_per_thread: 1,
        elements_aside: 1,
    };
    let mut steps = Vec::new();
    let mut add = |change, schedule: Rows| {
        let number = steps.len();
        steps.push(Step {
            number,
            change,
            schedule,
            listed: number < 9,
        });
    };
    add("a row per thread, ten matrices", schedule);
    schedule.const_inputs = true;
    add("inputs are const", schedule);
    schedule.unroll = 0;
    add("columns unrolled", schedule);
    schedule.input = Input::Register;
    add("u read once a column", schedule);
    schedule.input = Input::Shared;
    add("u in shared memory", schedule);
    schedule.factors = Factors::Shared;
    add("factors in shared memory", schedule);
    schedule.symmetric = true;
    add("S_ab and S_ba in one matrix", schedule);
    add("several elements a thread", schedule);
    add("several elements side by side", schedule);
    schedule.factors = Factors::SharedFlat;
    add("factors loaded flat, consecutive elements", schedule);
    schedule.factors = Factors::After;
    add("factors read last, into registers", schedule);
    steps
}

/// The elements of a thread and side by side that were published for step 10 (or 9) on a Titan V, for a number of
/// nodes.
pub fn published(nodes: usize, precision: Precision) -> (u32, u32) {
    const FP64: [(u32, u32); 8] = [
        (1, 24),
        (5, 3),
        (4, 3),
        (5, 7),
        (4, 1),
        (6, 3),
        (4, 3),
        (4, 3),
    ];
    const FP32: [(u32, u32); 8] = [
        (2, 24),
        (6, 3),
        (4, 3),
        (8, 7),
        (3, 6),
        (4, 3),
        (6, 3),
        (5, 5),
    ];
    row(
        if precision == Precision::Fp64 {
            &FP64
        } else {
            &FP32
        },
        nodes,
    )
}

impl Step {
    /// Whether the step has several elements per thread.
    pub fn tunes_thread(&self) -> bool {
        self.number >= 7
    }

    /// Whether the step has several elements side by side.
    pub fn tunes_block(&self) -> bool {
        self.number >= 8
    }

    /// The step with these many elements per thread and side by side, where it is tuned over them.
    pub fn with(&self, per_thread: u32, aside: u32) -> Schedule {
        Schedule::Rows(Rows {
            elements_per_thread: if self.tunes_thread() { per_thread } else { 1 },
            elements_aside: if self.tunes_block() { aside } else { 1 },
            ..self.schedule
        })
    }
}
