//! The line `[-1, 1]`.
//!
//! ```text
//!   0-----1 > ξ
//! ```

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "line",
    plural: "lines",
    dim: 1,
    corners: &[[0, 0, 0], [1, 0, 0]],
    lower: [-1.0, 0.0, 0.0],
    edges: &[],
    facets: &[Facet::new(Cell::Point, &[0]), Facet::new(Cell::Point, &[1])],
    contains: |n, [i, j, k]| i <= n.horizontal && j + k == 0,
    lexicographic: true,
    per_box: 1,
    gmsh: ORDER,
    vtk: ORDER,
    vtk_types: [68, 68],
    types: &[
        Row::new(1, "line2", Cell::Line, 1, 2),
        Row::new(8, "line3", Cell::Line, 2, 3),
        Row::new(26, "line4", Cell::Line, 3, 4),
        Row::new(27, "line5", Cell::Line, 4, 5),
        Row::new(28, "line6", Cell::Line, 5, 6),
    ],
};

const ORDER: NodeOrder = NodeOrder {
    vertices: &[0, 1],
    edges: &[],
    facets: &[],
    recursive: false,
};
