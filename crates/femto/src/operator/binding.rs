//! The inputs of binding: space, geometry, form, plan.

use super::Quadrature;
use super::plan::Plan;
use super::tables::Tables;
use super::{OperatorError, OperatorParams};
use femto_element::Cell;
use femto_fem::geometry::Geometry;
use femto_fem::space::Space;

/// The inputs of binding an operator to a device.
pub struct Binding<'a, F> {
    pub(crate) space: &'a Space,
    pub(crate) geometry: &'a Geometry,
    pub(crate) form: &'a F,
    pub(crate) params: &'a OperatorParams,
    pub(crate) plan: &'a Plan,
}

impl<'a, F> Binding<'a, F> {
    /// The mesh cell of an element of the space.
    pub(crate) fn mesh_cell(&self, element: usize) -> usize {
        self.space.cells()[element] as usize
    }

    /// The same without the form, for code that needs its graph alone.
    pub(crate) fn without_form(&self) -> Binding<'a, ()> {
        Binding {
            space: self.space,
            geometry: self.geometry,
            form: &(),
            params: self.params,
            plan: self.plan,
        }
    }

    /// Fails where a cell's map cannot be inverted at the points.
    pub(crate) fn check_geometry(&self) -> Result<(), OperatorError> {
        match &self.plan.tables {
            Tables::Hex(basis) => self.geometry.check(&basis.points)?,
            Tables::Dense(..) => {
                // Those of simplices are collapsed from a line's.
                let quadrature = match self.space.cell().is_tensor_product() {
                    true => self.params.quadrature,
                    false => Quadrature::Gauss,
                };
                let line = quadrature.tables(Cell::Line, self.space.degree())?;
                self.geometry.check(&line.points)?
            }
        };
        Ok(())
    }

    /// λ and κ of the form on a cell; zero where nothing is folded.
    pub(crate) fn coefficients(&self, cell: usize) -> (f64, f64) {
        match &self.plan.coefficients {
            None => (0.0, 0.0),
            Some(found) => found.at(&self.params.at_cell(cell)),
        }
    }
}
