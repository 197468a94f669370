//! The text of a step's kernels, and their launches.

use super::element::Element;
use super::{Columns, Stage, Step, Visit};
use crate::dialect::{BlockShape, Language, SourceBuilder, text};
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;

/// A translation unit with the kernels of all stages, [`Stage::entry`].
///
/// Every kernel has the same arguments, in this order; unused ones may be any buffer:
///
/// | argument | type | |
/// |---|---|---|
/// | `g_map` | `u32` | [`Columns::map`] |
/// | `g_coordinates` | double | [`Columns::coordinates`] |
/// | `g_in`, `g_copy`, `g_out` | double | [`Stage::bind`], `[node]`; sums start from zero |
#[derive(Clone, Debug, PartialEq)]
pub struct StageKernels {
    /// The translation unit.
    pub text: String,
    /// Threads of a block of every kernel: a column of nodes.
    pub block: BlockShape,
    visit: Visit,
}

impl StageKernels {
    /// Blocks of a stage's kernel.
    pub fn blocks(&self, stage: Stage, columns: &Columns) -> u32 {
        let over_cells =
            stage.is_sum() || (stage == Stage::Expression1 && self.visit == Visit::Cells);
        let blocks = match over_cells {
            true => columns.triangles(),
            false => columns.vertices(),
        };
        u32::try_from(blocks).unwrap_or(u32::MAX)
    }
}

/// The kernels of a step for columns of `layers` cells.
///
/// # Errors
/// If the schedule is illegal, or a column of nodes has more threads than a block of the device.
pub fn source(
    step: &Step,
    layers: usize,
    language: Language,
    limits: &Limits,
) -> Result<StageKernels, ScheduleError> {
    let schedule = &step.schedule;
    schedule.validate(layers, limits)?;
    let block = schedule.block(layers);
    let mut source = SourceBuilder::new(language, Precision::Fp64, block);
    source.define("LAYERS", layers);
    schedule.define(&mut source);
    source.table("c_tables", &Element::new().tables());
    source.include(text!("family/prism_published/text/cell.h"));
    source.include(text!("family/prism_published/text/stages.c"));
    Ok(StageKernels {
        text: source.finish(),
        block,
        visit: schedule.visit,
    })
}
