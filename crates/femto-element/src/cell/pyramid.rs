//! The pyramid {0 ≤ ξ, η ≤ 1 - ζ, 0 ≤ ζ ≤ 1}.
//!
//! Vertices 0 to 3 are the base's, lexicographic; vertex 4, the apex, lies above vertex 0.
//!
//! ```text
//!   4                 edges: 0: 0-1   4: 0-4      faces: 0: 0-1-2-3
//!   |`\`.                    1: 2-3   5: 1-4             1: 0-1-4
//!   |  `\ `.                 2: 0-2   6: 2-4             2: 2-3-4
//!   |    `\ `.               3: 1-3   7: 3-4             3: 0-2-4
//!   |   2--`\--`3                                        4: 1-3-4
//!   | ,/     `\,/
//!   0---------1 > ξ
//! ```

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "pyramid",
    plural: "pyramids",
    dim: 3,
    corners: &[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]],
    lower: [0.0; 3],
    edges: &[
        [0, 1],
        [2, 3],
        [0, 2],
        [1, 3],
        [0, 4],
        [1, 4],
        [2, 4],
        [3, 4],
    ],
    facets: &[
        Facet::new(Cell::Quadrilateral, &[0, 1, 2, 3]),
        Facet::new(Cell::Triangle, &[0, 1, 4]),
        Facet::new(Cell::Triangle, &[2, 3, 4]),
        Facet::new(Cell::Triangle, &[0, 2, 4]),
        Facet::new(Cell::Triangle, &[1, 3, 4]),
    ],
    contains: |n, [i, j, k]| i + k <= n.horizontal && j + k <= n.horizontal,
    lexicographic: false,
    per_box: 6,
    gmsh: NodeOrder {
        vertices: VERTICES,
        edges: &[
            [0, 1],
            [0, 2],
            [0, 4],
            [1, 3],
            [1, 4],
            [3, 2],
            [3, 4],
            [2, 4],
        ],
        facets: &[
            &[0, 1, 4],
            &[2, 0, 4],
            &[1, 3, 4],
            &[3, 2, 4],
            &[0, 2, 1, 3],
        ],
        recursive: false,
    },
    vtk: NodeOrder {
        vertices: VERTICES,
        edges: &[
            [0, 1],
            [1, 3],
            [2, 3],
            [0, 2],
            [0, 4],
            [1, 4],
            [3, 4],
            [2, 4],
        ],
        facets: &[],
        recursive: false,
    },
    vtk_types: [14, 27],
    types: &[
        Row::new(7, "pyramid5", Cell::Pyramid, 1, 5),
        Row::new(14, "pyramid14", Cell::Pyramid, 2, 14),
        Row::new(19, "pyramid13", Cell::Pyramid, 2, 13),
        Row::new(118, "pyramid30", Cell::Pyramid, 3, 30),
        Row::new(119, "pyramid55", Cell::Pyramid, 4, 55),
    ],
};

const VERTICES: &[usize] = &[0, 1, 3, 2, 4];
