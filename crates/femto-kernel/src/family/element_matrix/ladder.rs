//! The published ladder: three schedules, each one change of the one before.
//!
//! A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: to precompute or not to precompute"
//! (2018), with the kernels of its driver, which reads the input of the first elements in all others; here each
//! element reads its own.
//!
//! ```
//! use femto_kernel::family::element_matrix::ladder;
//!
//! assert_eq!(ladder::steps()[1].change, "several elements a block");
//! ```

use super::schedule::Schedule;
use crate::family::ladder::{self, Change, climb};

/// A step, numbered from 0; steps 1 and 2 are tuned over the elements of a block.
pub type Step = ladder::Step<Schedule>;

const FIRST: Schedule = Schedule {
    triangle: false,
    elements_aside: 1,
    interleaved: false,
    rows_per_thread: 1,
    unroll: 0,
    prefetch: false,
    blocks_per_unit: 1,
};

const CHANGES: &[Change<Schedule>] = &[
    ("a row per thread, u in shared memory", |_| {}),
    ("several elements a block", |_| {}),
    ("the columns of a block's elements interleaved", |s| {
        s.interleaved = true;
    }),
];

/// The steps, in order, with one element per block.
pub fn steps() -> Vec<Step> {
    climb(0, FIRST, CHANGES)
}

/// The elements of a block that were published, for a degree.
pub fn published(degree: usize) -> u32 {
    match degree {
        0 | 1 => 8,
        2 => 3,
        _ => 1,
    }
}

impl Step {
    /// The step with this many elements per block, where it is tuned over them.
    pub fn with(&self, elements_aside: u32) -> Schedule {
        Schedule {
            elements_aside: if self.number == 0 { 1 } else { elements_aside },
            ..self.schedule
        }
    }
}
