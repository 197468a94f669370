//! Extrusion of plane meshes, with heights given by expressions.

use super::Expression;
use femto::fem::mesh::{Layers, Mesh, MeshError};

/// Layers between a bottom and a top.
#[derive(Clone, Debug)]
pub struct Extrusion {
    /// The levels.
    pub layers: Layers,
    /// Height of the bottom, a function of x and y.
    pub bottom: Expression,
    /// Height of the top.
    pub top: Expression,
}

impl Extrusion {
    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.layers.levels.len() - 1
    }

    /// The columns over a plane mesh.
    ///
    /// # Errors
    /// As [`Mesh::extrude`].
    pub fn of(&self, plane: &Mesh) -> Result<Mesh, MeshError> {
        let height = |of: &Expression, [x, y]: [f64; 2]| of.at([x, y, 0.0]);
        plane.extrude(
            &self.layers,
            |x| height(&self.bottom, x),
            |x| height(&self.top, x),
        )
    }
}
