//! Exact work: bytes and flops, from sizes.

use super::source::KernelSpec;
use super::tables::Tables;
use crate::family::Vectors;
use crate::family::fields::{FieldKind, Fields};
use crate::form::Inspection;
use crate::roofline::Work;

/// Flops of a prism: sums and products with table entries that are zero or one count like the others.
pub(super) fn flops(tables: &Tables, of: &Inspection, fields: Fields) -> u64 {
    let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
    let (values, gradients) = (
        usize::from(of.writes_values),
        usize::from(of.writes_gradients),
    );
    let nodal = fields.count(FieldKind::Nodal);
    let read = of.components + nodal;
    // Of the base: 4 differences, the determinant, its inverse.
    let base = 4 + 3 + 1 + 4;
    // Of a level: contractions there and back, heights.
    let contract = 4 * nt * nz * read + 2 * nt * nz * (1 + gradients) * of.components;
    let level = contract + 3 * (3 + 2) + 3;
    // Of a point: z_ζ and its inverse, the scale; values; gradients with the slope; fluxes and their sums.
    let slopes = 4 * nt + 2 * nt + 1 + 4 + 6;
    let with_gradients = usize::from(of.reads_gradients) * of.components + nodal;
    let tested = of.components * (values * (1 + 2 * nt) + gradients * (8 + 6 + 6 * nt));
    let point = 6 + 1 + 3 + 2 * nt * read + slopes * with_gradients + tested + of.flops() as usize;
    (base + qz * (level + qt * point)) as u64
}

impl KernelSpec<'_> {
    /// The work on all prisms, apart from L-vectors and fields in the solution's space: columns, fields, E-vectors.
    pub(super) fn work(&self, prisms: usize) -> Work {
        let (numbers, of) = (self.precision.bytes(), self.inspection);
        let (columns, nodes) = (self.columns, self.tables.nodes());
        let of_columns = size_of_val(&columns.starts[..])
            + (columns.bases.len() + columns.heights.len()) * numbers;
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
            flops: prisms as u64 * flops(self.tables, of, self.fields),
            ..Work::default()
        }
    }
}
