//! Errors of meshes and of queries about them.

use super::gmsh::{GmshError, Place};
use super::triangle::TriangleError;

use femto_element::Cell;

/// Why a mesh could not be made or queried.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be opened, read or written.
    #[error("mesh file `{file}`: {source}")]
    Io {
        /// The path as given.
        file: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A Gmsh file that is damaged or of an unsupported kind.
    #[error("mesh file `{file}`, {place}: {problem}")]
    Gmsh {
        /// The path as given.
        file: String,
        /// Line or byte offset.
        place: Place,
        /// The mistake.
        problem: GmshError,
    },
    /// A file of Triangle that is damaged.
    #[error("mesh file `{file}`, line {line}: {problem}")]
    Triangle {
        /// The path.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// The mistake.
        problem: TriangleError,
    },
    /// Lists of a mesh made by hand that contradict each other.
    #[error("the mesh contradicts itself: {what}")]
    Contradiction {
        /// The contradiction.
        what: String,
    },
    /// No physical group of this dimension has this name or number.
    #[error(
        "no physical group `{tag}` of dimension {dimension} in the mesh; it has: {}",
        list(available)
    )]
    NoSuchGroup {
        /// Requested dimension.
        dimension: usize,
        /// Requested name or number.
        tag: String,
        /// Every group of the mesh, described.
        available: Vec<String>,
    },
    /// Several groups of this dimension have the name, or one has it and another one the number.
    #[error(
        "`{tag}` is the name or number of several physical groups of dimension {dimension} ({numbers:?}); \
         use what only the one meant has, or rename a group"
    )]
    AmbiguousGroup {
        /// Requested dimension.
        dimension: usize,
        /// The name.
        tag: String,
        /// The numbers of these groups.
        numbers: Vec<i32>,
    },
    /// A group that is named but has no cells.
    #[error(
        "the physical group `{tag}` = {number} of dimension {dimension} has no cells in the mesh"
    )]
    EmptyGroup {
        /// Requested dimension.
        dimension: usize,
        /// Requested name or number.
        tag: String,
        /// Its number.
        number: i32,
    },
    /// A box with no cells along an axis, or with more nodes than 32-bit numbers can count.
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
    /// A box with a geometry degree not available for its cells.
    #[error("a box mesh of geometry degree {found}: supported are 1 to {most}")]
    BoxDegree {
        /// Requested degree.
        found: usize,
        /// The maximum for these cells: 3 for simplices, otherwise 2.
        most: usize,
    },
    /// An irregular box of tensor products.
    #[error("irregular boxes of {} cannot be generated: only of triangles, tetrahedra, prisms or pyramids", cell.plural())]
    IrregularBox {
        /// Requested cell.
        cell: Cell,
    },
    /// Levels of layers that are too few, or do not go from 0 to 1.
    #[error(
        "levels of layers must be at least 2 and go from 0 to 1, found {}",
        match found { [Some(first), Some(last)] => format!("{first} to {last}"), _ => "none".to_owned() },
    )]
    LevelEnds {
        /// The first and the last, if there are any.
        found: [Option<f64>; 2],
    },
    /// Levels of layers that do not ascend.
    #[error("levels of layers, given or by a ratio, must ascend: level {at} is {}, and the next {}", found[0], found[1])]
    Levels {
        /// The lower one's index.
        at: usize,
        /// The two.
        found: [f64; 2],
    },
    /// A node off the plane z = 0 of a mesh that is to be extruded.
    #[error(
        "the mesh has a node at {position:?}: only meshes in the plane z = 0 can be extruded, unless the bottom or the top \
         is a function of z, the height of the mesh"
    )]
    ExtrudedSurface {
        /// Its position.
        position: [f64; 3],
    },
    /// Other heights over one of two periodic sides.
    #[error(
        "pair {number} of periodic sides cannot be extruded: the bottom or the top is not the same on both; in a case \
         `periodic = []`, otherwise `--no-periodic` makes them boundaries"
    )]
    ExtrudedSides {
        /// The pair, from 1 on.
        number: usize,
    },
    /// A group of edges with the name of the facets at an end of the columns.
    #[error(
        "the mesh has a group `{name}` of edges: extrusion names the facets at the ends of columns `bottom` and `top`"
    )]
    ExtrudedGroup {
        /// Its name.
        name: String,
    },
    /// No numbers left for the groups at the ends of columns.
    #[error("group number {largest} leaves no numbers for the facets at the ends of columns")]
    ExtrudedNumbers {
        /// The largest number of a group of edges.
        largest: i32,
    },
    /// Cells that cannot be extruded.
    #[error(
        "{count} cells of type {found} cannot be extruded: tri3, quad4 and, on their boundary, line2 can"
    )]
    ExtrudedCells {
        /// Name of the cell type.
        found: &'static str,
        /// Number of such cells.
        count: usize,
    },
    /// A mesh without plane cells.
    #[error("a mesh without triangles and quadrilaterals cannot be extruded")]
    ExtrudedNothing,
    /// A cell or a periodic side with a node that the mesh lacks.
    #[error("a cell or a periodic side has node {node} of a mesh of {nodes} nodes, counted from 0")]
    ExtrudedNode {
        /// The node.
        node: u32,
        /// Nodes of the mesh.
        nodes: usize,
    },
    /// A mesh with too many nodes when extruded.
    #[error(
        "extruded to {nodes} nodes: a mesh of plane cells can be extruded to less than 2^32 nodes"
    )]
    ExtrudedNodes {
        /// Nodes of the extruded mesh.
        nodes: u64,
    },
    /// A top that is not above the bottom.
    #[error(
        "at {position:?} the bottom is at {bottom} and the top at {top}: it must lie above, both finite"
    )]
    ExtrudedHeight {
        /// Position in the plane.
        position: [f64; 2],
        /// Height of the bottom.
        bottom: f64,
        /// Height of the top.
        top: f64,
    },
    /// Two sides to be joined that are not translations of each other.
    #[error(
        "`{}` and `{}` cannot be one side: the node at {position:?} on `{}` has no partner on `{}`, which lies {shift:?} \
         away", sides[0], sides[1], sides[0], sides[1]
    )]
    UnlikeSides {
        /// The side with the node, and the other.
        sides: Box<[String; 2]>,
        /// The node's position.
        position: [f64; 3],
        /// From the first side to the second.
        shift: [f64; 3],
    },
    /// A side joined with itself, or deformed differently from its partner.
    #[error("`{first}` and `{second}` cannot be one side: {why}")]
    NoSides {
        /// A side.
        first: String,
        /// The other.
        second: String,
        /// The reason.
        why: &'static str,
    },
    /// Boxes of these cells cannot be generated.
    #[error("boxes of {} cannot be generated", cell.plural())]
    BoxCell {
        /// Requested cell.
        cell: Cell,
    },
}

/// The items separated by commas, or "none".
fn list(items: &[String]) -> String {
    if items.is_empty() {
        "none".into()
    } else {
        items.join(", ")
    }
}
