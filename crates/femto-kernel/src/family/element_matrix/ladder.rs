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

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 0.
    pub number: usize,
    /// Its change relative to the previous step.
    pub change: &'static str,
    /// Its schedule; steps 1 and 2 are tuned over the elements of a block.
    pub schedule: Schedule,
}

/// The steps, in order, with one element per block.
pub fn steps() -> Vec<Step> {
    let mut schedule = Schedule {
        triangle: false,
        elements_aside: 1,
        interleaved: false,
        rows_per_thread: 1,
        unroll: 0,
        prefetch: false,
    };
    let first = Step {
        number: 0,
        change: "a row per thread, u in shared memory",
        schedule,
    };
    let second = Step {
        number: 1,
        change: "several elements a block",
        ..first
    };
    schedule.interleaved = true;
    let third = Step {
        number: 2,
        change: "the columns of a block's elements interleaved",
        schedule,
    };
    vec![first, second, third]
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
