//! Exact work: bytes and flops, from sizes.

use super::parts::Parts;
use super::schedule::Schedule;
use super::source::KernelSpec;
use super::tables::Tables;
use crate::family::Vectors;
use crate::family::fields::{FieldKind, Fields};
use crate::form::Inspection;
use crate::roofline::Work;
use femto_element::Layering;

/// What loops evaluate less often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loops {
    /// Derivatives along the triangle, once a level: kernels of degree 1 there.
    pub(super) of_level: bool,
    /// The map's derivatives, once a prism if layers are parallel.
    pub(super) layering: Layering,
    /// Entries at mirrored places of matrices, once if loops are unrolled.
    pub(super) unrolled: bool,
}

/// Flops of a prism: sums and products with table entries that are zero or one count like the others.
pub(super) fn flops(tables: &Tables, of: &Inspection, fields: Fields, loops: Loops) -> u64 {
    let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
    let [reads_values, reads_gradients, values, gradients] = [
        of.reads_values,
        of.reads_gradients,
        of.writes_values,
        of.writes_gradients,
    ]
    .map(usize::from);
    let (components, nodal) = (of.components, fields.count(FieldKind::Nodal));
    let with_gradients = reads_gradients * components + nodal;
    // Of the base: 4 differences, the determinant; its inverse.
    let base = 4 + 3 + (1 + 4) * usize::from(with_gradients + gradients > 0);
    // Of derivatives along the triangle and of their transpose: of a level and of a point.
    let [along_level, along_point] = if loops.of_level { [2, 0] } else { [0, 4 * nt] };
    let [back_level, back_point] = if loops.of_level { [4, 2] } else { [0, 4 * nt] };
    // z at a level, its slopes and half the heights; z_ζ at a point, its inverse and the scale. Or once: half the height,
    // its inverse, slopes and the determinant.
    let [map, map_level, map_point] = match loops.layering.is_parallel() {
        true => [2 + 1 + 2 + 1, 3 * 3 * usize::from(of.reads_position), 2],
        false => [0, 3 * (3 + 2) + 3, 6 + 1 + 3],
    };
    // Of a level: contractions there and back.
    let contract = 4 * nt * nz * (components + nodal) + 2 * nt * nz * (1 + gradients) * components;
    let of_level =
        contract + map_level + along_level * with_gradients + back_level * gradients * components;
    // Of a point: values; gradients with the slope; fluxes and their sums.
    let read = 2 * nt * (reads_values * components + nodal)
        + (along_point + 2 * nt + 1 + 4 + 6) * with_gradients;
    let tested = values * (1 + 2 * nt) + gradients * (8 + 6 + 2 * nt + back_point);
    let of_point = map_point + read + components * tested + of.flops() as usize;
    (base + map + qz * (of_level + qt * of_point)) as u64
}

/// Flops of a prism by matrices of the triangle and of the line.
fn flops_of_matrices(tables: &Tables, of: &Inspection, unrolled: bool) -> u64 {
    let ([nt, _], [nz, _]) = (tables.triangle, tables.line);
    let [values, gradients] = [of.writes_values, of.writes_gradients].map(usize::from);
    // Edges and determinant, half the height; λ det J and κ G.
    let map = 7 + 2 + 2 * values + (3 + 4 + 3 * 4) * gradients;
    // Along the line: M; M of differences in the plane; K of differences.
    let line = values * nt * nz * (2 * nz + 1)
        + gradients * (nt - 1) * nz * (1 + 2 * nz)
        + gradients * nt * (nz - 1) * (1 + 2 * (nz - 1) + 3);
    // M of the triangle; its combined K.
    let triangle = nt * nt * 2 * nz + gradients * (nt - 1) * nz * (2 * (nt - 1) + 2);
    let entries = match unrolled {
        true => nt * (nt - 1) / 2,
        false => (nt - 1) * (nt - 1),
    };
    let entries = entries * 5 * gradients;
    (map + entries + (line + triangle) * of.components + of.flops() as usize) as u64
}

/// Flops of a prism of degree 1.
fn flops_of_linear(tables: &Tables, of: &Inspection, layering: Layering) -> u64 {
    let [values, gradients] = [of.writes_values, of.writes_gradients].map(usize::from);
    let points = tables.triangle[1];
    // m and t.
    let slopes = match layering {
        Layering::Level => 0,
        Layering::Parallel => 1,
        Layering::Any => 2,
    };
    // The mass; what is tested with 1/h.
    let [mass, steep] = match layering.is_parallel() {
        true => [6 * 2, 2 + 6],
        false => [6 * (5 + 1), points * (4 + 2 + 12)],
    };
    // Edges, determinant, heights; metric, what is tested with 1/h, ∫ h; slopes.
    let map = 7 + 6 + values * (1 + mass) + gradients * (2 + 12 + 2 + 6 + steep);
    let map = map + gradients * slopes * (2 + 12);
    let row = 5;
    let of_values = values * 6 * (row + 1);
    // Sums, differences; tested with ζ; along the triangle.
    let upwards = 3 * (row + 1) + usize::from(slopes > 0) * (3 + 4);
    let of_gradients = gradients * (4 + upwards + 4 * (4 + 2) + slopes * (4 + 4));
    (map + of.components * (12 + 12 + of_values + of_gradients) + of.flops() as usize) as u64
}

/// Flops of a prism above degree 1 on layers that slope.
fn flops_of_modes(tables: &Tables, of: &Inspection, parallel: bool) -> u64 {
    let ([nt, qt], [nz, _]) = (tables.triangle, tables.line);
    let [values, gradients] = [of.writes_values, of.writes_gradients].map(usize::from);
    let twisted = usize::from(!parallel);
    // Edges and determinant, half the heights; λ D; κ D, its inverse, the metric, slopes.
    let map = 7 + 6 + values + gradients * (2 + 3 * 4 + 4 + 2 * twisted);
    // Modes that are derivatives of others; pairs of neighbours among the lower ones.
    let derived = (0..nz).map(|i| i.div_ceil(2)).sum::<usize>();
    let neighbours = twisted * (2 * nz - 3);
    // At a point: u and what is tested with it, by modes.
    let of_values = (nz - 1 + values) * 4 * nt + values * 3 * nz;
    // Derivatives along the triangle and their transpose; s, a, fluxes, and the transpose of derivatives upwards.
    let of_gradients = nz * 8 * nt
        + 4 * (nz - 1)
        + 2 * derived
        + 4 * (2 * (nz - 1) + 3 * neighbours)
        + 10 * nz
        + 2 * (nz - 1);
    // The map there; then all of it.
    let of_point = twisted * (4 + 1) + 1 + of.components * (of_values + gradients * of_gradients);
    let of_component = 4 * nt * nz * nz;
    (map + of.components * of_component + qt * of_point + of.flops() as usize) as u64
}

impl<R> Parts<R> {
    /// Flops of a prism.
    pub(super) fn flops(&self, tables: &Tables, of: &Inspection, loops: Loops) -> u64 {
        match self {
            Self::Level(_) => flops_of_matrices(tables, of, loops.unrolled),
            Self::Linear(_) => flops_of_linear(tables, of, loops.layering),
            Self::Sloped(_) => flops_of_modes(tables, of, loops.layering.is_parallel()),
        }
    }
}

impl KernelSpec<'_> {
    /// The work on all prisms, apart from L-vectors and fields in the solution's space: columns, fields, E-vectors.
    pub(super) fn work(&self, schedule: &Schedule, prisms: usize) -> Work {
        let (numbers, of) = (self.precision.bytes(), &self.operator.inspection);
        let (columns, nodes) = (self.columns, self.tables.nodes());
        let [integers, reals] = columns.lengths;
        let of_columns = integers * size_of::<u32>() + reals * numbers;
        let fields = self.operator.fields.count(FieldKind::Cell)
            + self.operator.fields.count(FieldKind::Points) * self.tables.points();
        let (read, written) = match self.vectors {
            Vectors::Element { .. } => {
                let nodal = self.operator.fields.count(FieldKind::Nodal);
                ((of.components + nodal) * nodes, of.components * nodes)
            }
            Vectors::Nodal { .. } => (0, 0),
        };
        let loops = Loops {
            of_level: self.tables.degree.horizontal == 1,
            layering: self.operator.layering,
            unrolled: self.is_unrolled(schedule),
        };
        let components = schedule.components_at_once(of.components);
        let mut at_once = of.clone();
        at_once.components = components;
        let times = (of.components / components) as u64;
        let flops = match self.parts {
            Some(parts) => times * parts.flops(self.tables, &at_once, loops),
            None => times * flops(self.tables, &at_once, self.operator.fields, loops),
        };
        Work {
            bytes_read: (of_columns + prisms * (fields + read) * numbers) as u64,
            bytes_written: (prisms * written * numbers) as u64,
            flops: prisms as u64 * flops,
            ..Work::default()
        }
    }
}
