//! The parameters of a problem's operators.

use super::Problem;
use crate::operator::Auxiliary;
use crate::{DataLevel, OperatorParams, Quadrature};
use femto_element::Cell;
use femto_fem::space::{Block, Space};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::form::TracedForm;

impl Problem<'_> {
    /// The operator's rule; unless cells are tensor products, the form and its derivative use the same one.
    pub(super) fn rule(&self, blocks: &[Block], form: &TracedForm) -> Quadrature {
        let fields = self.operator.fields();
        let is_constant = |field: usize| fields.kinds().get(field) == Some(&FieldKind::Cell);
        let curved = blocks.iter().any(|block| block.geometry.is_curved());
        // Of the cells whose rule depends on the form, one that needs the highest degree.
        let cells = blocks.iter().map(|block| block.space.cell());
        let cell = cells.min_by_key(|cell| (cell.is_tensor_product(), cell.is_simplex()));
        let cell = cell.unwrap_or(Cell::Hexahedron);
        let rule = self.operator.quadrature;
        rule.of_form(form, (cell, self.degree), (is_constant, curved))
    }

    /// The operator's parameters, with its rule.
    pub(super) fn operator_params(&self, blocks: &[Block]) -> OperatorParams {
        let form = self.form.form().trace();
        // A form that is not linear has no matrices; its Jacobian does.
        let has_matrices = form.inspect().linear;
        OperatorParams {
            data_level: match self.operator.data_level {
                level if level.stores_matrices() && !has_matrices => DataLevel::Automatic,
                level => level,
            },
            quadrature: self.rule(blocks, &form),
            ..self.operator.clone()
        }
    }
}

/// Parameters for the form's derivative: the state, initially zero, comes before the other fields.
pub(super) fn jacobian_params(params: OperatorParams, space: &Space) -> OperatorParams {
    let state = (0..space.components()).map(|_| Auxiliary::Nodal(vec![0.0; space.nodes()]));
    let auxiliary = state.chain(params.auxiliary).collect();
    OperatorParams {
        auxiliary,
        ..params
    }
}
