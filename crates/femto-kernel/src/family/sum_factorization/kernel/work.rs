//! Exact work of the pencil kernel under a schedule.

use super::{PointData, Problem, Schedule};
use crate::family::fields::FieldKind;
use crate::family::sum_factorization::work::Shape;
use crate::roofline::Work;

impl Problem<'_> {
    /// Work of one element apart from vectors, node tables and fields at the nodes: geometry, other fields,
    /// flops, shared memory.
    pub fn element_work(&self, schedule: &Schedule) -> Work {
        let shape = &self.shape;
        let points = shape.fields.count(FieldKind::Points) * shape.points_1d.pow(3);
        let fields = match schedule.points {
            // Folded into the geometry.
            PointData::Factors { .. } => 0,
            _ => shape.fields.count(FieldKind::Cell) + points,
        };
        let geometry = (self.geometry_len() * self.stored_precision().bytes()) as u64;
        // Written by the copies, read for each component.
        let staged = u64::from(schedule.points.is_staged()) * (1 + shape.components as u64);
        Work {
            bytes_read: geometry + (fields * self.precision.bytes()) as u64,
            bytes_written: 0,
            flops: shape.scheduled_flops(),
            shared_bytes: self.shared_bytes(schedule) + staged * geometry,
        }
    }

    /// Bytes that one element reads from and writes to shared memory, but for staged factors.
    pub fn shared_bytes(&self, schedule: &Schedule) -> u64 {
        let shape = &self.shape;
        let (q, g) = (shape.nodes_1d as u64, shape.points_1d as u64);
        let (points, components) = (g.pow(3), shape.components as u64);
        // Along j, i, k, one way.
        let interpolation = match shape.collocated {
            true => 0,
            false => q * q * g + q * g * (q + g) + q * g * g,
        };
        let accesses = Accesses::of(schedule.points);
        let gradients = u64::from(shape.gradients);
        let values = accesses.value * u64::from(shape.values);
        let of_component = 2 * interpolation + (gradients * accesses.component + values) * points;
        let of_fields = match schedule.points {
            PointData::Factors { .. } => 0,
            _ => accesses.of_fields(shape, interpolation, points),
        };
        (components * of_component + of_fields) * self.precision.bytes() as u64
    }
}

/// Accesses of a point in shared memory.
struct Accesses {
    /// Of a component with gradients: values in; two axes there and back, each read and written; the point
    /// step; sums.
    component: u64,
    /// Of a field with its gradient: values in, two axes, the form.
    field: u64,
    /// Of a value.
    value: u64,
}

impl Accesses {
    fn of(points: PointData) -> Self {
        let (component, field, value) = match points {
            PointData::Factors {
                keep_values,
                metric_unroll,
                ..
            } => {
                let again = u64::from(!keep_values) + 4 * u64::from(metric_unroll > 0);
                (1 + 4 + 4 + 4 + 2 + again, 0, 0)
            }
            PointData::Registers => (1 + 4 + 4 + 4 + 2, 1 + 4 + 2, 0),
            // The derivative along ζ too, written and read twice, and values read and written.
            PointData::Shared => (1 + 4 + 4 + 4 + 2 + 4, 1 + 4 + 2 + 2, 3),
            // Values in twice, and columns of each derivative read; on the way back fluxes written, and sums.
            PointData::Private => (2 * (2 + 2 + 4), 2 * 4, 0),
        };
        Self {
            component,
            field,
            value,
        }
    }

    fn of_fields(&self, shape: &Shape, interpolation: u64, points: u64) -> u64 {
        let fields = shape.fields.count(FieldKind::Nodal) as u64;
        let differentiated = u64::from(shape.field_gradients.count_ones());
        fields * (interpolation + self.value * points) + differentiated * self.field * points
    }
}
