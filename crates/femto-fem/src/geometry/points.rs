//! The map at lists of points, and on facets.

use super::factors::{Matrix3, cofactors, determinant};
use super::{FacePoint, Geometry, GeometryAtPoints};
use crate::reference::CellShape;

impl Geometry {
    /// Positions of the vertices of a simplex, in the order of [`crate::reference::cell`]. A
    /// triangle's fourth vertex lies above its first at z = 1, so that for both shapes the columns
    /// of the affine Jacobian are the last three less the first.
    ///
    /// # Panics
    /// If the cells are hexahedra, or there is no such cell.
    #[inline(always)]
    pub fn simplex_vertices(&self, cell: usize) -> [[f64; 3]; 4] {
        self.simplices.positions(cell, &self.coordinates)
    }

    /// Mesh nodes at the vertices of a cell, in the order of [`crate::reference::cell`].
    pub fn vertex_nodes(&self, cell: usize) -> &[u32] {
        match self.shape {
            CellShape::Hexahedron => &self.vertices[cell],
            CellShape::Triangle | CellShape::Tetrahedron => self.simplices.vertex_nodes(cell),
        }
    }

    /// Positions of the mesh nodes, `[mesh nodes][3]`.
    pub fn coordinates(&self) -> &[[f64; 3]] {
        &self.coordinates
    }

    /// The map at reference points, `[points][3]`.
    pub fn at_simplex_points(&self, cell: usize, points: &[[f64; 3]], out: &mut GeometryAtPoints) {
        out.position.clear();
        out.jacobian.clear();
        out.determinant.clear();
        self.visit_list(cell, points, |position, jacobian| {
            out.position.push(position);
            out.jacobian.push(jacobian);
            out.determinant.push(determinant(&jacobian));
        });
    }

    /// The positions alone at reference points, `[points][3]`; `out` is overwritten.
    pub fn positions_at(&self, cell: usize, points: &[[f64; 3]], out: &mut Vec<[f64; 3]>) {
        out.clear();
        self.visit_list(cell, points, |position, _| out.push(position));
    }

    /// A facet (an edge of a triangle, a face of a solid) at points of its own reference cell.
    ///
    /// The points are those of [`CellShape::facet_point`].
    pub fn facet_at_points(
        &self,
        cell: usize,
        facet: usize,
        points: &[[f64; 3]],
    ) -> Vec<FacePoint> {
        let inside: Vec<[f64; 3]> = points
            .iter()
            .map(|&point| self.shape.facet_point(facet, point))
            .collect();
        let normal = self.shape.facet_normal(facet);
        let mut out = Vec::with_capacity(points.len());
        self.visit_list(cell, &inside, |position, jacobian| {
            // Nanson's formula: the area normal is det J · J⁻ᵀ times the reference one.
            let rows = cofactors(&jacobian);
            let component = |c: usize| (0..3).map(|a| normal[a] * rows[a][c]).sum();
            out.push(FacePoint {
                position,
                area_normal: [0, 1, 2].map(component),
            });
        });
        out
    }

    /// Calls `visit` with position and Jacobian at each of the points.
    #[inline(always)]
    pub(super) fn visit_list(
        &self,
        cell: usize,
        points: &[[f64; 3]],
        mut visit: impl FnMut([f64; 3], Matrix3),
    ) {
        if !self.shape.is_simplex() {
            for &point in points {
                let (position, jacobian) = self.at_point(cell, point);
                visit(position, jacobian);
            }
            return;
        }
        let map = self
            .simplices
            .map(cell, self.kinds[cell], &self.coordinates);
        for &point in points {
            let (position, jacobian) = map.at(self.in_dimension(point));
            visit(position, jacobian);
        }
    }

    /// Calls `visit` with position and Jacobian of a simplex at the tensor grid of `points`.
    pub(super) fn visit_simplex(
        &self,
        cell: usize,
        points: [&[f64]; 3],
        mut visit: impl FnMut([f64; 3], Matrix3),
    ) {
        let map = self
            .simplices
            .map(cell, self.kinds[cell], &self.coordinates);
        for &zeta in points[2] {
            for &eta in points[1] {
                for &xi in points[0] {
                    let (position, jacobian) = map.at(self.in_dimension([xi, eta, zeta]));
                    visit(position, jacobian);
                }
            }
        }
    }

    /// A reference point of a triangle has no third coordinate.
    fn in_dimension(&self, [xi, eta, zeta]: [f64; 3]) -> [f64; 3] {
        match self.shape {
            CellShape::Triangle => [xi, eta, 0.0],
            CellShape::Tetrahedron | CellShape::Hexahedron => [xi, eta, zeta],
        }
    }
}
