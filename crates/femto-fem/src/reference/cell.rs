//! Numbering of the reference line, quadrilateral, hexahedron, triangle and tetrahedron.
//!
//! # femto's numbering of tensor-product cells
//! Reference cells are `[-1, 1]^d`. Everything is lexicographic, the first axis fastest. Vertex `m`
//! sits at side a of axis ξ, b of η, c of ζ (0: -1, 1: +1) with `m = a + 2b + 4c`.
//!
//! ```text
//!   line           quadrilateral            hexahedron
//!
//!                    η                           6-----------7
//!                    ^                          /|          /|          ζ
//!   0-----1 > ξ      2-----3                   / |         / |          ^  η
//!                    |     |                  /  |        /  |          | /
//!                    |     |                 4-----------5   |          |/
//!                    0-----1 > ξ             |   2-------|---3          +---> ξ
//!                                            |  /        |  /
//!                                            | /         | /
//!                                            |/          |/
//!                                            0-----------1
//! ```
//!
//! An edge of the hexahedron has number `4 axis + a + 2b`: the axis it runs along, then its sides on
//! the other two axes in increasing order. A face has number `2 axis + side`; its own axes are the
//! other two in increasing order, the lower one fastest.
//!
//! ```text
//!   edges                                  faces
//!
//!          *-----3-----*                          *-----------*     0: ξ = -1   axes (η, ζ)
//!         /|          /|                         /|          /|     1: ξ = +1   axes (η, ζ)
//!        6 |         7 |                        / |    5    / |     2: η = -1   axes (ξ, ζ)
//!       / 10        / 11                       /  |      3 /  |     3: η = +1   axes (ξ, ζ)
//!      *-----2-----*   |                      *-----------*   |     4: ζ = -1   axes (ξ, η)
//!      |   *----1--|---*                      | 0 *-------|-1-*     5: ζ = +1   axes (ξ, η)
//!      8  /        9  /                       |  / 2      |  /
//!      | 4         | 5                        | /    4    | /
//!      |/          |/                         |/          |/
//!      *-----0-----*                          *-----------*
//! ```
//!
//! # femto's numbering of simplices
//! The reference triangle and tetrahedron are {ξ_a ≥ 0, Σ ξ_a ≤ 1}. Vertex 0 is the origin, vertex
//! a the end of axis a.
//!
//! ```text
//!   triangle         tetrahedron (vertex 3 in front)        edges       faces
//!
//!   η                            η                          0: 0-1      0: 0-1-2
//!   ^                           /                           1: 0-2      1: 0-1-3
//!   2                          2                            2: 1-2      2: 0-2-3
//!   |\                       ,/|`\                          3: 0-3      3: 1-2-3
//!   | \                    1/  |  `2                        4: 1-3
//!   1  2                 ,/    5    `\                      5: 2-3
//!   |   \              ,/      |      `\
//!   |    \            0---------0---------1 > ξ
//!   0--0--1 > ξ         `\     |      ,/
//!                         `3   |    4/
//!                           `\ |  ,/
//!                              3'
//!                               `> ζ
//! ```
//!
//! The edges of the triangle are those of face 0 of the tetrahedron. Facet f of a simplex of
//! dimension d (an edge of a triangle, a face of a tetrahedron) is opposite to vertex d - f.
//!
//! Nodes are ordered by the entity that they lie on: vertices, edges, faces, interior. Those on an
//! edge go from its first vertex to its second; those on a face lexicographically in steps towards
//! its second vertex (fastest) and its third; those inside a tetrahedron likewise towards vertices
//! 1, 2 and 3.
//!
//! ```text
//!   triangle, degree 3        node numbers: 0 1 2 vertices, 3 4 on edge 0, 5 6 on edge 1,
//!                             7 8 on edge 2, 9 inside
//!   2
//!   6 8
//!   5 9 7
//!   0 3 4 1
//! ```
//!
//! # Gmsh's numbering
//! Mesh files number nodes as Gmsh does (reference manual, "Node ordering"). The quadratic cells are
//! drawn here layer by layer; a serendipity cell (quad8, hex20) lacks the numbers in parentheses.
//!
//! ```text
//!   line3           quad8, quad9         hex20, hex27
//!                                          ζ = -1             ζ = 0              ζ = +1
//!                    3----6----2           3---13----2        15--(24)--14       7---19----6
//!   0---2---1        |         |           |         |        |         |        |         |
//!                    7   (8)   5           9  (20)  11        (22)(26)(23)       17  (25) 18
//!                    |         |           |         |        |         |        |         |
//!                    0----4----1           0----8----1        10--(21)--12       4---16----5
//! ```
//!
//! Of simplices Gmsh lists vertices, nodes on edges, on faces, inside, as femto does, but numbers
//! and directs edges and faces in another way:
//!
//! ```text
//!   triangle      edges 0-1, 1-2, 2-0
//!   tetrahedron   edges 0-1, 1-2, 2-0, 3-0, 3-2, 3-1; faces 0-2-1, 0-1-3, 0-3-2, 3-1-2
//! ```
//!
//! The tables `*_TO_LEXICOGRAPHIC` give, for each node in Gmsh's order, its lexicographic index
//! among 2 or 3 nodes per direction: `i + n (j + n k)`.

/// Vertices of each edge of the hexahedron, lexicographic numbers, `[edges][2]`.
pub const HEX_EDGES: [[usize; 2]; 12] = [
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
];

/// Vertices of each face of the hexahedron, lexicographic numbers, `[faces][4]`, in the
/// lexicographic order of the face's own axes.
pub const HEX_FACES: [[usize; 4]; 6] = [
    [0, 2, 4, 6],
    [1, 3, 5, 7],
    [0, 1, 4, 5],
    [2, 3, 6, 7],
    [0, 1, 2, 3],
    [4, 5, 6, 7],
];

/// The reference axes of each face in increasing order, `[faces][2]`.
pub const HEX_FACE_AXES: [[usize; 2]; 6] = [[1, 2], [1, 2], [0, 2], [0, 2], [0, 1], [0, 1]];

/// Vertices of each edge of the triangle, `[edges][2]`.
pub const TRIANGLE_EDGES: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// Vertices of each edge of the tetrahedron, `[edges][2]`.
pub const TETRAHEDRON_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]];

/// Vertices of each face of the tetrahedron, `[faces][3]`.
pub const TETRAHEDRON_FACES: [[usize; 3]; 4] = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];

/// Vertices of each edge of Gmsh's tetrahedron, `[edges][2]`; the first three are its triangle's.
pub const GMSH_SIMPLEX_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [3, 0], [3, 2], [3, 1]];

/// Vertices of each face of Gmsh's tetrahedron, `[faces][3]`.
pub const GMSH_TETRAHEDRON_FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [3, 1, 2]];

/// Gmsh's node order of line2 as lexicographic indices.
pub const LINE2_TO_LEXICOGRAPHIC: [usize; 2] = [0, 1];
/// Gmsh's node order of line3 as lexicographic indices, `[i]` with 3 nodes.
pub const LINE3_TO_LEXICOGRAPHIC: [usize; 3] = [0, 2, 1];
/// Gmsh's node order of quad4 as lexicographic indices, `[j][i]` with 2×2 nodes.
pub const QUAD4_TO_LEXICOGRAPHIC: [usize; 4] = [0, 1, 3, 2];
/// Gmsh's node order of quad8 as lexicographic indices, `[j][i]` with 3×3 nodes.
pub const QUAD8_TO_LEXICOGRAPHIC: [usize; 8] = [0, 2, 8, 6, 1, 5, 7, 3];
/// Gmsh's node order of quad9 as lexicographic indices, `[j][i]` with 3×3 nodes.
pub const QUAD9_TO_LEXICOGRAPHIC: [usize; 9] = [0, 2, 8, 6, 1, 5, 7, 3, 4];
/// Gmsh's node order of hex8 as lexicographic indices, `[k][j][i]` with 2×2×2 nodes. The table is
/// its own inverse.
pub const HEX8_TO_LEXICOGRAPHIC: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];
/// Gmsh's node order of hex20 as lexicographic indices, `[k][j][i]` with 3×3×3 nodes.
pub const HEX20_TO_LEXICOGRAPHIC: [usize; 20] = [
    0, 2, 8, 6, 18, 20, 26, 24, // vertices
    1, 3, 9, 5, 11, 7, 17, 15, 19, 21, 23, 25, // edges
];
/// Gmsh's node order of hex27 as lexicographic indices, `[k][j][i]` with 3×3×3 nodes.
pub const HEX27_TO_LEXICOGRAPHIC: [usize; 27] = [
    0, 2, 8, 6, 18, 20, 26, 24, // vertices
    1, 3, 9, 5, 11, 7, 17, 15, 19, 21, 23, 25, // edges
    4, 10, 12, 14, 16, 22, // faces
    13, // centre
];

/// The axis and side (0: -1, 1: +1) of a face of the hexahedron.
pub fn hex_face_axis_side(face: usize) -> (usize, usize) {
    (face / 2, face % 2)
}

/// Position of lexicographic vertex `m` of the hexahedron.
pub fn hex_vertex(m: usize) -> [f64; 3] {
    [0, 1, 2].map(|axis| if m >> axis & 1 == 1 { 1.0 } else { -1.0 })
}
