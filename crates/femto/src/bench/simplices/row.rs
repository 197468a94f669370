//! The result of a candidate's measurement.

use super::{Candidate, SimplexCase};
use crate::bench::Timing;
use femto_kernel::family::simplex_quadrature::Shape;
use femto_kernel::family::simplex_quadrature::schedule::Schedule;
use femto_kernel::family::simplex_quadrature::source::Vectors;
use femto_kernel::family::simplex_quadrature::work::knepley::Model;
use femto_kernel::roofline::{Ceilings, Precision, Work, bound};
use femto_platform::device::DeviceInfo;
use femto_platform::device::accelerator::Usage;
use serde::Serialize;

/// The result of a candidate's measurement: a flat record, one line of a CSV file.
///
/// Seconds, bytes, flops and everything per second are plain numbers without prefixes.
#[derive(Clone, Debug, Serialize)]
pub struct SimplexRow {
    /// The form: `poisson` or `elasticity`.
    pub form: &'static str,
    /// 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// `element`: E-vectors, geometry stored. `nodal`: L-vectors, geometry from vertices, the output set
    /// to zero first.
    pub vectors: &'static str,
    /// Which kernel.
    pub kernel: &'static str,
    /// Its knobs.
    pub schedule: String,
    /// The fastest of its case and kind of vectors.
    pub best: bool,
    /// N_bl of Knepley et al., of its kernel.
    pub blocks_per_batch: Option<u32>,
    /// N_cb of Knepley et al., of its kernel.
    pub batches_per_chunk: Option<u32>,
    /// Threads of a block.
    pub threads: u32,
    /// Cells of a block.
    pub cells_per_block: usize,
    /// Cells together in geometry and tables.
    pub data_together: usize,
    /// Cells together in E-vectors.
    pub vectors_together: usize,
    /// Number of cells.
    pub cells: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Length of the L-vector.
    pub dofs: usize,
    /// The device: `cuda:0`.
    pub device: String,
    /// The maker's name of the device.
    pub device_name: String,
    /// Bytes of its cache: what an application reads and writes should be many times as much.
    pub cache_bytes: u64,

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
    /// Cells per second.
    pub cell_rate: f64,
    /// Entries of the L-vector per second, for L-vectors.
    pub dof_rate: Option<f64>,
    /// The largest difference from the oracle, relative to the largest entry: on the first cells, or
    /// at some nodes.
    pub error: f64,

    /// Flops by Knepley et al.'s equation 7.
    pub knepley_flops: u64,
    /// Those per second: what Knepley et al.'s figures show.
    pub knepley_flop_rate: f64,
    /// Bytes by Knepley et al.'s equation 6, for E-vectors.
    pub knepley_bytes: Option<u64>,
    /// Those per second.
    pub knepley_byte_rate: Option<f64>,
    /// Knepley et al.'s prediction: these bytes at the rate of a copy.
    pub knepley_seconds: Option<f64>,
    /// `knepley_seconds / seconds`: the fraction of the bandwidth by Knepley et al.'s count, never clamped.
    pub knepley_fraction: Option<f64>,
    /// `seconds / knepley_seconds - 1`: how far Knepley et al.'s prediction is off.
    pub knepley_deviation: Option<f64>,

    /// Bytes that one application must read.
    pub bytes_read: u64,
    /// Bytes that it must write.
    pub bytes_written: u64,
    /// Bytes of shared memory that threads read and write.
    pub shared_bytes: u64,
    /// Flops as the schedule does them.
    pub flops: u64,
    /// Bytes read and written per second.
    pub byte_rate: f64,
    /// All bytes at the rate of a copy.
    pub predicted_seconds: f64,
    /// `seconds / predicted_seconds - 1`.
    pub deviation: f64,
    /// The shortest time that the ceilings allow these bytes.
    pub bound_seconds: f64,
    /// `bound_seconds / seconds`, never clamped.
    pub fraction: f64,

    /// Nonzeros of the assembled matrix, for L-vectors.
    pub csr_nonzeros: Option<u64>,
    /// The shortest time of a product with it in rows (CSR, 32-bit columns) that the ceilings allow.
    pub csr_seconds: Option<f64>,
    /// `csr_seconds / seconds`: how many times faster than that.
    pub csr_ratio: Option<f64>,

    /// Registers of a thread, where the driver tells.
    pub registers: Option<u32>,
    /// Bytes of a thread in slow memory, such as spilled registers.
    pub local_bytes: Option<u32>,
    /// Bytes of shared memory of a block.
    pub block_shared_bytes: u32,
    /// Seconds to compile, or to fetch from the cache.
    pub compile_seconds: f64,
}

/// What a row is made from, besides case and candidate.
pub(super) struct Outcome {
    pub(super) shape: Shape,
    pub(super) cells: usize,
    pub(super) nodes: usize,
    pub(super) couplings: usize,
    pub(super) device: DeviceInfo,
    pub(super) cache_bytes: u64,
    pub(super) timing: Timing,
    pub(super) error: f64,
    pub(super) work: Work,
    pub(super) usage: Usage,
    pub(super) threads: u32,
    pub(super) block_shared_bytes: u32,
    pub(super) compile_seconds: f64,
}

impl Outcome {
    fn dofs(&self) -> usize {
        self.nodes * self.shape.components
    }

    fn csr_nonzeros(&self) -> u64 {
        (self.couplings * self.shape.components.pow(2)) as u64
    }
}

/// The work of a product with an assembled matrix in rows: values and columns, ends of rows, two vectors.
pub(super) fn csr(nonzeros: u64, dofs: u64, precision: Precision) -> Work {
    let numbers = precision.bytes() as u64;
    Work {
        bytes_read: nonzeros * (numbers + 4) + dofs * (numbers + 4),
        bytes_written: dofs * numbers,
        ..Work::default()
    }
}

impl SimplexRow {
    pub(super) fn new(
        case: &SimplexCase,
        candidate: &Candidate,
        outcome: &Outcome,
        ceilings: &Ceilings,
    ) -> Self {
        let Outcome {
            work,
            timing,
            shape,
            cells,
            ..
        } = outcome;
        let (precision, schedule) = (case.precision, &candidate.schedule);
        let seconds = timing.median;
        let nodal = candidate.vectors != Vectors::Element;
        let (batch, chunk) = match schedule {
            Schedule::Transposition(it) => (Some(it.blocks_per_batch), Some(it.batches_per_chunk)),
            _ => (None, None),
        };
        let model = Model::new(shape, batch.unwrap_or(1), precision.bytes());
        let knepley_flops = *cells as u64 * model.flops_per_cell();
        let knepley_bytes = (!nodal).then(|| *cells as u64 * model.bytes_per_cell());
        let knepley_seconds = knepley_bytes.map(|bytes| bytes as f64 / ceilings.copy);
        let predicted_seconds = work.bytes() as f64 / ceilings.copy;
        let bound_of = |work: &Work| bound(work, ceilings, precision).memory_seconds;
        let csr = csr(outcome.csr_nonzeros(), outcome.dofs() as u64, precision);
        let (bound_seconds, csr) = (bound_of(work), bound_of(&csr));
        let csr_seconds = nodal.then_some(csr);
        Self {
            form: case.form.name(),
            dim: case.dim,
            precision,
            vectors: if nodal { "nodal" } else { "element" },
            kernel: schedule.name(),
            schedule: schedule.to_string(),
            best: false,
            blocks_per_batch: batch,
            batches_per_chunk: chunk,
            threads: outcome.threads,
            cells_per_block: schedule.cells_per_block(shape),
            data_together: candidate.interleave.data,
            vectors_together: candidate.interleave.vectors,
            cells: *cells,
            nodes: outcome.nodes,
            dofs: outcome.dofs(),
            device: outcome.device.id().to_string(),
            device_name: outcome.device.name.clone(),
            cache_bytes: outcome.cache_bytes,
            samples: timing.samples,
            repeats: timing.repeats,
            seconds,
            seconds_min: timing.min,
            seconds_max: timing.max,
            cell_rate: *cells as f64 / seconds,
            dof_rate: nodal.then(|| outcome.dofs() as f64 / seconds),
            error: outcome.error,
            knepley_flops,
            knepley_flop_rate: knepley_flops as f64 / seconds,
            knepley_bytes,
            knepley_byte_rate: knepley_bytes.map(|bytes| bytes as f64 / seconds),
            knepley_seconds,
            knepley_fraction: knepley_seconds.map(|it| it / seconds),
            knepley_deviation: knepley_seconds.map(|it| seconds / it - 1.0),
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            shared_bytes: work.shared_bytes,
            flops: work.flops,
            byte_rate: work.bytes() as f64 / seconds,
            predicted_seconds,
            deviation: seconds / predicted_seconds - 1.0,
            bound_seconds,
            fraction: bound_seconds / seconds,
            csr_nonzeros: nodal.then(|| outcome.csr_nonzeros()),
            csr_seconds,
            csr_ratio: csr_seconds.map(|it| it / seconds),
            registers: outcome.usage.registers,
            local_bytes: outcome.usage.local_bytes,
            block_shared_bytes: outcome.block_shared_bytes,
            compile_seconds: outcome.compile_seconds,
        }
    }

    fn group(&self) -> (&'static str, usize, &'static str, &'static str) {
        (self.form, self.dim, self.precision.name(), self.vectors)
    }
}

/// Marks the fastest row of each case and kind of vectors, and no other.
pub fn mark_best(rows: &mut [SimplexRow]) {
    for index in 0..rows.len() {
        let row = &rows[index];
        let faster =
            |other: &SimplexRow| other.group() == row.group() && other.seconds < row.seconds;
        let best = !rows.iter().any(faster);
        rows[index].best = best;
    }
}
