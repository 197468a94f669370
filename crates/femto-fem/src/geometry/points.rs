//! Maps at points, and on facets.

use super::jacobian::{Matrix3, cofactors, determinant};
use super::{FacetPoint, Geometry, GeometryAtPoints, Maps, Points};
use crate::mesh::{CellNodes, ColumnNodes, Coordinates, NodesOfCell};

impl Maps {
    /// Mesh nodes at the vertices of a cell.
    #[inline(always)]
    pub(super) fn vertex_nodes(&self, cell: usize) -> NodesOfCell<'_> {
        match self {
            Self::Tensor(maps) => NodesOfCell::Listed(maps.vertex_nodes(cell)),
            Self::Terms(maps) => maps.vertex_nodes(cell),
            Self::Facets(maps) => NodesOfCell::Listed(maps.vertex_nodes(cell)),
        }
    }
}

impl Geometry {
    /// Positions of the first vertices of a cell, in the order of [`femto_element::cell`]: all of a simplex; of a pyramid
    /// the first three and the apex; a facet with fewer repeats the last one. A triangle's fourth vertex lies above its first
    /// at z = 1, so that the columns of the affine Jacobian of simplices are the last three less the first.
    #[inline(always)]
    pub fn simplex_vertices(&self, cell: usize) -> [[f64; 3]; 4] {
        match &self.maps {
            Maps::Terms(maps) => maps.simplex_vertices(cell, &self.coordinates),
            Maps::Tensor(maps) => {
                let nodes = maps.vertex_nodes(cell);
                [0, 1, 2, 3].map(|vertex| self.coordinates.at(nodes[vertex] as usize))
            }
            Maps::Facets(maps) => {
                let nodes = maps.vertex_nodes(cell);
                let last = nodes.len() - 1;
                [0, 1, 2, 3].map(|vertex| self.coordinates.at(nodes[last.min(vertex)] as usize))
            }
        }
    }

    /// Mesh nodes at the vertices of a cell, in the order of [`femto_element::cell`].
    #[inline(always)]
    pub fn vertex_nodes(&self, cell: usize) -> NodesOfCell<'_> {
        self.maps.vertex_nodes(cell)
    }

    /// The mesh nodes of the columns that all cells form, if they are stored as such.
    pub(crate) fn column_nodes(&self) -> Option<&ColumnNodes> {
        let columns = self.columns().filter(|columns| columns.are_in_order())?;
        match &self.maps {
            Maps::Terms(maps) => match maps.vertices() {
                CellNodes::Columns(nodes) if nodes.layers == columns.layers => Some(nodes),
                _ => None,
            },
            Maps::Tensor(_) | Maps::Facets(_) => None,
        }
    }

    /// A number that tells the vertices of the cells, in their order, from those of other cells; positions do not matter.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Positions of the mesh nodes.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// The map at reference points.
    pub fn at_points(&self, cell: usize, points: &Points, out: &mut GeometryAtPoints) {
        out.position.clear();
        out.jacobian.clear();
        out.determinant.clear();
        self.visit_points(cell, points, |position, jacobian| {
            out.position.push(position);
            out.jacobian.push(jacobian);
            out.determinant.push(determinant(&jacobian));
        });
    }

    /// Only the positions at reference points; `out` is overwritten.
    pub fn positions(&self, cell: usize, points: &Points, out: &mut Vec<[f64; 3]>) {
        out.clear();
        self.visit_points(cell, points, |position, _| out.push(position));
    }

    #[inline(always)]
    pub(super) fn visit_points(
        &self,
        cell: usize,
        points: &Points,
        visit: impl FnMut([f64; 3], Matrix3),
    ) {
        match points {
            Points::Grid(points_1d) => self.visit(cell, self.grid(points_1d), visit),
            Points::List(points) => self.visit_list(cell, points, visit),
        }
    }

    /// A facet (a face of a solid, or an edge of a cell in the plane) at points of its own reference cell.
    ///
    /// The points are those of [`femto_element::Cell::facet_point`].
    pub fn facet_at_points(
        &self,
        cell: usize,
        facet: usize,
        points: &[[f64; 3]],
    ) -> Vec<FacetPoint> {
        let inside: Vec<[f64; 3]> = points
            .iter()
            .map(|&point| self.cell.facet_point(facet, point))
            .collect();
        let normal = self.cell.facet_normal(facet);
        let mut out = Vec::with_capacity(points.len());
        self.visit_list(cell, &inside, |position, jacobian| {
            out.push(FacetPoint {
                position,
                area_normal: mapped_normal(normal, &jacobian),
            });
        });
        out
    }

    /// The outward area normal of a facet at a reference point of its cell that lies on it.
    pub fn area_normal(&self, cell: usize, facet: usize, xi: [f64; 3]) -> [f64; 3] {
        mapped_normal(self.cell.facet_normal(facet), &self.jacobian(cell, xi))
    }

    /// Calls `visit` with position and Jacobian at each of the points.
    #[inline(always)]
    pub(super) fn visit_list(
        &self,
        cell: usize,
        points: &[[f64; 3]],
        mut visit: impl FnMut([f64; 3], Matrix3),
    ) {
        match &self.maps {
            Maps::Tensor(_) | Maps::Facets(_) => {
                for &point in points {
                    let (position, jacobian) = self.at_point(cell, point);
                    visit(position, jacobian);
                }
            }
            Maps::Terms(maps) => {
                let map = maps.map(cell, self.kinds[cell], &self.coordinates);
                for &point in points {
                    let (position, jacobian) = map.at(self.in_dimension(point));
                    visit(position, jacobian);
                }
            }
        }
    }
}

/// Nanson's formula: the area normal is det J · J⁻ᵀ times the reference one.
fn mapped_normal(normal: [f64; 3], jacobian: &Matrix3) -> [f64; 3] {
    let rows = cofactors(jacobian);
    [0, 1, 2].map(|c| (0..3).map(|a| normal[a] * rows[a][c]).sum())
}
