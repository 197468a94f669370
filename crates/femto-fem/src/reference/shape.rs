//! The shapes of the cells that carry unknowns.

use super::cell::{HEX_EDGES, HEX_FACES, TETRAHEDRON_EDGES, TETRAHEDRON_FACES, TRIANGLE_EDGES};

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
}
