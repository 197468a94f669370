//! The result of a measurement.

use super::problem::Problem;
use super::{Benchmark, Measured, MeshShape, Params, Timing, VectorKind};
use crate::{DataLevel, Scatter};
use femto_kernel::roofline::{Ceilings, Precision, Work, bound};
use femto_platform::device::{DeviceInfo, DeviceKind};
use serde::Serialize;

/// The result of a measurement: a flat record, one line of a CSV file.
///
/// Seconds, bytes, flops and everything per second are plain numbers without prefixes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// One application, or one iteration of conjugate gradients.
    pub measured: Measured,
    /// The vectors that are counted: L, E or T.
    pub vector: VectorKind,
    /// Degree.
    pub degree: usize,
    /// Quadrature points along an axis.
    pub points_1d: usize,
    /// Numbers per node.
    pub components: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// How much of the geometry is stored.
    pub data_level: &'static str,
    /// How factors at points are stored: `same`, or `single`, where each of them, and so the operator, is
    /// changed by up to 6e-8 of itself.
    pub factors: &'static str,
    /// Coefficients were folded into the geometry where the form allows it.
    pub fold_coefficients: bool,
    /// How shared nodes are summed: `atomic` or `deterministic`.
    pub scatter: &'static str,
    /// The schedule of each kind of map, separated by semicolons.
    pub schedule: String,
    /// What went wrong without harm, such as a kernel that was wrong and is not used.
    pub warnings: String,
    /// The mesh.
    pub mesh: MeshShape,
    /// Number of cells along x.
    pub cells_x: usize,
    /// Number of cells along y.
    pub cells_y: usize,
    /// Number of cells along z.
    pub cells_z: usize,
    /// Number of elements.
    pub elements: usize,
    /// Length of the vectors: what [`Row::rate`] counts.
    pub dofs: usize,
    /// The device: `host`, `cuda:0`.
    pub device: String,
    /// The maker's name of the device.
    pub device_name: String,
    /// Threads of the host; of an accelerator, those that it holds at the same time.
    pub threads: usize,

    /// Number of samples.
    pub samples: usize,
    /// Applications or iterations per sample.
    pub repeats: usize,
    /// Seconds of one application or iteration: the median of the samples.
    pub seconds: f64,
    /// The fastest sample.
    pub seconds_min: f64,
    /// The slowest sample.
    pub seconds_max: f64,
    /// (slowest - fastest) / median.
    pub spread: f64,
    /// `dofs / seconds`.
    pub rate: f64,
    /// What the rate counts: "DOF/s on L-vectors", "nodes/s on E-vectors", "DOF/s on T-vectors".
    pub rate_unit: &'static str,

    /// The largest difference between an output and the host's, relative to the largest entry;
    /// nothing on the host itself and where vectors have more than 200 000 entries.
    pub error: Option<f64>,

    /// Bytes that one application must read.
    pub bytes_read: u64,
    /// Bytes that it must write.
    pub bytes_written: u64,
    /// Flops as scheduled.
    pub flops: u64,
    /// Flops of the operator as the literature counts them.
    pub nominal_flops: u64,
    /// Scheduled flops per second.
    pub flop_rate: f64,
    /// Bytes read and written per second.
    pub byte_rate: f64,

    /// The shortest time that the ceilings allow.
    pub bound_seconds: f64,
    /// What sets it: "memory" or "arithmetic".
    pub limit: String,
    /// `bound_seconds / seconds`, never clamped.
    pub fraction: f64,
    /// `flop_rate` over the measured rate of fused multiply-adds in this precision.
    pub fma_fraction: f64,
    /// `byte_rate` over the measured rate of a copy.
    pub copy_fraction: f64,
    /// The ceiling of a copy in bytes per second.
    pub ceiling_copy: f64,
    /// The ceiling of reads in bytes per second.
    pub ceiling_read: f64,
    /// The ceiling of writes in bytes per second.
    pub ceiling_write: f64,
    /// The ceiling of fused multiply-adds in this precision, in flops per second.
    pub ceiling_fma: f64,

    /// Seconds to make the mesh.
    pub mesh_seconds: f64,
    /// Seconds to classify the cells' maps.
    pub geometry_seconds: f64,
    /// Seconds to number the space.
    pub space_seconds: f64,
    /// Seconds to compile the kernels and to check them on a few elements; 0 on the host.
    pub compile_seconds: f64,
    /// Seconds to bind the operator: factors, their packing and transfer.
    pub operator_seconds: f64,
    /// Bytes that the operator holds per entry of an L-vector, vectors apart.
    pub operator_bytes_per_dof: f64,
}

/// What a row is made from, besides its parameters.
pub(super) struct Outcome<'a> {
    pub(super) problem: &'a Problem,
    pub(super) device: DeviceInfo,
    pub(super) points_1d: usize,
    pub(super) data_level: DataLevel,
    pub(super) schedule: String,
    pub(super) warnings: String,
    pub(super) dofs: usize,
    pub(super) work: Work,
    pub(super) nominal_flops: u64,
    pub(super) timing: Timing,
    pub(super) error: Option<f64>,
    pub(super) compile_seconds: f64,
    pub(super) operator_seconds: f64,
    pub(super) operator_bytes_per_dof: f64,
}

impl Row {
    pub(super) fn new(params: &Params, outcome: &Outcome<'_>, ceilings: &Ceilings) -> Self {
        let Outcome {
            problem,
            work,
            timing,
            ..
        } = outcome;
        let [cells_x, cells_y, cells_z] = problem.cells;
        let seconds = timing.median;
        let flop_rate = work.flops as f64 / seconds;
        let byte_rate = work.bytes() as f64 / seconds;
        let bound = bound(work, ceilings, params.precision);
        let ceiling_fma = ceilings.fma(params.precision);
        Self {
            benchmark: params.benchmark,
            measured: params.measured,
            vector: params.vector(),
            degree: params.degree,
            points_1d: outcome.points_1d,
            components: params.benchmark.components(),
            precision: params.precision,
            data_level: outcome.data_level.name(),
            factors: params.factors.name(),
            fold_coefficients: params.fold_coefficients,
            scatter: match outcome.device.kind {
                DeviceKind::Host => Scatter::Deterministic.name(),
                _ => params.scatter.name(),
            },
            schedule: outcome.schedule.clone(),
            warnings: outcome.warnings.clone(),
            mesh: params.mesh,
            cells_x,
            cells_y,
            cells_z,
            elements: problem.space.elements(),
            dofs: outcome.dofs,
            device: outcome.device.id().to_string(),
            device_name: outcome.device.name.clone(),
            threads: outcome.device.threads,
            samples: timing.samples,
            repeats: timing.repeats,
            seconds,
            seconds_min: timing.min,
            seconds_max: timing.max,
            spread: timing.spread(),
            rate: outcome.dofs as f64 / seconds,
            rate_unit: params.vector().unit(),
            error: outcome.error,
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            flops: work.flops,
            nominal_flops: outcome.nominal_flops,
            flop_rate,
            byte_rate,
            bound_seconds: bound.seconds,
            limit: bound.limit.to_string(),
            fraction: bound.fraction(seconds),
            fma_fraction: flop_rate / ceiling_fma,
            copy_fraction: byte_rate / ceilings.copy,
            ceiling_copy: ceilings.copy,
            ceiling_read: ceilings.read,
            ceiling_write: ceilings.write,
            ceiling_fma,
            mesh_seconds: problem.mesh_seconds,
            geometry_seconds: problem.geometry_seconds,
            space_seconds: problem.space_seconds,
            compile_seconds: outcome.compile_seconds,
            operator_seconds: outcome.operator_seconds,
            operator_bytes_per_dof: outcome.operator_bytes_per_dof,
        }
    }
}
