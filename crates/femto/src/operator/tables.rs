//! Basis and quadrature rule of an operator.

use super::{OperatorError, Quadrature};
use femto_element::basis::{BasisError, LagrangeBasis};
use femto_element::quadrature::{Rule, Rule1d, rule};
use femto_element::tables::{DenseTables, Tables, TensorTables};
use femto_element::{Cell, Degree};
use femto_fem::geometry::Geometry;
use femto_fem::space::Space;
use femto_kernel::family::FamilyId;
use femto_kernel::form::TracedForm;
use std::sync::Arc;

/// The tables for a form on a space, as its family needs them. `is_constant` marks the auxiliary fields
/// that are constant in each cell; `curved` means that some cell is.
pub(super) fn tables(
    (space, geometry): (&Space, &Geometry),
    family: FamilyId,
    form: &TracedForm,
    quadrature: Quadrature,
    on: (impl Fn(usize) -> bool, bool),
) -> Result<Tables, OperatorError> {
    let (cell, degree) = (space.cell(), space.degree());
    if family.wants_tensor_tables() {
        if !degree.is_uniform() {
            let found = degree;
            return Err(BasisError::NotUniform { found, cell }.into());
        }
        let tables = quadrature.tables(cell, degree.horizontal)?;
        return Ok(Tables::Tensor(Arc::new(tables)));
    }
    if !cell.is_tensor_product() && form.inspect().gradients() {
        quadrature.require(degree, |degree| 2 * degree - 2)?;
    }
    let rule = rule_on((cell, degree), quadrature.of_form(form, (cell, degree), on))?;
    let tables = DenseTables::in_space(&LagrangeBasis::new(cell, degree)?, &rule, geometry.dim());
    Ok(Tables::Dense(Arc::new(tables)))
}

/// The rule on a cell, for a space of this degree; `quadrature` depends on no form unless the cell is a tensor product.
///
/// # Errors
/// A degree or number of points out of range; points by axis on other cells.
pub(crate) fn rule_on(
    (cell, degree): (Cell, Degree),
    quadrature: Quadrature,
) -> Result<Rule, OperatorError> {
    match quadrature {
        _ if cell.is_tensor_product() => {
            let axes = cell.steps(degree).into_iter().take(cell.dim());
            let lines = axes.map(|degree| quadrature.tables(Cell::Line, degree));
            let lines: Vec<TensorTables> = lines.collect::<Result<_, _>>()?;
            let exact = lines.iter().map(TensorTables::exact_to).min();
            let lines: Vec<Rule1d> = lines.iter().map(TensorTables::line_rule).collect();
            Ok(Rule::product(&lines, exact.unwrap_or(0)))
        }
        Quadrature::Exact(exact) => Ok(rule(cell, exact)?),
        Quadrature::GaussOrExact(exact) => Ok(rule(cell, exact)?),
        Quadrature::Gauss | Quadrature::GaussPoints(_) | Quadrature::Collocated => {
            Err(OperatorError::QuadratureByAxis)
        }
    }
}
