//! Auxiliary fields of operators: values per cell, at nodes or at points.

use super::plan::FieldPlace;
use super::{OperatorError, OperatorParams};
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::{FieldKind, Fields};

/// An auxiliary field, read as `Point::a` and `Point::grad_a`.
#[derive(Clone, Debug, PartialEq)]
pub enum Auxiliary {
    /// Constant in each cell (P0), `[mesh cell]`, shape after shape; its gradient is zero.
    PerCell(Vec<f64>),
    /// In the space of the solution, values at its nodes `[node]`, in the numbering of
    /// [`Block::all`](femto_fem::space::Block::all) with the operator's `SpaceParams`, for a problem those of its degree,
    /// components and otherwise the defaults.
    Nodal(Vec<f64>),
    /// Known at the quadrature points only, `[cell][point]`, block after block, which may have different numbers of
    /// points; its gradient is unknown and reads as zero.
    AtPoints(Vec<f64>),
}

impl From<Vec<f64>> for Auxiliary {
    fn from(values: Vec<f64>) -> Self {
        Self::PerCell(values)
    }
}

impl Auxiliary {
    /// The values.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::PerCell(values) | Self::Nodal(values) | Self::AtPoints(values) => values,
        }
    }

    pub(crate) fn kind(&self) -> FieldKind {
        match self {
            Self::PerCell(_) => FieldKind::Cell,
            Self::Nodal(_) => FieldKind::Nodal,
            Self::AtPoints(_) => FieldKind::Points,
        }
    }

    fn place(&self) -> &'static str {
        match self {
            Self::PerCell(_) => "cells",
            Self::Nodal(_) => "nodes of the space",
            Self::AtPoints(_) => "points of cells",
        }
    }
}

impl OperatorParams {
    /// Checks the lengths of the fields, for L-vectors of this many nodes; `end` is the end of all blocks'
    /// cells.
    pub(super) fn check_auxiliary(
        &self,
        nodes: usize,
        end: FieldPlace,
    ) -> Result<(), OperatorError> {
        for (field, auxiliary) in self.auxiliary.iter().enumerate() {
            let expected = match auxiliary.kind() {
                FieldKind::Cell => end.cells,
                FieldKind::Nodal => nodes,
                FieldKind::Points => end.points,
            };
            let found = auxiliary.values().len();
            if found != expected {
                return Err(OperatorError::Auxiliary {
                    field,
                    found,
                    expected,
                    place: auxiliary.place(),
                });
            }
        }
        Ok(())
    }

    /// The kinds of the fields, in the order of the form.
    pub(crate) fn fields(&self) -> Fields {
        let kinds: Vec<FieldKind> = self.auxiliary.iter().map(Auxiliary::kind).collect();
        Fields::new(&kinds)
    }

    /// The initial time and parameters.
    pub(crate) fn context(&self) -> EvalContext<'_> {
        EvalContext {
            time: self.time,
            parameters: &self.parameters,
        }
    }

    /// The fields of a kind, in the order of the arrays.
    pub(crate) fn auxiliary_of(&self, kind: FieldKind) -> impl Iterator<Item = &[f64]> {
        let fields = self.auxiliary.iter();
        fields
            .filter(move |field| field.kind() == kind)
            .map(Auxiliary::values)
    }

    /// The cell-wise constant fields at one cell; NaN for other kinds.
    pub(crate) fn at_cell(&self, cell: usize) -> Vec<f64> {
        let value = |field: &Auxiliary| match field {
            Auxiliary::PerCell(values) => values[cell],
            Auxiliary::Nodal(_) | Auxiliary::AtPoints(_) => f64::NAN,
        };
        self.auxiliary.iter().map(value).collect()
    }
}
