//! Errors in Gmsh files, with their positions.

use std::fmt;

use femto_element::CellType;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of an ASCII file, counted from 1.
    Line(usize),
    /// Byte offset into a binary file, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

/// A mistake in a Gmsh file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GmshError {
    /// The file does not start with a section.
    #[error(
        "not a Gmsh mesh: it begins with {found}; supported are Gmsh MSH 1.0, 2.0 to 2.2, 4.0 and 4.1"
    )]
    NotGmsh {
        /// The first bytes.
        found: String,
    },
    /// An unsupported version of the format.
    #[error("unsupported MSH version {found}; supported are 1.0, 2.0, 2.1, 2.2, 4.0 and 4.1")]
    Version {
        /// The version of the file.
        found: String,
    },
    /// An unsupported size of floating-point numbers (before 4.1) or of `size_t` (4.1).
    #[error("unsupported data size {found}; supported in MSH {version}: {supported}")]
    DataSize {
        /// The data size of the file.
        found: i64,
        /// The version of the file.
        version: &'static str,
        /// The sizes supported in that version.
        supported: &'static str,
    },
    /// The integer that indicates the byte order of a binary file is not 1 in either order.
    #[error("the byte-order mark of a binary file must be the 32-bit integer 1, found bytes {0:?}")]
    ByteOrder([u8; 4]),
    /// The file ends too early.
    #[error("the file ends where {expected} should be")]
    End {
        /// The expected item.
        expected: String,
    },
    /// Something other than the format requires.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected item.
        expected: String,
        /// The item found.
        found: String,
    },
    /// A number outside the allowed values.
    #[error("{what} is {found}; it must be {supported}")]
    Range {
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        found: String,
        /// The allowed values.
        supported: &'static str,
    },
    /// A count of more items than the rest of the file can hold.
    #[error(
        "{what} is {count}: that takes at least {needed} bytes, but only {left} are left in the file"
    )]
    Count {
        /// The items counted.
        what: &'static str,
        /// The announced count.
        count: u64,
        /// The minimum number of bytes for that many items.
        needed: u128,
        /// The remaining bytes.
        left: usize,
    },
    /// Two counts that contradict each other.
    #[error("the section announces {announced} {what}, but its blocks hold {found}")]
    Total {
        /// The items counted.
        what: &'static str,
        /// The total in the head of the section.
        announced: u64,
        /// The sum over its blocks.
        found: u64,
    },
    /// Nodes of old versions with parametric coordinates.
    #[error(
        "nodes with parametric coordinates are only read in version 4: write the mesh with `Mesh.SaveParametric = 0`"
    )]
    ParametricNodes,
    /// A required section is missing.
    #[error("the file has no ${0} section")]
    MissingSection(&'static str),
    /// A repeated section.
    #[error("a second ${0} section")]
    RepeatedSection(String),
    /// A section that precedes one it depends on.
    #[error("section ${section} comes before ${needs}")]
    Order {
        /// The section that comes too early.
        section: String,
        /// The section that it depends on.
        needs: &'static str,
    },
    /// A physical group declared twice.
    #[error("physical group {number} of dimension {dimension} is declared a second time")]
    RepeatedGroup {
        /// Dimension of the group.
        dimension: usize,
        /// Number of the group.
        number: i32,
    },
    /// A name given twice for a physical group of any dimension.
    #[error("physical group {0} is named a second time")]
    RepeatedName(i32),
    /// Two nodes with the same number.
    #[error("node number {0} occurs a second time")]
    RepeatedNode(u64),
    /// A coordinate that is infinite or not a number.
    #[error("node {node} lies at {position}: coordinates must be finite")]
    NotFinite {
        /// Number of the node in the file.
        node: u64,
        /// Its coordinates.
        position: String,
    },
    /// Two cells with the same number.
    #[error("element number {0} occurs a second time")]
    RepeatedElement(u64),
    /// A cell type with an unknown number of nodes.
    #[error(
        "element type {found} is not supported; supported are {}",
        supported_types()
    )]
    CellType {
        /// The type's number in the file.
        found: i64,
    },
    /// A cell in an entity of another dimension.
    #[error("elements of type {cell_type} in an entity of dimension {dimension}")]
    Dimension {
        /// Name of the cell type.
        cell_type: &'static str,
        /// Dimension of the entity.
        dimension: i32,
    },
    /// A cell refers to a missing node.
    #[error("element {element} refers to node {node}, which the file does not have")]
    MissingNode {
        /// Number of the cell in the file.
        element: u64,
        /// Number of the node in the file.
        node: u64,
    },
    /// Cells in so many groups that keeping all memberships would outgrow the file.
    #[error("the cells of this file are in too many physical groups at once")]
    Memberships,
    /// More nodes than 32-bit numbers can count.
    #[error("more than 2^32 - 1 nodes")]
    Nodes,
}

/// Numbers and names of the supported cell types.
fn supported_types() -> String {
    let types = CellType::all().map(|t| format!("{} ({})", t.gmsh_number(), t.name()));
    types.collect::<Vec<_>>().join(", ")
}
