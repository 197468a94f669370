//! The hexahedron `[-1, 1]³`.
//!
//! Vertex m sits at side a of axis ξ, b of η, c of ζ (0: -1, 1: +1) with m = a + 2b + 4c. An edge has number
//! `4 axis + a + 2b`: the axis it runs along, then its sides on the other two axes in increasing order. A face
//! has number `2 axis + side`; its own axes are the other two in increasing order, the lower one fastest.
//!
//! ```text
//!   vertices                 edges                  faces
//!
//!       6-----------7              *-----3-----*          *-----------*     0: ξ = -1   axes (η, ζ)
//!      /|          /|   ζ         /|          /|         /|          /|     1: ξ = +1   axes (η, ζ)
//!     / |         / |   ^  η     6 |         7 |        / |    5    / |     2: η = -1   axes (ξ, ζ)
//!    /  |        /  |   | /     / 10        / 11       /  |      3 /  |     3: η = +1   axes (ξ, ζ)
//!   4-----------5   |   |/     *-----2-----*   |      *-----------*   |     4: ζ = -1   axes (ξ, η)
//!   |   2-------|---3   +---> ξ|   *----1--|---*      | 0 *-------|-1-*     5: ζ = +1   axes (ξ, η)
//!   |  /        |  /           8  /        9  /       |  / 2      |  /
//!   | /         | /            | 4         | 5        | /    4    | /
//!   |/          |/             |/          |/         |/          |/
//!   0-----------1              *-----0-----*          *-----------*
//! ```
//!
//! Gmsh's hex20 and hex27 layer by layer; a serendipity cell lacks the numbers in parentheses:
//!
//! ```text
//!   ζ = -1             ζ = 0              ζ = +1
//!    3---13----2        15--(24)--14       7---19----6
//!    |         |        |         |        |         |
//!    9  (20)  11        (22)(26)(23)       17  (25) 18
//!    |         |        |         |        |         |
//!    0----8----1        10--(21)--12       4---16----5
//! ```
//!
//! VTK's Lagrange hexahedron in files of version 1.0 has the same vertices; edges and faces at degree 2 (from version 2.2
//! on the edges of 18 and 19 are swapped; source: `vtkHigherOrderHexahedron::PointIndexFromIJK` of VTK 9, and what its
//! reader does with older files):
//!
//! ```text
//!       7─────14─────6
//!      /│           /│
//!    15 │         13 │
//!    /  18        /  19
//!   4─────12─────5   │
//!   │   │        │   │
//!   │   3─────10─│───2     ζ  η
//!  16  /        17  /      │ /
//!   │ 11         │ 9       │/
//!   │/           │/        └── ξ
//!   0──────8─────1
//! ```

use super::{Cell, Facet, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "hexahedron",
    plural: "hexahedra",
    dim: 3,
    corners: &[
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [1, 1, 0],
        [0, 0, 1],
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 1],
    ],
    lower: [-1.0; 3],
    edges: &[
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
        [0, 2],
        [1, 3],
        [4, 6],
        [5, 7],
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
    ],
    facets: &[
        Facet::new(Cell::Quadrilateral, &[0, 2, 4, 6]),
        Facet::new(Cell::Quadrilateral, &[1, 3, 5, 7]),
        Facet::new(Cell::Quadrilateral, &[0, 1, 4, 5]),
        Facet::new(Cell::Quadrilateral, &[2, 3, 6, 7]),
        Facet::new(Cell::Quadrilateral, &[0, 1, 2, 3]),
        Facet::new(Cell::Quadrilateral, &[4, 5, 6, 7]),
    ],
    contains: |n, [i, j, k]| i <= n.horizontal && j <= n.horizontal && k <= n.vertical,
    lexicographic: true,
    per_box: 1,
    gmsh: NodeOrder {
        vertices: VERTICES,
        edges: &[
            [0, 1],
            [0, 2],
            [0, 4],
            [1, 3],
            [1, 5],
            [3, 2],
            [3, 7],
            [2, 6],
            [4, 5],
            [4, 6],
            [5, 7],
            [7, 6],
        ],
        facets: &[
            &[0, 2, 1, 3],
            &[0, 1, 4, 5],
            &[0, 4, 2, 6],
            &[1, 3, 5, 7],
            &[3, 2, 7, 6],
            &[4, 5, 6, 7],
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
            [4, 5],
            [5, 7],
            [6, 7],
            [4, 6],
            [0, 4],
            [1, 5],
            [2, 6],
            [3, 7],
        ],
        facets: &[
            &[0, 2, 4, 6],
            &[1, 3, 5, 7],
            &[0, 1, 4, 5],
            &[2, 3, 6, 7],
            &[0, 1, 2, 3],
            &[4, 5, 6, 7],
        ],
        recursive: false,
    },
    vtk_types: [72, 72],
    types: &[
        Row::new(5, "hex8", Cell::Hexahedron, 1, 8),
        Row::new(12, "hex27", Cell::Hexahedron, 2, 27),
        Row::new(17, "hex20", Cell::Hexahedron, 2, 20),
        Row::new(92, "hex64", Cell::Hexahedron, 3, 64),
        Row::new(93, "hex125", Cell::Hexahedron, 4, 125),
        Row::new(94, "hex216", Cell::Hexahedron, 5, 216),
    ],
};

const VERTICES: &[usize] = &[0, 1, 3, 2, 4, 5, 7, 6];
