//! The prism, a triangle in ξ, η times the line ζ in `[-1, 1]`.
//!
//! Vertices 0, 1, 2 are the triangle's at ζ = -1, vertices 3, 4, 5 those at ζ = +1.
//!
//! ```text
//!           3                edges: 0 to 2 the triangle's below      faces: 0: 0-1-2
//!         ,/|`\                     0-1, 0-2, 1-2;                          1: 3-4-5
//!       ,/  |  `\                   3 to 5 those above                      2: 0-1-3-4
//!     ,/    |    `\                 3-4, 3-5, 4-5;                          3: 0-2-3-5
//!    4------+------5                6 to 8 upwards                          4: 1-2-4-5
//!    |      |      |                0-3, 1-4, 2-5
//!    |    ,/0`\    |
//!    |  ,/     `\  |
//!    |,/         `\|
//!    1-------------2
//! ```

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "prism",
    plural: "prisms",
    dim: 3,
    corners: &[
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 1],
        [0, 1, 1],
    ],
    lower: [0.0, 0.0, -1.0],
    edges: &[
        [0, 1],
        [0, 2],
        [1, 2],
        [3, 4],
        [3, 5],
        [4, 5],
        [0, 3],
        [1, 4],
        [2, 5],
    ],
    facets: &[
        Facet::new(Cell::Triangle, &[0, 1, 2]),
        Facet::new(Cell::Triangle, &[3, 4, 5]),
        Facet::new(Cell::Quadrilateral, &[0, 1, 3, 4]),
        Facet::new(Cell::Quadrilateral, &[0, 2, 3, 5]),
        Facet::new(Cell::Quadrilateral, &[1, 2, 4, 5]),
    ],
    contains: |n, [i, j, k]| i + j <= n.horizontal && k <= n.vertical,
    lexicographic: false,
    per_box: 2,
    gmsh: NodeOrder {
        vertices: VERTICES,
        edges: &[
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 2],
            [1, 4],
            [2, 5],
            [3, 4],
            [3, 5],
            [4, 5],
        ],
        facets: &[
            &[0, 2, 1],
            &[3, 4, 5],
            &[0, 1, 3, 4],
            &[0, 3, 2, 5],
            &[1, 2, 4, 5],
        ],
        recursive: false,
    },
    vtk: NodeOrder {
        vertices: VERTICES,
        edges: &[
            [0, 1],
            [1, 2],
            [2, 0],
            [3, 4],
            [4, 5],
            [5, 3],
            [0, 3],
            [1, 4],
            [2, 5],
        ],
        facets: &[
            &[0, 1, 2],
            &[3, 4, 5],
            &[0, 1, 3, 4],
            &[1, 2, 4, 5],
            &[2, 0, 5, 3],
        ],
        recursive: false,
    },
    vtk_types: [73, 73],
    types: &[
        Row::new(6, "prism6", Cell::Prism, 1, 6),
        Row::new(13, "prism18", Cell::Prism, 2, 18),
        Row::new(18, "prism15", Cell::Prism, 2, 15),
        Row::new(90, "prism40", Cell::Prism, 3, 40),
        Row::new(91, "prism75", Cell::Prism, 4, 75),
    ],
};

/// The entities over each entity of the triangle: its own below, the one between, its own above; numbered through
/// vertices, edges and facets.
pub(super) const LINES: [[Option<usize>; 3]; 7] = [
    [Some(0), Some(12), Some(3)],
    [Some(1), Some(13), Some(4)],
    [Some(2), Some(14), Some(5)],
    [Some(6), Some(17), Some(9)],
    [Some(7), Some(18), Some(10)],
    [Some(8), Some(19), Some(11)],
    [Some(15), None, Some(16)],
];

const VERTICES: &[usize] = &[0, 1, 2, 3, 4, 5];
