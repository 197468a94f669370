//! Maps of facets, from the maps of their cells.

use super::build::fingerprint;
use super::jacobian::{Matrix3, cross, dot};
use super::{Geometry, Maps, Points};
use femto_element::{Cell, MapKind};
use std::sync::Arc;

/// Facets of the cells of a mesh.
#[derive(Clone, Debug)]
pub(super) struct FacetMaps {
    cells: Box<Geometry>,
    /// The cell of each facet, and the facet's number in it.
    facets: Vec<(u32, u8)>,
    /// Mesh nodes at the vertices of each facet, `[facets][vertices]`.
    vertices: Vec<u32>,
    /// See [`Geometry::flattened`].
    is_flat: bool,
}

impl Geometry {
    /// The geometry of facets of these cells, which must not be facets themselves, each given by a cell and
    /// the number of the facet in it; all facets have the shape `cell`. Their maps are those of the cells at
    /// [`femto_element::Cell::facet_point`].
    ///
    /// Facets are mapped as if extruded along their normals: the last column of a Jacobian (in the plane
    /// the second) is the unit normal, oriented so that the determinant, which is the area factor, is
    /// positive.
    pub(crate) fn facets(&self, cell: Cell, facets: Vec<(u32, u8)>) -> Self {
        let count = facets.len();
        let vertices = facets.iter().flat_map(|&(of, facet)| {
            let nodes = self.vertex_nodes(of as usize);
            let own = self.cell.facets()[usize::from(facet)].vertices.iter();
            own.map(move |&vertex| nodes[vertex])
        });
        let maps = Maps::Facets(FacetMaps {
            vertices: vertices.collect(),
            cells: Box::new(self.clone()),
            facets,
            is_flat: false,
        });
        Self {
            cell,
            first_cell: 0,
            columns: None,
            fingerprint: fingerprint(count, |facet| maps.vertex_nodes(facet)),
            is_invertible: Arc::default(),
            kinds: vec![MapKind::Curved; count].into(),
            coordinates: self.coordinates.clone(),
            maps,
        }
    }

    /// The unit outward normals of a facet at points of its reference cell, for facets that are not
    /// [flattened](Self::flattened); `out` is overwritten, and empty for other cells.
    pub fn outward_normals(&self, facet: usize, points: &Points, out: &mut Vec<[f64; 3]>) {
        out.clear();
        let Maps::Facets(maps) = &self.maps else {
            return;
        };
        let (of, number) = (maps.facets[facet].0 as usize, maps.facets[facet].1.into());
        let last = maps.dim() - 1;
        let normal = |jacobian: &Matrix3| [0, 1, 2].map(|axis| jacobian[axis][last]);
        let centre = self.cell.centre();
        let inside = maps.cells.cell.facet_point(number, centre);
        let outward = maps.cells.area_normal(of, number, inside);
        let sign = dot(outward, normal(&self.jacobian(facet, centre))).signum();
        self.visit_points(facet, points, |_, jacobian| {
            out.push(normal(&jacobian).map(|x| sign * x));
        });
    }

    /// Facets as cells of their own dimension: every point keeps its position and area factor, and
    /// directions have no meaning. For forms that only read values, which are then evaluated as in the
    /// plane. Geometries of other cells are returned unchanged.
    pub fn flattened(&self) -> Self {
        let mut geometry = self.clone();
        if let Maps::Facets(maps) = &mut geometry.maps {
            maps.is_flat = true;
        }
        geometry
    }
}

impl FacetMaps {
    /// Dimension of the space around the facets.
    pub(super) fn dim(&self) -> usize {
        match self.is_flat {
            true => self.cells.dim() - 1,
            false => self.cells.dim(),
        }
    }

    /// Memory held, in bytes, apart from the cells'.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.facets[..]) + size_of_val(&self.vertices[..])
    }

    /// Mesh nodes at the vertices of a facet.
    pub(super) fn vertex_nodes(&self, facet: usize) -> &[u32] {
        let count = self.vertices.len() / self.facets.len();
        &self.vertices[facet * count..][..count]
    }

    /// Position and Jacobian of a facet at a point of its reference cell.
    pub(super) fn at(&self, facet: usize, point: [f64; 3]) -> ([f64; 3], Matrix3) {
        let (of, number) = self.facets[facet];
        let (cell, number) = (self.cells.cell, usize::from(number));
        let inside = cell.facet_point(number, point);
        let (position, jacobian) = self.cells.at_point(of as usize, inside);
        let along = cell.facet_tangents(number);
        let [r, s] = along.map(|along| [0, 1, 2].map(|axis| dot(jacobian[axis], along)));
        let unit = |v: [f64; 3]| v.map(|x| x / dot(v, v).sqrt());
        if self.is_flat {
            let normal = match cell.dim() {
                3 => cross(r, s),
                _ => r,
            };
            let area = dot(normal, normal).sqrt();
            return (
                position,
                [[area, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            );
        }
        let [s, t] = match cell.dim() {
            3 => [s, unit(cross(r, s))],
            _ => [unit([-r[1], r[0], 0.0]), [0.0, 0.0, 1.0]],
        };
        (position, [0, 1, 2].map(|axis| [r[axis], s[axis], t[axis]]))
    }
}
