//! Exact work: bytes and flops, from sizes.

use super::source::KernelSpec;
use super::tables::Tables;
use crate::family::Vectors;
use crate::family::fields::{FieldKind, Fields};
use crate::form::Inspection;
use crate::roofline::Work;

/// Flops of a prism: sums and products with table entries that are zero or one count like the others. Kernels of
/// degree 1 take `level` derivatives along the triangle once for all points of a level.
pub(super) fn flops(tables: &Tables, of: &Inspection, fields: Fields, level: bool) -> u64 {
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
    let [along_level, along_point] = if level { [2, 0] } else { [0, 4 * nt] };
    let [back_level, back_point] = if level { [4, 2] } else { [0, 4 * nt] };
    // Of a level: contractions there and back, heights.
    let contract = 4 * nt * nz * (components + nodal) + 2 * nt * nz * (1 + gradients) * components;
    let of_level = contract
        + 3 * (3 + 2)
        + 3
        + along_level * with_gradients
        + back_level * gradients * components;
    // Of a point: z_ζ and its inverse, the scale; values; gradients with the slope; fluxes and their sums.
    let read = 2 * nt * (reads_values * components + nodal)
        + (along_point + 2 * nt + 1 + 4 + 6) * with_gradients;
    let tested = values * (1 + 2 * nt) + gradients * (8 + 6 + 2 * nt + back_point);
    let of_point = 6 + 1 + 3 + read + components * tested + of.flops() as usize;
    (base + qz * (of_level + qt * of_point)) as u64
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
        Work {
            bytes_read: (of_columns + prisms * (fields + read) * numbers) as u64,
            bytes_written: (prisms * written * numbers) as u64,
            flops: prisms as u64 * flops(self.tables, of, self.fields, self.tables.degree == 1),
            ..Work::default()
        }
    }
}
