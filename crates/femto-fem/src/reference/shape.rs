//! The shapes of the cells that carry unknowns.

use super::cell::{
    HEX_EDGES, HEX_FACE_AXES, HEX_FACES, TETRAHEDRON_EDGES, TETRAHEDRON_FACES, TRIANGLE_EDGES,
    hex_face_axis_side,
};

/// The shape of the cells of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellShape {
    /// Triangles in the plane z = 0.
    Triangle,
    /// Tetrahedra.
    Tetrahedron,
    /// Hexahedra.
    Hexahedron,
}

impl CellShape {
    /// Dimension of the cell.
    pub fn dim(self) -> usize {
        match self {
            Self::Triangle => 2,
            Self::Tetrahedron | Self::Hexahedron => 3,
        }
    }

    /// Whether the cell is a simplex.
    pub fn is_simplex(self) -> bool {
        self != Self::Hexahedron
    }

    /// Number of vertices.
    pub fn vertices(self) -> usize {
        match self {
            Self::Triangle => 3,
            Self::Tetrahedron => 4,
            Self::Hexahedron => 8,
        }
    }

    /// Vertices of each edge, `[edges][2]`, numbered as in [`super::cell`].
    pub fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Triangle => &TRIANGLE_EDGES,
            Self::Tetrahedron => &TETRAHEDRON_EDGES,
            Self::Hexahedron => &HEX_EDGES,
        }
    }

    /// Number of facets: the edges of a triangle, the faces of a solid.
    pub fn facets(self) -> usize {
        match self {
            Self::Triangle => TRIANGLE_EDGES.len(),
            Self::Tetrahedron => TETRAHEDRON_FACES.len(),
            Self::Hexahedron => HEX_FACES.len(),
        }
    }

    /// Vertices of a facet, numbered as in [`super::cell`].
    pub fn facet(self, facet: usize) -> &'static [usize] {
        match self {
            Self::Triangle => &TRIANGLE_EDGES[facet],
            Self::Tetrahedron => &TETRAHEDRON_FACES[facet],
            Self::Hexahedron => &HEX_FACES[facet],
        }
    }

    /// The word for several such cells.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Triangle => "triangles",
            Self::Tetrahedron => "tetrahedra",
            Self::Hexahedron => "hexahedra",
        }
    }

    /// Where in the reference cell a point of a facet's own reference cell is.
    ///
    /// A simplex's facet is the image of the unit line or triangle, whose vertices go to the
    /// facet's in ascending order; a hexahedron's face of `[-1, 1]²`, along the face's axes.
    /// Coordinates beyond the facet's dimension are ignored.
    pub fn facet_point(self, facet: usize, [s, t, _]: [f64; 3]) -> [f64; 3] {
        let mut point = [0.0; 3];
        let weights = match self {
            Self::Hexahedron => {
                let (axis, side) = hex_face_axis_side(facet);
                let [u, v] = HEX_FACE_AXES[facet];
                (point[axis], point[u], point[v]) = ([-1.0, 1.0][side], s, t);
                return point;
            }
            Self::Triangle => [1.0 - s, s, 0.0],
            Self::Tetrahedron => [1.0 - s - t, s, t],
        };
        for (&vertex, weight) in self.facet(facet).iter().zip(weights) {
            if vertex > 0 {
                point[vertex - 1] = weight;
            }
        }
        point
    }

    /// The outward normal of a facet of the reference cell, as long as the facet is large in units
    /// of its own reference cell. Of a simplex it is minus the gradient of the barycentric
    /// coordinate of the opposite vertex, dim - facet.
    pub fn facet_normal(self, facet: usize) -> [f64; 3] {
        let mut normal = [0.0; 3];
        match self {
            Self::Hexahedron => {
                let (axis, side) = hex_face_axis_side(facet);
                normal[axis] = [-1.0, 1.0][side];
            }
            _ if facet == self.dim() => normal[..self.dim()].fill(1.0),
            _ => normal[self.dim() - facet - 1] = -1.0,
        }
        normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_lie_opposite_to_vertices_with_their_normals_outwards() {
        for shape in [CellShape::Triangle, CellShape::Tetrahedron] {
            for facet in 0..shape.facets() {
                let opposite = shape.dim() - facet;
                assert!(!shape.facet(facet).contains(&opposite));
                let normal = shape.facet_normal(facet);
                let dot = |x: [f64; 3]| (0..3).map(|a| normal[a] * x[a]).sum::<f64>();
                let point = shape.facet_point(facet, [0.2, 0.3, f64::NAN]);
                let vertex = |v: usize| [1, 2, 3].map(|a| f64::from(u8::from(a == v)));
                for &corner in shape.facet(facet) {
                    assert!((dot(point) - dot(vertex(corner))).abs() < 1e-15);
                }
                assert!((dot(point) - dot(vertex(opposite)) - 1.0).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn hexahedra_have_points_on_their_faces() {
        let hexahedron = CellShape::Hexahedron;
        assert_eq!(hexahedron.facet_point(3, [0.1, 0.2, 0.0]), [0.1, 1.0, 0.2]);
        assert_eq!(hexahedron.facet_normal(3), [0.0, 1.0, 0.0]);
        assert_eq!(hexahedron.facet_normal(4), [0.0, 0.0, -1.0]);
    }
}
