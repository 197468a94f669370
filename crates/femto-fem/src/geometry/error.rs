//! Errors and warnings of geometry.

/// Supported cell types, in words.
const SUPPORTED: &str = "hex8, hex20, hex27, tet4, tet10, tet20, prism6, prism15, prism18, pyramid5, pyramid13, pyramid14, quad4, quad8, \
     quad9, tri3, tri6 and tri10";

/// Why the geometry of a mesh is unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// The mesh has no cells that can carry unknowns.
    #[error(
        "the mesh has no cells that can carry unknowns: it has {found}; supported are {SUPPORTED}, \
         triangles and quadrilaterals in meshes without solid cells"
    )]
    NoSupportedCells {
        /// The cell types of the mesh with their counts.
        found: String,
    },
    /// Lists of a mesh made in a program that do not belong together.
    #[error("the mesh contradicts itself: {what}")]
    Contradiction {
        /// What contradicts what.
        what: String,
    },
    /// Cells of an unsupported geometric order.
    #[error("the mesh has {count} cells of type {found}; supported are {SUPPORTED}")]
    UnsupportedOrder {
        /// Name of the cell type.
        found: &'static str,
        /// Number of such cells.
        count: usize,
    },
    /// A cell refers to a node that the mesh does not have.
    #[error("mesh cell {cell} has node {node}, but the mesh has {nodes} nodes")]
    MissingNode {
        /// Mesh cell number.
        cell: usize,
        /// The missing node.
        node: u32,
        /// Number of nodes of the mesh.
        nodes: usize,
    },
    /// A triangle or quadrilateral outside the plane z = 0.
    #[error(
        "mesh cell {cell} has a node at {position:?}; meshes without solid cells must lie in the plane z = 0"
    )]
    OffPlane {
        /// Mesh cell number of the first such cell.
        cell: usize,
        /// Position of its node.
        position: [f64; 3],
    },
    /// The map of a cell is not invertible at a quadrature point.
    #[error(
        "mesh cell {cell} is inverted or degenerate: the Jacobian determinant is {determinant:e} \
         at position {position:?}, reference position {reference:?}; {bad_cells} of {cells} cells \
         of this shape are bad (cells must be numbered right-handed as Gmsh does, triangles and quadrilaterals counter-clockwise)"
    )]
    NotInvertible {
        /// Mesh cell number of the first bad cell.
        cell: usize,
        /// Physical position of the cell's worst point.
        position: [f64; 3],
        /// Reference position of the cell's worst point.
        reference: [f64; 3],
        /// Jacobian determinant there.
        determinant: f64,
        /// Number of bad cells.
        bad_cells: usize,
        /// Number of all cells of its shape.
        cells: usize,
    },
}

impl GeometryError {
    /// The mesh cell numbers named by the error.
    pub fn cells(&self) -> Vec<usize> {
        match self {
            Self::NoSupportedCells { .. }
            | Self::Contradiction { .. }
            | Self::UnsupportedOrder { .. } => vec![],
            Self::MissingNode { cell, .. }
            | Self::OffPlane { cell, .. }
            | Self::NotInvertible { cell, .. } => vec![*cell],
        }
    }
}

/// A cell whose map is not invertible at a corner, though it is at every quadrature point. Results are
/// usable; a better mesh would be more accurate.
#[derive(Clone, Debug, PartialEq)]
pub struct CornerWarning {
    /// Mesh cell number.
    pub cell: usize,
    /// The worst corner, a vertex number of [`femto_element::cell`].
    pub corner: usize,
    /// Physical position of the corner.
    pub position: [f64; 3],
    /// Jacobian determinant at the corner.
    pub determinant: f64,
}

impl std::fmt::Display for CornerWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "mesh cell {} is degenerate at its corner {} at {:?}: the Jacobian determinant is {:e}",
            self.cell, self.corner, self.position, self.determinant
        )
    }
}
