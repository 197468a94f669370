//! Where the nodes of an element sit: on vertices, edges, faces or inside.
//!
//! Vertices, edges, faces and their axes are numbered as in [`crate::reference::cell`].

mod hexahedron;
mod simplex;

use crate::reference::CellShape;
use hexahedron::HexahedronNodes;
use simplex::SimplexNodes;

/// Positions of the nodes of an element of one degree, by the entity that they lie on.
///
/// *Shell* nodes lie on vertices, edges and faces, on those of a triangle's boundary alone; the
/// others are *interior*.
pub(super) struct ElementNodes {
    /// Number of nodes on a vertex, inside an edge, inside a face. A triangle has no faces: it is
    /// one, and what is inside it is interior.
    pub(super) inside: [usize; 3],
    /// Position of each shell node in the element, ascending, `[shell_nodes]`.
    pub(super) shell_positions: Vec<u32>,
    /// Position of each interior node in the element, ascending, `[interior_nodes]`.
    pub(super) interior_positions: Vec<u32>,
    of_shape: OfShape,
}

enum OfShape {
    Hexahedron(HexahedronNodes),
    Simplex(SimplexNodes),
}

impl ElementNodes {
    pub(super) fn new(shape: CellShape, degree: usize) -> Self {
        let n = degree - 1;
        let (inside, of_shape, [shell_positions, interior_positions]) = match shape {
            CellShape::Hexahedron => {
                let (nodes, positions) = HexahedronNodes::new(degree);
                ([1, n, n * n], OfShape::Hexahedron(nodes), positions)
            }
            CellShape::Triangle | CellShape::Tetrahedron => {
                let (nodes, positions) = SimplexNodes::new(shape, degree);
                let face = if shape.dim() == 3 {
                    n * n.saturating_sub(1) / 2
                } else {
                    0
                };
                ([1, n, face], OfShape::Simplex(nodes), positions)
            }
        };
        Self {
            inside,
            shell_positions,
            interior_positions,
            of_shape,
        }
    }

    /// The highest dimension of entities of the boundary that have nodes inside.
    pub(super) fn up_to(&self) -> usize {
        self.inside
            .iter()
            .rposition(|&nodes| nodes > 0)
            .unwrap_or(0)
    }

    /// Writes the numbers of the shell nodes of an element into `shell`, `[shell_nodes]`.
    ///
    /// `vertices` begins with the element's vertex numbers, which fix the directions of edges and
    /// faces; `first` gives the number of the first node of one of the element's entities
    /// (vertices, edges, faces), asked in that order; the others of the entity follow it.
    pub(super) fn fill_shell(
        &self,
        vertices: &[u32],
        first: impl FnMut(usize) -> u32,
        shell: &mut [u32],
    ) {
        match &self.of_shape {
            OfShape::Hexahedron(nodes) => nodes.fill_shell(vertices, first, shell),
            OfShape::Simplex(nodes) => nodes.fill_shell(vertices, first, shell),
        }
    }
}
