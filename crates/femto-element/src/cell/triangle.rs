//! The triangle {ξ, η ≥ 0, ξ + η ≤ 1}.
//!
//! Vertex 0 is the origin, vertex a the end of axis a. Edge f, its facet, is opposite to vertex 2 - f.
//!
//! ```text
//!   η                   edges       degree 3: 0 1 2 vertices, 3 4 on edge 0, 5 6 on edge 1,
//!   ^                   0: 0-1                7 8 on edge 2, 9 inside
//!   2                   1: 0-2
//!   |\                  2: 1-2      2
//!   | \                             6 8
//!   1  2                            5 9 7
//!   |   \                           0 3 4 1
//!   |    \
//!   0--0--1 > ξ
//! ```
//!
//! Gmsh and VTK go round it: edges 0-1, 1-2, 2-0.

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "triangle",
    plural: "triangles",
    dim: 2,
    corners: &[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    lower: [0.0; 3],
    edges: &[[0, 1], [0, 2], [1, 2]],
    facets: &[
        Facet::new(Cell::Line, &[0, 1]),
        Facet::new(Cell::Line, &[0, 2]),
        Facet::new(Cell::Line, &[1, 2]),
    ],
    contains: |n, [i, j, k]| i + j <= n.horizontal && k == 0,
    lexicographic: false,
    per_box: 2,
    gmsh: AROUND,
    vtk: AROUND,
    vtk_types: [69, 69],
    types: &[
        Row::new(2, "tri3", Cell::Triangle, 1, 3),
        Row::new(9, "tri6", Cell::Triangle, 2, 6),
        Row::new(20, "tri9", Cell::Triangle, 3, 9),
        Row::new(21, "tri10", Cell::Triangle, 3, 10),
        Row::new(23, "tri15", Cell::Triangle, 4, 15),
        Row::new(25, "tri21", Cell::Triangle, 5, 21),
    ],
};

const AROUND: NodeOrder = NodeOrder {
    vertices: &[0, 1, 2],
    edges: &[[0, 1], [1, 2], [2, 0]],
    facets: &[],
    recursive: true,
};
