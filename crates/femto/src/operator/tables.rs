//! Basis and quadrature rule of an operator.

use super::{OperatorError, Quadrature};
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::{DenseTables, Tables};
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
        return Ok(Tables::Tensor(Arc::new(quadrature.tables(cell, degree)?)));
    }
    if !cell.is_tensor_product() && form.inspect().gradients() {
        quadrature.require(degree, 2 * degree - 2)?;
    }
    let rule = match quadrature.of_form(form, (cell, degree), on) {
        _ if cell.is_tensor_product() => quadrature.tables(cell, degree)?.rule(),
        Quadrature::Exact(exact) | Quadrature::GaussOrExact(exact) => rule(cell, exact)?,
        Quadrature::Gauss | Quadrature::GaussPoints(_) | Quadrature::Collocated => {
            return Err(OperatorError::QuadratureByAxis);
        }
    };
    let tables = DenseTables::in_space(&LagrangeBasis::new(cell, degree)?, &rule, geometry.dim());
    Ok(Tables::Dense(Arc::new(tables)))
}
