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

use super::choice::row;
use super::schedule::{Factors, Input, Rows, Schedule};
use crate::family::ladder::{self, Change, climb};
use crate::scalar::Precision;

/// A step, numbered from 0; steps 7 to 10 are tuned over elements of a thread, 8 to 10 over elements aside.
pub type Step = ladder::Step<Rows>;

impl Step {
    /// Whether elements come from a list; otherwise they are consecutive.
    pub fn listed(&self) -> bool {
        self.number < 9
    }

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

const FIRST: Rows = Rows {
    const_inputs: false,
    unroll: 1,
    input: Input::Global,
    factors: Factors::Before,
    symmetric: false,
    elements_per_thread: 1,
    elements_aside: 1,
    blocks_per_unit: 1,
};

const CHANGES: &[Change<Rows>] = &[
    ("a row per thread, ten matrices", |_| {}),
    ("inputs are const", |s| s.const_inputs = true),
    ("columns unrolled", |s| s.unroll = 0),
    ("u read once a column", |s| s.input = Input::Register),
    ("u in shared memory", |s| s.input = Input::Shared),
    ("factors in shared memory", |s| s.factors = Factors::Shared),
    ("S_ab and S_ba in one matrix", |s| s.symmetric = true),
    ("several elements a thread", |_| {}),
    ("several elements side by side", |_| {}),
    ("factors loaded flat, consecutive elements", |s| {
        s.factors = Factors::SharedFlat;
    }),
    ("factors read last, into registers", |s| {
        s.factors = Factors::After;
    }),
];

/// The steps, in order, with one element per thread and aside.
pub fn steps() -> Vec<Step> {
    climb(0, FIRST, CHANGES)
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

    /// The step with these many elements per thread and side by side, where it is tuned over them, and with registers for
    /// this many blocks.
    pub fn with(&self, per_thread: u32, aside: u32, blocks_per_unit: u32) -> Schedule {
        Schedule::Rows(Rows {
            elements_per_thread: if self.tunes_thread() { per_thread } else { 1 },
            elements_aside: if self.tunes_block() { aside } else { 1 },
            blocks_per_unit: match self.tunes_thread() {
                true => blocks_per_unit,
                false => self.schedule.blocks_per_unit,
            },
            ..self.schedule
        })
    }
}
