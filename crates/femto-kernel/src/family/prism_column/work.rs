//! Exact work: bytes and flops, from sizes.

use super::source::KernelSpec;
use super::tables::Tables;
use crate::family::Vectors;
use crate::family::fields::{FieldKind, Fields};
use crate::form::Inspection;
use crate::roofline::Work;

/// What loops evaluate less often than at every point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// Derivatives along the triangle, once a level: kernels of degree 1.
    pub(super) level: bool,
    /// The map's derivatives, once a prism: columns of parallel triangles.
    pub(super) map: bool,
}

/// Flops of a prism: sums and products with table entries that are zero or one count like the others.
pub(super) fn flops(tables: &Tables, of: &Inspection, fields: Fields, shared: Shared) -> u64 {
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
    // Of the base: 4 differences, the determinant, its inverse.
    let base = 4 + 3 + 1 + 4;
    // Of derivatives along the triangle and of their transpose: of a level and of a point.
    let [along_level, along_point] = if shared.level { [2, 0] } else { [0, 4 * nt] };
    let [back_level, back_point] = if shared.level { [4, 2] } else { [0, 4 * nt] };
    // z at a level, its slopes and half the heights; z_ζ at a point, its inverse and the scale. Or once: half the height,
    // its inverse, slopes and the determinant.
    let [map, map_level, map_point] = match shared.map {
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

/// Flops of a prism by matrices of the triangle and of the line; entries at mirrored places are evaluated once if loops are
/// unrolled.
pub(super) fn flops_of_matrices(tables: &Tables, of: &Inspection, unrolled: bool) -> u64 {
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

/// Flops of a prism of degree 1 on the host, of λ u, κ ∇u at points.
pub(super) fn flops_folded(tables: &Tables, of: &Inspection) -> u64 {
    let (triangle, levels) = (tables.triangle[1], tables.line[1]);
    let [values, gradients] = [of.writes_values, of.writes_gradients].map(usize::from);
    // The base with its inverse, λ D, κ D and the metric.
    let map = 8 + values + (1 + 3 * 4) * gradients;
    let of_point = gradients * (5 + 4 + 8 + 3 + 4 + 2 + 5) + values * (4 + 2 + 5);
    // Contractions there and back, differences, sums of tests.
    let of_level = of.components * (3 * 6 + 4 + 6 + 6 * 4 + triangle * of_point);
    // Slopes of z; z_ζ, the scale, the inverse.
    (map + levels * (4 + 7 * triangle + of_level) + of.flops() as usize) as u64
}

impl KernelSpec<'_> {
    /// The work on all prisms, apart from L-vectors and fields in the solution's space: columns, fields, E-vectors.
    pub(super) fn work(&self, prisms: usize) -> Work {
        let (numbers, of) = (self.precision.bytes(), self.inspection);
        let (columns, nodes) = (self.columns, self.tables.nodes());
        let [integers, reals] = columns.lengths;
        let of_columns = integers * size_of::<u32>() + reals * numbers;
        let fields = self.fields.count(FieldKind::Cell)
            + self.fields.count(FieldKind::Points) * self.tables.points();
        let (read, written) = match self.vectors {
            Vectors::Element { .. } => {
                let nodal = self.fields.count(FieldKind::Nodal);
                ((of.components + nodal) * nodes, of.components * nodes)
            }
            Vectors::Nodal { .. } => (0, 0),
        };
        let shared = Shared {
            level: self.tables.degree == 1,
            map: self.parallel,
        };
        Work {
            bytes_read: (of_columns + prisms * (fields + read) * numbers) as u64,
            bytes_written: (prisms * written * numbers) as u64,
            flops: prisms as u64
                * match self.matrices {
                    Some(_) => flops_of_matrices(self.tables, of, self.is_unrolled()),
                    None => flops(self.tables, of, self.fields, shared),
                },
            ..Work::default()
        }
    }
}
