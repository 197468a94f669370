//! Exact work of the kernel.

use super::Pencils;
use super::geometry::{FactorPrecision, geometry_len};
use crate::family::tensor_hex::work::Shape;
use crate::roofline::{Precision, Work};

/// Work of one element apart from vectors and node tables: geometry, flops, shared memory.
pub fn element_work(
    shape: &Shape,
    schedule: &Pencils,
    precision: Precision,
    factors: FactorPrecision,
) -> Work {
    let stored = factors.of(shape.storage, precision);
    let bytes_read = (geometry_len(shape) * stored.bytes()) as u64;
    // Written by the copies, read for each component.
    let staged = u64::from(schedule.staged) * (1 + shape.components as u64) * bytes_read;
    Work {
        bytes_read,
        bytes_written: 0,
        flops: shape.scheduled_flops(),
        shared_bytes: shared_bytes(shape, schedule, precision.bytes()) + staged,
    }
}

/// Bytes that one element reads from and writes to shared memory, but for staged factors.
pub fn shared_bytes(shape: &Shape, schedule: &Pencils, bytes: usize) -> u64 {
    let (q, g) = (shape.nodes_1d as u64, shape.points_1d as u64);
    // Along j, i, k on the way in, and the same on the way back.
    let interpolation = if shape.collocated {
        0
    } else {
        let along_j = q * q * g;
        let along_i = q * g * (q + g);
        let along_k = q * g * g;
        2 * (along_j + along_i + along_k)
    };
    // Values in; two axes there and back, each read and written; metric; sums.
    let again = u64::from(!schedule.keep_values) + 4 * u64::from(schedule.metric_unroll > 0);
    let differentiation = u64::from(shape.gradients) * (1 + 4 + 4 + 4 + 2 + again) * g.pow(3);
    shape.components as u64 * (interpolation + differentiation) * bytes as u64
}
