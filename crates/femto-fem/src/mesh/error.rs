//! Errors of meshes and requests about them.

use super::gmsh::{Place, Problem};

use femto_element::Cell;

/// Why a mesh could not be made or a question about it not answered.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be opened, read or written.
    #[error("mesh file `{file}`: {source}")]
    Io {
        /// The path as given.
        file: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A Gmsh file that is damaged or of a kind that is not supported.
    #[error("mesh file `{file}`, {place}: {problem}")]
    Gmsh {
        /// The path as given.
        file: String,
        /// Line or byte offset.
        place: Place,
        /// What was found and what is supported.
        problem: Problem,
    },
    /// No physical group of this dimension has this name or number.
    #[error(
        "no physical group `{tag}` of dimension {dimension} in the mesh; it has: {}",
        list(available)
    )]
    NoSuchGroup {
        /// Dimension that was asked for.
        dimension: usize,
        /// Name or number that was asked for.
        tag: String,
        /// Every group of the mesh, described.
        available: Vec<String>,
    },
    /// Several groups of this dimension share the name.
    #[error(
        "the name `{tag}` stands for several physical groups of dimension {dimension} ({numbers:?}); \
         use the number"
    )]
    AmbiguousGroup {
        /// Dimension that was asked for.
        dimension: usize,
        /// The name.
        tag: String,
        /// The numbers of the groups with that name.
        numbers: Vec<i32>,
    },
    /// A box with no cell along an axis, or with more nodes than 32-bit numbers can count.
    #[error(
        "a box mesh of {cells:?} cells: every axis needs at least 1, and all nodes together must be \
         fewer than 2^32"
    )]
    BoxCells {
        /// Cells along x, y, z.
        cells: [usize; 3],
    },
    /// A box whose corners do not span a volume.
    #[error(
        "a box mesh from {lower:?} to {upper:?}: both corners must be finite and the upper one \
         greater along every axis"
    )]
    BoxCorners {
        /// The lower corner.
        lower: [f64; 3],
        /// The upper corner.
        upper: [f64; 3],
    },
    /// A box with a geometry degree that its cells do not have.
    #[error("a box mesh of geometry degree {found}: supported are 1 to {most}")]
    BoxDegree {
        /// The degree asked for.
        found: usize,
        /// The highest of these cells: 2 of tensor products, 3 of simplices.
        most: usize,
    },
    /// An irregular box of cells that are no simplices.
    #[error("irregular boxes of {} cannot be generated: only of triangles or tetrahedra", cell.plural())]
    IrregularBox {
        /// The cell asked for.
        cell: Cell,
    },
    /// Two sides that are to be one, and are no translation of each other.
    #[error(
        "`{}` and `{}` cannot be one side: the node at {position:?} on `{}` has no partner on `{}`, which lies {shift:?} \
         away", sides[0], sides[1], sides[0], sides[1]
    )]
    UnlikeSides {
        /// The side with the node, and the other.
        sides: Box<[String; 2]>,
        /// Where the node is.
        position: [f64; 3],
        /// From the first side to the second.
        shift: [f64; 3],
    },
    /// A side that is to be its own partner, or has no cells.
    #[error("`{first}` and `{second}` cannot be one side: {why}")]
    NoSides {
        /// A side.
        first: String,
        /// The other.
        second: String,
        /// What is wrong.
        why: &'static str,
    },
    /// There is no generator of boxes of these cells.
    #[error("boxes of {} cannot be generated", cell.plural())]
    BoxCell {
        /// The cell asked for.
        cell: Cell,
    },
}

/// The items separated by commas, or a word for none.
fn list(items: &[String]) -> String {
    if items.is_empty() {
        "none".into()
    } else {
        items.join(", ")
    }
}
