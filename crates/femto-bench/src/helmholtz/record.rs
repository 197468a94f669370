//! The record of a stage.

use super::TOLERANCE;
use crate::record::Outcome;
use crate::{BenchError, Record, Timing};
use femto_kernel::family::prism_published::{Columns, Oracle, Stage, StageWork};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceInfo;
use femto_platform::device::accelerator::Usage;
use serde_json::json;

/// The name of all stages of the Challenge together.
pub(super) const TOGETHER: &str = "together";

/// What the records of a step or a variant have in common.
pub(super) struct Subject<'a> {
    /// A step or a variant of the host's loops.
    pub(super) name: String,
    /// The change of a step.
    pub(super) change: &'static str,
    pub(super) schedule: String,
    pub(super) columns: &'a Columns,
    pub(super) device: DeviceInfo,
    pub(super) ceilings: Ceilings,
}

/// A measured stage, or all of them together.
pub(super) struct Measured {
    pub(super) stage: &'static str,
    pub(super) timing: Timing,
    pub(super) work: StageWork,
    pub(super) error: f64,
    pub(super) usage: Usage,
}

impl Subject<'_> {
    pub(super) fn record(&self, measured: Measured) -> Record {
        let outcome = Outcome {
            precision: Precision::Fp64,
            device: self.device.clone(),
            timing: measured.timing,
            error: Some(measured.error),
            work: measured.work.work,
            ceilings: self.ceilings,
        };
        let mut record = Record::new("helmholtz", outcome);
        record.schedule.clone_from(&self.schedule);
        let columns = self.columns;
        record.setting = vec![
            ("step", json!(self.name)),
            ("change", json!(self.change)),
            ("stage", json!(measured.stage)),
            ("triangles", json!(columns.triangles())),
            ("layers", json!(columns.layers())),
            ("cells", json!(columns.cells())),
            ("nodes", json!(columns.nodes())),
            ("threads", json!(self.device.threads)),
        ];
        record.counts = vec![("cell_rate", Some(columns.cells()))];
        let nominal = measured.work.nominal_flops;
        record.extras = vec![
            ("nominal_flops", json!(nominal)),
            (
                "nominal_flop_rate",
                json!(nominal as f64 / record.seconds()),
            ),
            ("registers", json!(measured.usage.registers)),
            ("local_bytes", json!(measured.usage.local_bytes)),
        ];
        record
    }
}

/// The error of a stage's output, relative to the oracle's scale.
///
/// # Errors
/// [`BenchError::Wrong`] above [`TOLERANCE`].
pub(super) fn compare(oracle: &Oracle, stage: Stage, found: &[f64]) -> Result<f64, BenchError> {
    let error = match oracle.output(stage) {
        Some(wanted) => wanted.error(found),
        // Sums start from zero.
        None if found.iter().all(|&value| value == 0.0) => 0.0,
        None => f64::INFINITY,
    };
    match error <= TOLERANCE {
        true => Ok(error),
        false => Err(BenchError::Wrong {
            what: stage.to_string(),
            error,
            tolerance: TOLERANCE,
        }),
    }
}
