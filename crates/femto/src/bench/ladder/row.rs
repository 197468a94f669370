//! The result of a ladder step's measurement.

use crate::bench::Timing;
use femto_kernel::family::tensor_hex::ladder::Step;
use femto_kernel::roofline::{Ceilings, Precision, Work, bound};
use femto_platform::device::DeviceInfo;
use femto_platform::device::accelerator::Usage;
use serde::Serialize;

/// The result of a ladder step's measurement: a flat record, one line of a CSV file.
///
/// Seconds, bytes, flops and everything per second are plain numbers without prefixes.
#[derive(Clone, Debug, Serialize)]
pub struct LadderRow {
    /// The step: `bk5/layers/7`.
    pub step: String,
    /// The benchmark.
    pub benchmark: &'static str,
    /// Which threads an element has: `layers` or `cubes`.
    pub threads: &'static str,
    /// The step's number.
    pub number: usize,
    /// What it changes on the step before.
    pub change: &'static str,
    /// The knobs that are set.
    pub schedule: String,
    /// Degree.
    pub degree: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// Number of elements.
    pub elements: usize,
    /// Length of an E-vector: what [`LadderRow::rate`] counts.
    pub nodes: usize,
    /// The device: `cuda:0`.
    pub device: String,
    /// The maker's name of the device.
    pub device_name: String,

    /// Number of samples.
    pub samples: usize,
    /// Applications per sample.
    pub repeats: usize,
    /// Device seconds of one application: the median of the samples.
    pub seconds: f64,
    /// The fastest sample.
    pub seconds_min: f64,
    /// The slowest sample.
    pub seconds_max: f64,
    /// Nodes per second.
    pub rate: f64,
    /// Nominal flops per second.
    pub flop_rate: f64,
    /// Bytes read and written per second.
    pub byte_rate: f64,
    /// The largest difference from the oracle on some elements, relative to the largest entry.
    pub error: f64,

    /// Bytes that one application must read.
    pub bytes_read: u64,
    /// Bytes that it must write.
    pub bytes_written: u64,
    /// Bytes of shared memory that threads read and write.
    pub shared_bytes: u64,
    /// Nominal flops.
    pub flops: u64,

    /// Seconds of a copy that moves as many bytes, reads and writes together.
    pub copy_seconds: f64,
    /// Flops per second that such a copy allows (Świrydowicz et al. 2019, eq. 12).
    pub roofline_copy: f64,
    /// Flops per second that the rate of shared memory allows (Świrydowicz et al. 2019, eq. 13).
    pub roofline_shared: Option<f64>,
    /// The shortest time that the ceilings allow.
    pub bound_seconds: f64,
    /// `bound_seconds / seconds`, never clamped.
    pub fraction: f64,

    /// Registers of a thread, where the driver tells; the most of all launches.
    pub registers: Option<u32>,
    /// Bytes of a thread in slow memory, such as spilled registers.
    pub local_bytes: Option<u32>,
    /// Bytes of shared memory of a block.
    pub block_shared_bytes: u32,
    /// Seconds to compile, or to fetch from the cache.
    pub compile_seconds: f64,
}

/// What a row is made from, besides the step.
pub(super) struct Outcome {
    pub(super) degree: usize,
    pub(super) precision: Precision,
    pub(super) elements: usize,
    pub(super) nodes: usize,
    pub(super) device: DeviceInfo,
    pub(super) timing: Timing,
    pub(super) error: f64,
    pub(super) work: Work,
    pub(super) copy_seconds: f64,
    pub(super) usage: Usage,
    pub(super) block_shared_bytes: u32,
    pub(super) compile_seconds: f64,
}

impl LadderRow {
    pub(super) fn new(step: &Step, outcome: &Outcome, ceilings: &Ceilings) -> Self {
        let Outcome { work, timing, .. } = outcome;
        let seconds = timing.median;
        let bound = bound(work, ceilings, outcome.precision);
        let flops = work.flops as f64;
        let shared = ceilings.shared.filter(|_| work.shared_bytes > 0);
        Self {
            step: step.to_string(),
            benchmark: step.benchmark.name(),
            threads: step.threads.name(),
            number: step.number,
            change: step.change,
            schedule: step.schedule.to_string(),
            degree: outcome.degree,
            precision: outcome.precision,
            elements: outcome.elements,
            nodes: outcome.nodes,
            device: outcome.device.id().to_string(),
            device_name: outcome.device.name.clone(),
            samples: timing.samples,
            repeats: timing.repeats,
            seconds,
            seconds_min: timing.min,
            seconds_max: timing.max,
            rate: outcome.nodes as f64 / seconds,
            flop_rate: flops / seconds,
            byte_rate: work.bytes() as f64 / seconds,
            error: outcome.error,
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            shared_bytes: work.shared_bytes,
            flops: work.flops,
            copy_seconds: outcome.copy_seconds,
            roofline_copy: flops / outcome.copy_seconds,
            roofline_shared: shared.map(|rate| flops * rate / work.shared_bytes as f64),
            bound_seconds: bound.seconds,
            fraction: bound.fraction(seconds),
            registers: outcome.usage.registers,
            local_bytes: outcome.usage.local_bytes,
            block_shared_bytes: outcome.block_shared_bytes,
            compile_seconds: outcome.compile_seconds,
        }
    }
}
