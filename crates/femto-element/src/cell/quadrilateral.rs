//! The quadrilateral `[-1, 1]²`.
//!
//! Vertex m sits at side a of axis ξ and b of η (0: -1, 1: +1) with m = a + 2b. Edge `2 axis + side` is its
//! facet on that side of that axis.
//!
//! ```text
//!   η                      edges and facets
//!   ^
//!   2-----3                *--3--*       0: ξ = -1, 0-2
//!   |     |                |     |       1: ξ = +1, 1-3
//!   |     |                0     1       2: η = -1, 0-1
//!   0-----1 > ξ            *--2--*       3: η = +1, 2-3
//! ```
//!
//! Gmsh and VTK number vertices and edges going round it; a serendipity cell (quad8) lacks the number in
//! parentheses:
//!
//! ```text
//!   quad8, quad9
//!
//!    3----6----2
//!    |         |
//!    7   (8)   5
//!    |         |
//!    0----4----1
//! ```

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "quadrilateral",
    plural: "quadrilaterals",
    dim: 2,
    corners: &[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
    lower: [-1.0, -1.0, 0.0],
    edges: &[[0, 2], [1, 3], [0, 1], [2, 3]],
    facets: &[
        Facet::new(Cell::Line, &[0, 2]),
        Facet::new(Cell::Line, &[1, 3]),
        Facet::new(Cell::Line, &[0, 1]),
        Facet::new(Cell::Line, &[2, 3]),
    ],
    contains: |n, [i, j, k]| i <= n.horizontal && j <= n.vertical && k == 0,
    lexicographic: true,
    per_box: 1,
    gmsh: NodeOrder {
        vertices: AROUND,
        edges: &[[0, 1], [1, 3], [3, 2], [2, 0]],
        facets: &[],
        recursive: false,
    },
    vtk: NodeOrder {
        vertices: AROUND,
        edges: &[[0, 1], [1, 3], [2, 3], [0, 2]],
        facets: &[],
        recursive: false,
    },
    vtk_types: [70, 70],
    types: &[
        Row::new(3, "quad4", Cell::Quadrilateral, 1, 4),
        Row::new(10, "quad9", Cell::Quadrilateral, 2, 9),
        Row::new(16, "quad8", Cell::Quadrilateral, 2, 8),
        Row::new(36, "quad16", Cell::Quadrilateral, 3, 16),
        Row::new(37, "quad25", Cell::Quadrilateral, 4, 25),
        Row::new(38, "quad36", Cell::Quadrilateral, 5, 36),
    ],
};

const AROUND: &[usize] = &[0, 1, 3, 2];
