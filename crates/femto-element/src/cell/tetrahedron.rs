//! The tetrahedron {ξ_a ≥ 0, Σ ξ_a ≤ 1}.
//!
//! Vertex 0 is the origin, vertex a the end of axis a. The edges of the triangle are those of face 0. Face f is
//! opposite to vertex 3 - f.
//!
//! ```text
//!   vertex 3 in front               edges       faces
//!
//!                     η             0: 0-1      0: 0-1-2
//!                    /              1: 0-2      1: 0-1-3
//!                   2               2: 1-2      2: 0-2-3
//!                 ,/|`\             3: 0-3      3: 1-2-3
//!               1/  |  `2           4: 1-3
//!              ,/    5    `\        5: 2-3
//!            ,/      |      `\
//!           0---------0---------1 > ξ
//!            `\     |      ,/
//!              `3   |    4/
//!                `\ |  ,/
//!                   3'
//!                    `> ζ
//! ```
//!
//! Gmsh and VTK have the same vertices, but number and orient edges and faces differently.

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "tetrahedron",
    plural: "tetrahedra",
    dim: 3,
    corners: &[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    lower: [0.0; 3],
    edges: &[[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]],
    facets: &[
        Facet::new(Cell::Triangle, &[0, 1, 2]),
        Facet::new(Cell::Triangle, &[0, 1, 3]),
        Facet::new(Cell::Triangle, &[0, 2, 3]),
        Facet::new(Cell::Triangle, &[1, 2, 3]),
    ],
    contains: |n, [i, j, k]| i + j + k <= n.horizontal,
    lexicographic: false,
    per_box: 6,
    gmsh: NodeOrder {
        vertices: VERTICES,
        edges: &[[0, 1], [1, 2], [2, 0], [3, 0], [3, 2], [3, 1]],
        facets: &[&[0, 2, 1], &[0, 1, 3], &[0, 3, 2], &[3, 1, 2]],
        recursive: false,
    },
    vtk: NodeOrder {
        vertices: VERTICES,
        edges: &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
        facets: &[&[0, 1, 3], &[2, 3, 1], &[0, 3, 2], &[0, 2, 1]],
        recursive: true,
    },
    vtk_types: [71, 71],
    types: &[
        Row::new(4, "tet4", Cell::Tetrahedron, 1, 4),
        Row::new(11, "tet10", Cell::Tetrahedron, 2, 10),
        Row::new(29, "tet20", Cell::Tetrahedron, 3, 20),
        Row::new(30, "tet35", Cell::Tetrahedron, 4, 35),
        Row::new(31, "tet56", Cell::Tetrahedron, 5, 56),
    ],
};

const VERTICES: &[usize] = &[0, 1, 2, 3];
