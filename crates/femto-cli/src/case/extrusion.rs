//! Extrusion of plane meshes, with heights given by expressions.

use super::Expression;
use femto::fem::mesh::{Layers, Mesh, MeshError};

/// Layers between a bottom and a top.
#[derive(Clone, Debug)]
pub struct Extrusion {
    /// The levels.
    pub layers: Layers,
    /// Height of the bottom, a function of the position of the mesh; its z is 0 in a plane mesh.
    pub bottom: Expression,
    /// Height of the top.
    pub top: Expression,
}

impl Extrusion {
    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.layers.levels.len() - 1
    }

    /// The columns over a plane mesh, or over a surface if a height is a function of its z.
    ///
    /// # Errors
    /// As [`Mesh::extrude`].
    pub fn of(&self, plane: &Mesh) -> Result<Mesh, MeshError> {
        let Self {
            layers,
            bottom,
            top,
        } = self;
        match bottom.reads_z() || top.reads_z() {
            true => plane.extrude_surface(layers, |x| bottom.at(x), |x| top.at(x)),
            false => plane.extrude(
                layers,
                |[x, y]| bottom.at([x, y, 0.0]),
                |[x, y]| top.at([x, y, 0.0]),
            ),
        }
    }
}
