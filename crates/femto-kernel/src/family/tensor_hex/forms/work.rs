//! Exact work of the kernel.

use super::geometry::geometry_len;
use super::{FormSchedule, PointData};
use crate::family::fields::FieldKind;
use crate::family::tensor_hex::work::Shape;
use crate::roofline::Work;

/// Work of one element apart from vectors, node tables and fields at the nodes: geometry, other fields,
/// flops, shared memory.
pub fn element_work(shape: &Shape, schedule: &FormSchedule, bytes: usize) -> Work {
    let points = shape.fields.count(FieldKind::Points) * shape.points_1d.pow(3);
    let fields = shape.fields.count(FieldKind::Cell) + points;
    Work {
        bytes_read: ((geometry_len(shape) + fields) * bytes) as u64,
        bytes_written: 0,
        flops: shape.scheduled_flops(),
        shared_bytes: shared_bytes(shape, schedule, bytes),
    }
}

/// Bytes that one element reads from and writes to shared memory.
pub fn shared_bytes(shape: &Shape, schedule: &FormSchedule, bytes: usize) -> u64 {
    let (q, g) = (shape.nodes_1d as u64, shape.points_1d as u64);
    let (points, components) = (g.pow(3), shape.components as u64);
    let fields = shape.fields.count(FieldKind::Nodal) as u64;
    let differentiated = u64::from(shape.field_gradients.count_ones());
    // Along j, i, k, one way.
    let interpolation = match shape.collocated {
        true => 0,
        false => q * q * g + q * g * (q + g) + q * g * g,
    };
    // Of a component: values in; two axes there and back, each read and written; the form; sums. Of a
    // field: values in, two axes, the form.
    let (component, field, value) = match schedule.points {
        PointData::Registers => (1 + 4 + 4 + 4 + 2, 1 + 4 + 2, 0),
        // The derivative along ζ too, written and read twice, and values read and written.
        PointData::Shared => (1 + 4 + 4 + 4 + 2 + 4, 1 + 4 + 2 + 2, 3),
        // Values in twice, and columns of each derivative read; on the way back fluxes written, and sums.
        PointData::Private => (2 * (2 + 2 + 4), 2 * 4, 0),
    };
    let gradients = u64::from(shape.gradients);
    let values = value * u64::from(shape.values);
    let of_component = 2 * interpolation + (gradients * component + values) * points;
    let of_fields = fields * (interpolation + value * points) + differentiated * field * points;
    (components * of_component + of_fields) * bytes as u64
}
