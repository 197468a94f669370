//! Kernel source and launches of a ladder step.

use super::super::schedule::{Sizes, Unroll};
use super::Step;
use crate::dialect::{BlockShape, Language, SourceBuilder, text};
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;

/// One launch, of a block per element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    /// Name of the kernel.
    pub entry: &'static str,
    /// Threads and shared memory of a block.
    pub block: BlockShape,
}

/// A kernel text with its launches.
///
/// Every kernel has the same arguments, in this order; unused ones may be any buffer:
///
/// | argument | type | |
/// |---|---|---|
/// | `lambda` | real | factor of the mass term; unused by BK1 |
/// | `g_interp` | input | nodes to points, `[points_1d][nodes_1d]`; unused by BK5 |
/// | `g_grad` | input | derivatives at points, `[points_1d][points_1d]`; unused by BK1 |
/// | `g_factors` | input | `[element][factor][k][j][i]` at the points, see [`super::Benchmark::factors`] |
/// | `g_u` | input | `[element][k][j][i]` at the nodes |
/// | `g_v` | output | likewise |
/// | `g_scratch` | output | `[element]` [`LadderKernel::scratch_reals_per_element`] |
#[derive(Clone, Debug, PartialEq)]
pub struct LadderKernel {
    /// The translation unit.
    pub text: String,
    /// The launches of one application, in order.
    pub launches: Vec<LaunchPlan>,
    /// Global scratch memory of an element, in numbers.
    pub scratch_reals_per_element: u32,
}

/// The kernel text of a step.
///
/// # Errors
/// If the schedule is illegal for the sizes or the device.
pub fn source(
    step: &Step,
    sizes: Sizes,
    language: Language,
    precision: Precision,
    limits: &Limits,
) -> Result<LadderKernel, ScheduleError> {
    let schedule = &step.schedule;
    schedule.validate(sizes, precision, limits)?;
    let (plan, block) = (schedule.plan(), schedule.block(sizes));
    let (common, memory) = (schedule.common(), schedule.memory(sizes));

    let mut source = SourceBuilder::new(language, precision, block);
    source.define("NODES_1D", sizes.nodes_1d);
    source.define("POINTS_1D", sizes.points_1d);
    source.define("CONST_INPUTS", u32::from(common.const_inputs));
    source.define("UNROLL_MOST", u32::from(common.unroll == Unroll::Most));
    source.define("UNROLL_ALL", u32::from(common.unroll == Unroll::All));
    for (name, value) in memory
        .definitions()
        .into_iter()
        .chain(plan.definitions(sizes))
    {
        source.define(name, value);
    }
    source.include(text!("family/hex_published/text/ladder.h"));
    for file in plan.files() {
        source.include(file);
    }
    let launch = |&entry: &&'static str| LaunchPlan { entry, block };
    Ok(LadderKernel {
        text: source.finish(),
        launches: plan.entries().iter().map(launch).collect(),
        scratch_reals_per_element: memory.scratch_reals(),
    })
}
