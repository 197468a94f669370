//! Kinds of auxiliary fields, and their order in a form.

use crate::dialect::SourceBuilder;
use crate::form::MAX_FIELDS;

/// The kind of an auxiliary field. All are scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FieldKind {
    /// One number per cell (P0).
    #[default]
    Cell,
    /// Values at the nodes of the solution's space.
    Nodal,
    /// Values at the quadrature points of each cell.
    Points,
}

/// The kinds of a form's auxiliary fields. Arrays group fields by kind, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fields {
    kinds: [FieldKind; MAX_FIELDS],
    len: usize,
}

impl Fields {
    /// Fields of these kinds, `[field]`; only the first [`MAX_FIELDS`] are kept.
    pub fn new(kinds: &[FieldKind]) -> Self {
        let mut fields = Self::default();
        for (own, &kind) in fields.kinds.iter_mut().zip(kinds) {
            *own = kind;
            fields.len += 1;
        }
        fields
    }

    /// The kinds, `[field]`.
    #[inline]
    pub fn kinds(&self) -> &[FieldKind] {
        &self.kinds[..self.len]
    }

    /// Number of fields.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Defines FIELDS, and for each kind their number, such as CELL_FIELDS, and the form's field for the n-th of them,
    /// such as CELL_FIELD(n).
    pub(super) fn define(&self, source: &mut SourceBuilder) {
        source.define("FIELDS", self.len);
        for (kind, name) in [
            (FieldKind::Cell, "CELL_FIELD"),
            (FieldKind::Nodal, "NODAL_FIELD"),
            (FieldKind::Points, "POINT_FIELD"),
        ] {
            source.define(&format!("{name}S"), self.count(kind));
            let chosen = |chain: String, (n, field)| format!("(n) == {n} ? {field} : {chain}");
            let chain = self.of(kind).enumerate().fold("0".to_owned(), chosen);
            source.define(&format!("{name}(n)"), format!("({chain})"));
        }
    }

    /// The fields of a kind, in the order of the arrays.
    #[inline]
    pub fn of(&self, kind: FieldKind) -> impl Iterator<Item = usize> {
        (0..self.len).filter(move |&field| self.kinds[field] == kind)
    }

    /// The number of fields of a kind.
    #[inline]
    pub fn count(&self, kind: FieldKind) -> usize {
        self.of(kind).count()
    }
}

/// A cell's auxiliary fields, grouped by kind in the order of the form.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellFields<'a> {
    /// The kind of each field of the form.
    pub fields: Fields,
    /// Constants of the cell, `[field]`.
    pub cell: &'a [f64],
    /// Values at the nodes, `[field][node]`.
    pub nodal: &'a [f64],
    /// Values at the points, `[field][point]`.
    pub points: &'a [f64],
}

impl<'a> CellFields<'a> {
    /// Constants of the cell only, `[field]`.
    pub fn constant(cell: &'a [f64]) -> Self {
        let kinds = [FieldKind::Cell; MAX_FIELDS];
        Self {
            fields: Fields::new(&kinds[..cell.len().min(MAX_FIELDS)]),
            cell,
            nodal: &[],
            points: &[],
        }
    }
}
