//! Rectangles of triangles and boxes of tetrahedra, optionally deformed or irregular.

use super::grid::Grid;
use super::{irregular, moved};
use crate::mesh::{Mesh, MeshError};
use femto_element::Cell;

/// A rectangle of triangles (D = 2) or a box of tetrahedra (D = 3) between two corners.
///
/// Each of the `cells` rectangles is cut into 2 triangles, by diagonals that alternate like the squares of
/// a chessboard; each of the `cells` boxes into 6 tetrahedra around its diagonal (H. W. Kuhn, "Some
/// combinatorial lemmas in topology", IBM J. Res. Dev. 4, 1960).
///
/// The mesh has two blocks: the triangles or tetrahedra in group "domain" (number 7, dimension D), and the
/// boundary cells (lines with the outside to their right, or triangles counter-clockwise seen from outside)
/// in groups "xmin", "xmax", "ymin", "ymax", "zmin", "zmax" (numbers 1 to 6, dimension D - 1). Triangles
/// lie in the plane z = 0. Nodes are lexicographic, x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplexBox<const D: usize> {
    /// Number of rectangles or boxes along each axis; there are 2 or 6 times as many simplices.
    pub cells: [usize; D],
    /// Corner with the smallest coordinates.
    pub lower: [f64; D],
    /// Corner with the largest coordinates.
    pub upper: [f64; D],
    /// Order of the cells: 1 (tri3, tet4), 2 (tri6, tet10) or 3 (tri10, tet20).
    pub geometry_degree: usize,
    /// The seed of an irregular mesh: every inner vertex is displaced by up to a quarter of the spacing,
    /// every cell's vertices are rotated at random (the orientation stays), and the cells are in random
    /// order. Equal seeds give equal meshes.
    pub irregular: Option<u64>,
}

impl<const D: usize> SimplexBox<D> {
    fn unit(cells: usize) -> Self {
        Self {
            cells: [cells; D],
            lower: [0.0; D],
            upper: [1.0; D],
            geometry_degree: 1,
            irregular: None,
        }
    }

    /// Generates the mesh, moving every node `x` to `deformation(x)`.
    ///
    /// # Errors
    /// [`MeshError::BoxCells`], [`MeshError::BoxCorners`] or [`MeshError::BoxDegree`] if the description is
    /// not a box.
    pub fn build(
        &self,
        deformation: impl Fn([f64; D]) -> [f64; D] + Sync,
    ) -> Result<Mesh, MeshError> {
        let mesh = self.undeformed()?;
        Ok(moved(mesh, &|mut x| {
            let mut position = [0.0; D];
            position.copy_from_slice(&x[..D]);
            x[..D].copy_from_slice(&deformation(position));
            x
        }))
    }

    fn undeformed(&self) -> Result<Mesh, MeshError> {
        const { assert!(D == 2 || D == 3, "a rectangle or a box") };
        let cell = [Cell::Triangle, Cell::Tetrahedron][D - 2];
        let corners = [self.lower, self.upper];
        let grid = Grid::new(cell, self.cells, corners, self.geometry_degree);
        grid.check()?;
        let mut mesh = grid.mesh();
        if let Some(seed) = self.irregular {
            irregular::displace(&mut mesh, &grid, seed);
            irregular::shuffle(&mut mesh.blocks[0], &grid, seed);
        }
        Ok(mesh)
    }
}

impl SimplexBox<2> {
    /// The unit square with 2·`cells`² tri3 cells.
    pub fn unit_square(cells: usize) -> Self {
        Self::unit(cells)
    }
}

impl SimplexBox<3> {
    /// The unit cube with 6·`cells`³ tet4 cells.
    pub fn unit_cube(cells: usize) -> Self {
        Self::unit(cells)
    }
}

/// Steps towards each vertex of the nodes of a simplex, `[nodes][4]`, in Gmsh's order, which add up to
/// `order`.
pub(super) fn barycentric_steps(dim: usize, order: usize) -> Vec<[usize; 4]> {
    let cell = [Cell::Line, Cell::Triangle, Cell::Tetrahedron][dim - 1];
    let nodes = cell.lattice_in(order, cell.gmsh_order()).into_iter();
    nodes
        .map(|[i, j, k]| [order - i - j - k, i, j, k])
        .collect()
}
