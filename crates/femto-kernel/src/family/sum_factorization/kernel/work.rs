//! Work of a kernel under a schedule.

use super::{KernelSpec, PointData, PointStep, Schedule, ThreadPer};
use crate::family::Vectors;
use crate::family::fields::FieldKind;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::{Metric, Shape};
use crate::roofline::Work;

/// Points of a pencil beyond which polynomials of the adjugate are faster than columns, measured on an H200.
const MOST_COLUMN_POINTS: usize = 10;

impl KernelSpec<'_> {
    /// Work of one element apart from vectors, node tables and fields at the nodes: geometry, other fields,
    /// flops, shared memory.
    pub fn element_work(&self, schedule: &Schedule) -> Work {
        let shape = &self.shape;
        let points = shape.fields.count(FieldKind::Points) * shape.points();
        let fields = match self.step {
            // Folded into the geometry.
            PointStep::Factors(_) => 0,
            PointStep::Form(_) => shape.fields.count(FieldKind::Cell) + points,
        };
        let geometry = (self.geometry_len() * self.stored_precision().bytes()) as u64;
        // Written by the copies, read once for components taken together.
        let read = (shape.components / self.coupled(schedule)) as u64;
        let staged = u64::from(schedule.staged) * (1 + read);
        Work {
            bytes_read: geometry + (fields * self.precision.bytes()) as u64,
            bytes_written: 0,
            flops: match schedule.thread_per {
                ThreadPer::Pencil => shape.pencil_flops(self.metric(schedule)),
                ThreadPer::Layer => shape.layer_flops(self.metric(schedule)),
                ThreadPer::Element if shape.storage == Storage::Entries => shape.entry_flops(),
                ThreadPer::Element => shape.whole_element_flops(self.metric(schedule)),
            },
            shared_bytes: self.shared_bytes(schedule)
                + staged * geometry
                + self.staged_bytes(schedule),
            ..Work::default()
        }
    }

    /// Bytes of staged nodes: numbers are written and read, there and back.
    fn staged_bytes(&self, schedule: &Schedule) -> u64 {
        let numbers = (self.basis.nodes() * self.shape.components * self.precision.bytes()) as u64;
        4 * u64::from(schedule.nodes_staged) * numbers
    }

    /// How the metric of a multilinear map is evaluated. Columns are the faster where pencils need more than the
    /// determinant, do not need it twice at a point, for values and gradients of folded factors, and have few points.
    pub(super) fn metric(&self, schedule: &Schedule) -> Metric {
        let shape = &self.shape;
        let is_folded = matches!(self.step, PointStep::Factors(_));
        let twice = schedule.thread_per == ThreadPer::Pencil && is_folded && shape.values;
        let few = shape.points_1d <= MOST_COLUMN_POINTS;
        Metric {
            columns: shape.dim == 3 && shape.gradients && !twice && few,
            matrix: is_folded && self.coupled(schedule) > 1,
            layers: false,
        }
    }

    /// Bytes of shared memory that one element reads and writes, except for staged factors.
    pub fn shared_bytes(&self, schedule: &Schedule) -> u64 {
        let shape = &self.shape;
        if schedule.thread_per == ThreadPer::Element {
            return self.shared_bytes_of_elements(schedule);
        }
        if schedule.thread_per == ThreadPer::Layer {
            // Each number is written and read, those of components there and back: values and two derivatives.
            let fields = shape.fields.count(FieldKind::Nodal);
            let of_fields = fields + 2 * shape.field_gradients.count_ones() as usize;
            let numbers = 2 * 3 * shape.components + of_fields;
            let points = shape.nodes_1d * shape.pencils();
            return 2 * (numbers * points * self.precision.bytes()) as u64;
        }
        let (q, g) = (shape.nodes_1d as u64, shape.points_1d as u64);
        let (points, components) = (shape.points() as u64, shape.components as u64);
        // Along j, i, k, one way; for quadrilaterals along j, i, then read at the points.
        let interpolation = match (shape.collocated, shape.dim) {
            (true, _) => 0,
            (false, 2) => q * g + g * (q + g) + g * g,
            (false, _) => q * q * g + q * g * (q + g) + q * g * g,
        };
        let accesses = Accesses::of(schedule, shape.dim as u64 - 1);
        let gradients = u64::from(shape.gradients);
        let values = accesses.value * u64::from(shape.values);
        let of_component = 2 * interpolation + (gradients * accesses.component + values) * points;
        let of_fields = match self.step {
            PointStep::Factors(_) => 0,
            PointStep::Form(_) => accesses.of_fields(shape, interpolation, points),
        };
        (components * of_component + of_fields) * self.precision.bytes() as u64
    }

    /// The same with an element per thread: geometry written, and read once, since compilers keep it in registers; nodes
    /// written, and read for inputs and, unless the block sums, for results; contributions and slots of sums
    /// written and read.
    fn shared_bytes_of_elements(&self, schedule: &Schedule) -> u64 {
        let shape = &self.shape;
        let nodes = self.basis.nodes() as u64;
        let (all, together) = (shape.components as u64, self.coupled(schedule) as u64);
        let summed = u64::from(schedule.block_sums);
        let numbers = self.geometry_len() as u64 * (1 + all / together) + summed * 2 * all * nodes;
        let indices = match self.vectors {
            Vectors::Nodal { .. } => 4 * (1 + all * (2 - summed)) + summed * 4,
            Vectors::Element { .. } => 0,
        };
        numbers * self.precision.bytes() as u64 + indices * nodes
    }
}

/// Shared memory accesses per point.
struct Accesses {
    /// For a component with gradients: values in; all axes but the last there and back, each read and
    /// written; the point step; sums.
    component: u64,
    /// For a field with its gradient: values in, these axes, the form.
    field: u64,
    /// For a value.
    value: u64,
}

impl Accesses {
    /// If `axes` are contracted in shared memory.
    fn of(schedule: &Schedule, axes: u64) -> Self {
        let (component, field, value) = match schedule.points {
            PointData::Registers => {
                let reloaded = u64::from(schedule.reload_values);
                let again = reloaded + 4 * u64::from(schedule.point_unroll > 0);
                (1 + 7 * axes + again, 1 + 3 * axes + reloaded, 0)
            }
            // Also the derivative along the last axis, written and read twice, and values read and written.
            PointData::Shared => (1 + 7 * axes + 4, 1 + 3 * axes + 2, 3),
            // Values in, and columns of the derivative read; on the way back fluxes written, and sums.
            PointData::Private => ((2 + 2 + 4) * axes, 4 * axes, 0),
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
