//! The inputs of binding: space, geometry, form, plan.

use super::plan::Plan;
use super::{AnyForm, Quadrature};
use super::{OperatorError, OperatorParams};
use femto_element::Cell;
use femto_element::tables::Tables;
use femto_fem::geometry::{Geometry, GeometryAtPoints, Points};
use femto_fem::space::Space;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{Block, CellMap, GROUP, MapInput};

/// The inputs of binding an operator to a device.
pub struct Binding<'a> {
    pub(crate) space: &'a Space,
    pub(crate) geometry: &'a Geometry,
    pub(crate) form: &'a dyn AnyForm,
    pub(crate) params: &'a OperatorParams,
    pub(crate) plan: &'a Plan,
}

impl Binding<'_> {
    /// The mesh cell of an element of the space.
    pub(crate) fn mesh_cell(&self, element: usize) -> usize {
        self.space.cells()[element] as usize
    }

    /// Reads the maps of cells.
    pub(crate) fn maps(&self) -> Maps<'_> {
        let points = match &self.plan.operator.tables {
            Tables::Tensor(basis) => Points::Grid(basis.points.clone()),
            Tables::Dense(tables) => Points::List(tables.positions_3d()),
        };
        Maps {
            geometry: self.geometry,
            points,
        }
    }

    /// Fails if a cell's map cannot be inverted at a point.
    pub(crate) fn check_geometry(&self) -> Result<(), OperatorError> {
        match &self.plan.operator.tables {
            Tables::Tensor(basis) => self.geometry.check(&basis.points)?,
            Tables::Dense(_) => {
                // Simplex points are collapsed from those on a line.
                let line = Quadrature::Gauss.tables(Cell::Line, self.space.degree().most())?;
                self.geometry.check(&line.points)?
            }
        };
        Ok(())
    }

    /// The values of the auxiliary fields of a kind at a cell of the geometry, field by field.
    pub(crate) fn fields_at(&self, kind: FieldKind, cell: usize) -> impl Iterator<Item = &[f64]> {
        let range = self.plan.place.of_cell(kind, cell, self.plan.points());
        let fields = self.params.auxiliary_of(kind);
        fields.map(move |field| &field[range.clone()])
    }

    /// λ and κ of the form on a cell; zero if not folded.
    pub(crate) fn coefficients(&self, cell: usize) -> (f64, f64) {
        match &self.plan.operator.coefficients {
            None => (0.0, 0.0),
            Some(found) => found.at(&self.params.at_cell(self.plan.place.cells + cell)),
        }
    }
}

/// Packs elements of a block, at most [`GROUP`] of the binding's, for the host's loops or for a device.
pub(crate) struct GroupPacker<'a> {
    pub(crate) binding: &'a Binding<'a>,
    pub(crate) block: &'a Block,
    pub(crate) maps: &'a Maps<'a>,
    pub(crate) for_device: bool,
}

impl GroupPacker<'_> {
    /// Into `out`, `[element][number]`; `at` is scratch memory.
    pub(crate) fn pack(&self, elements: &[u32], at: &mut GeometryAtPoints, out: &mut [f64]) {
        let (binding, geometry) = (self.binding, self.binding.geometry);
        let (count, len) = (elements.len(), out.len() / elements.len());
        let cells = elements
            .iter()
            .map(|&element| binding.mesh_cell(element as usize));
        let cells = cells.map(|cell| (cell, binding.coefficients(cell)));
        match self.block.map_input() {
            MapInput::Map => {
                let mut maps = [[[0.0; 3]; 8]; GROUP];
                let mut coefficients = [(0.0, 0.0); GROUP];
                for (n, (cell, folded)) in cells.enumerate() {
                    maps[n] = geometry.trilinear_coefficients(cell);
                    coefficients[n] = folded;
                }
                let maps: [CellMap; GROUP] = std::array::from_fn(|n| CellMap::Map(&maps[n]));
                self.pack_maps(&maps[..count], &coefficients[..count], out);
            }
            MapInput::Vertices => {
                let dim = geometry.cell().dim();
                for (out, (cell, folded)) in out.chunks_exact_mut(len).zip(cells) {
                    let vertices = geometry.simplex_vertices(cell);
                    self.pack_maps(&[CellMap::Vertices(&vertices[..=dim])], &[folded], out);
                }
            }
            MapInput::Points => {
                for (out, (cell, folded)) in out.chunks_exact_mut(len).zip(cells) {
                    self.maps.at_points(cell, at);
                    let (jacobian, position) = (&at.jacobian[..], &at.position[..]);
                    self.pack_maps(&[CellMap::Points { jacobian, position }], &[folded], out);
                }
            }
        }
    }

    /// Packs elements with these maps together or, if the block does not, one after the other.
    fn pack_maps(&self, maps: &[CellMap], coefficients: &[(f64, f64)], out: &mut [f64]) {
        let block = self.block;
        if block.pack_group(maps, coefficients, out) {
            return;
        }
        let rows = out.chunks_exact_mut(out.len() / maps.len());
        for (out, (&map, &coefficients)) in rows.zip(maps.iter().zip(coefficients)) {
            match self.for_device {
                true => block.pack_for_device(map, coefficients, out),
                false => block.pack(map, coefficients, out),
            }
        }
    }
}

/// The maps of a mesh's cells, in the form families pack.
pub(crate) struct Maps<'a> {
    geometry: &'a Geometry,
    /// The points of the tables.
    points: Points,
}

impl Maps<'_> {
    /// A cell's map at the points of the tables.
    pub(crate) fn at_points(&self, cell: usize, at: &mut GeometryAtPoints) {
        self.geometry.at_points(cell, &self.points, at);
    }
}
