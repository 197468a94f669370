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
                let line = Quadrature::Gauss.tables(Cell::Line, self.space.degree())?;
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
        let Self {
            binding,
            block,
            maps,
            for_device,
        } = *self;
        let (input, count) = (block.map_input(), elements.len());
        let cell = |n: usize| binding.mesh_cell(elements[n] as usize);
        if input == MapInput::Map {
            let geometry = binding.geometry;
            let mut found = [[[0.0; 3]; 8]; GROUP];
            let mut coefficients = [(0.0, 0.0); GROUP];
            for n in 0..count {
                found[n] = geometry.trilinear_coefficients(cell(n));
                coefficients[n] = binding.coefficients(cell(n));
            }
            let maps: [CellMap; GROUP] = std::array::from_fn(|n| CellMap::Map(&found[n]));
            block.pack_group(&maps[..count], &coefficients[..count], for_device, out);
            return;
        }
        for (n, out) in out.chunks_exact_mut(out.len() / count).enumerate() {
            let coefficients = [binding.coefficients(cell(n))];
            maps.read(input, cell(n), at, |map| {
                block.pack_group(&[map], &coefficients, for_device, out);
            });
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

    /// Passes a cell's map to `pack`; `at` is scratch memory.
    fn read<R>(
        &self,
        input: MapInput,
        cell: usize,
        at: &mut GeometryAtPoints,
        pack: impl FnOnce(CellMap<'_>) -> R,
    ) -> R {
        match input {
            MapInput::Map => pack(CellMap::Map(&self.geometry.trilinear_coefficients(cell))),
            MapInput::Vertices => {
                let vertices = self.geometry.simplex_vertices(cell);
                let dim = self.geometry.cell().dim();
                pack(CellMap::Vertices(&vertices[..=dim]))
            }
            MapInput::Points => {
                self.at_points(cell, at);
                let GeometryAtPoints {
                    jacobian, position, ..
                } = at;
                pack(CellMap::Points { jacobian, position })
            }
        }
    }
}
