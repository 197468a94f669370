//! Matrix units: knobs, and what they keep in shared memory.

use crate::family::cell_quadrature::classes::{CLASSES, ClassSizes, tables_of_classes};
use crate::family::cell_quadrature::source::fragments;
use crate::family::cell_quadrature::{FieldKind, Shape};
use crate::family::fragments::{LEFT_TILE, TILE};
use crate::scalar::Precision;
use femto_element::tables::DenseTables;

/// Knobs of `matrix_units.c` and `matrix_units_of_classes.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixUnits {
    /// Warps of a block.
    pub warps: u32,
    /// Whether each warp has a class of the cell's symmetry.
    pub of_classes: bool,
    /// Target number of resident blocks per compute unit.
    pub blocks_per_unit: u32,
}

impl MatrixUnits {
    /// A class for each warp.
    pub const fn with_classes(blocks_per_unit: u32) -> Self {
        Self {
            warps: CLASSES as u32,
            of_classes: true,
            blocks_per_unit,
        }
    }

    /// Numbers of the maps in shared memory: J⁻¹ and its determinant, and what positions need.
    pub(in crate::family::cell_quadrature) fn map_numbers(shape: &Shape) -> usize {
        let positions = usize::from(shape.position) * shape.map_numbers();
        shape.dim * shape.dim + 1 + positions
    }

    /// Cells of a block.
    pub(super) const CELLS: usize = LEFT_TILE as usize;

    /// The right factors, and of classes the lists of orbits too.
    pub fn tables(
        &self,
        element: &DenseTables,
        precision: Precision,
    ) -> (Vec<f64>, Option<Vec<u16>>) {
        let of_classes = self
            .of_classes
            .then(|| tables_of_classes(element, precision));
        match of_classes.flatten() {
            Some((fragments, orbits)) => (fragments, Some(orbits)),
            None => (fragments(element, precision), None),
        }
    }

    /// The classes, if each warp has one.
    pub(in crate::family::cell_quadrature) fn classes(&self, shape: &Shape) -> Option<ClassSizes> {
        shape.classes.filter(|_| self.of_classes)
    }

    pub(super) fn shared_reals(&self, shape: &Shape) -> usize {
        let maps = usize::from(shape.map_is_constant()) * Self::map_numbers(shape);
        let functions = shape.functions();
        let tiles = match self.classes(shape) {
            Some(it) => functions * (it.all_tiles() + CLASSES * rows_of_classes(shape)),
            None => {
                let fluxes = self.warps as usize * shape.components * shape.fluxes();
                functions * shape.nodes.div_ceil(TILE) + fluxes
            }
        };
        Self::CELLS * (maps + tiles * TILE)
    }
}

/// Rows of a function at a point: its value, if it is read or tested, and derivatives likewise.
fn rows_of_classes(shape: &Shape) -> usize {
    let fields = shape.fields_of(FieldKind::Nodal) > 0;
    let values = shape.reads_values || shape.writes_values || fields;
    let slopes =
        shape.reads_gradients || shape.writes_gradients || (fields && shape.field_gradients);
    usize::from(values) + shape.dim * usize::from(slopes)
}
