//! Rectangles of quadrilaterals, optionally deformed.

use super::grid::Grid;
use crate::mesh::{Mesh, MeshError};
use femto_element::Cell;
use rayon::prelude::*;

/// A rectangle of quadrilaterals between two corners, in the plane z = 0.
///
/// The mesh has the groups of [`super::SimplexBox`]; cell `i + cells[0] j` is a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RectangleMesh {
    /// Number of quadrilaterals along each axis.
    pub cells: [usize; 2],
    /// Corner with the smallest coordinates.
    pub lower: [f64; 2],
    /// Corner with the largest coordinates.
    pub upper: [f64; 2],
    /// 1 for quad4 cells, 2 for quad9.
    pub geometry_degree: usize,
}

impl RectangleMesh {
    /// The unit square with `cells`² quad4 cells.
    pub fn unit_square(cells: usize) -> Self {
        Self {
            cells: [cells; 2],
            lower: [0.0; 2],
            upper: [1.0; 2],
            geometry_degree: 1,
        }
    }

    /// Generates the mesh, moving every node `x` to `deformation(x)`.
    ///
    /// # Errors
    /// [`MeshError::BoxCells`], [`MeshError::BoxCorners`] or [`MeshError::BoxDegree`] if the description is
    /// not a rectangle.
    pub fn build(
        &self,
        deformation: impl Fn([f64; 2]) -> [f64; 2] + Sync,
    ) -> Result<Mesh, MeshError> {
        let along = |[x, y]: [f64; 2], z| [x, y, z];
        let grid = Grid {
            cell: Cell::Quadrilateral,
            dim: 2,
            cells: [self.cells[0], self.cells[1], 1],
            lower: along(self.lower, 0.0),
            upper: along(self.upper, 1.0),
            order: self.geometry_degree,
        };
        grid.check()?;
        let mut mesh = grid.mesh();
        let nodes = mesh.coordinates.par_iter_mut();
        nodes.for_each(|x| *x = along(deformation([x[0], x[1]]), 0.0));
        Ok(mesh)
    }
}
