//! The published ladders on accelerators: every step on random factors and vectors.
//!
//! [`run_all`] measures many of them:
//!
//! 1. [`compile_all`] compiles the texts of all steps at a degree at the same time, into the cache on disk.
//! 2. [`LadderData::new`] makes the factors and vectors of one size, and the oracle's results for some
//!    elements.
//! 3. [`LadderData::measure`] compiles a step, compares its output, and times it.

mod data;
pub mod figure;
pub(crate) mod paper;
mod run;
mod view;

pub use data::LadderData;
pub use femto_kernel::family::hex_published::ladder::{LadderKernel, Step, source, steps};
pub use run::{Sweep, compile_all, run_all, select};

use super::BenchError;
use femto::accelerator::{language, limits};
use femto_kernel::family::hex_published::ladder::Benchmark;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::Features;

/// The size of a ladder's measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderSize {
    /// The operator.
    pub benchmark: Benchmark,
    /// Degree.
    pub degree: usize,
    /// Number of elements.
    pub elements: usize,
}

/// The text of a step for a device.
///
/// # Errors
/// [`BenchError::Illegal`], with the rule that the step breaks.
fn kernel(
    step: &Step,
    degree: usize,
    precision: Precision,
    features: &Features,
) -> Result<LadderKernel, BenchError> {
    let sizes = step.benchmark.sizes(degree as u32);
    let (language, limits) = (language(features), limits(features));
    Ok(source(step, sizes, language, precision, &limits)?)
}

#[cfg(test)]
mod tests;
