//! Errors of Gmsh files, with their places.

use std::fmt;

use femto_element::CellType;

/// Where in a file a problem was found.
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

/// What is wrong with a Gmsh file: what was found and what is supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file does not begin with a section.
    #[error(
        "not a Gmsh mesh: it begins with {found}; supported are Gmsh MSH 1.0, 2.0 to 2.2, 4.0 and 4.1"
    )]
    NotGmsh {
        /// The first bytes.
        found: String,
    },
    /// Another version of the format.
    #[error("unsupported MSH version {found}; supported are 1.0, 2.0, 2.1, 2.2, 4.0 and 4.1")]
    Version {
        /// The version of the file.
        found: String,
    },
    /// Another size of floating-point numbers (before 4.1) or of `size_t` (4.1).
    #[error("unsupported data size {found}; supported in MSH {version}: {supported}")]
    DataSize {
        /// The data size of the file.
        found: i64,
        /// The version of the file.
        version: &'static str,
        /// What that version may have.
        supported: &'static str,
    },
    /// The integer that tells the byte order of a binary file is not 1 in any order.
    #[error("the byte-order mark of a binary file must be the 32-bit integer 1, found bytes {0:?}")]
    ByteOrder([u8; 4]),
    /// The file ends too early.
    #[error("the file ends where {expected} should be")]
    End {
        /// What should follow.
        expected: String,
    },
    /// Something else than the format demands.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the format demands.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A number that is none of those allowed.
    #[error("{what} is {found}; it must be {supported}")]
    Range {
        /// What the number stands for.
        what: &'static str,
        /// The number.
        found: String,
        /// The numbers allowed.
        supported: &'static str,
    },
    /// A count of more items than the rest of the file can hold.
    #[error(
        "{what} is {count}: that takes at least {needed} bytes, but only {left} are left in the file"
    )]
    Count {
        /// What the number stands for.
        what: &'static str,
        /// How many the file announces.
        count: u64,
        /// The bytes that so many occupy at least.
        needed: u128,
        /// The bytes that follow.
        left: usize,
    },
    /// A periodic entity has a node that the file does not have.
    #[error("a periodic entity has node {node}, which the file does not have")]
    MissingPartner {
        /// The node's number.
        node: u64,
    },
    /// Two counts that contradict each other.
    #[error("the section announces {announced} {what}, but its blocks hold {found}")]
    Total {
        /// What is counted.
        what: &'static str,
        /// The total in the head of the section.
        announced: u64,
        /// The sum over its blocks.
        found: u64,
    },
    /// A section that must be there is not.
    #[error("the file has no ${0} section")]
    MissingSection(&'static str),
    /// A section that was there before.
    #[error("a second ${0} section")]
    RepeatedSection(String),
    /// A section before one that it depends on.
    #[error("section ${section} comes before ${needs}")]
    Order {
        /// The section that is too early.
        section: String,
        /// The section that it depends on.
        needs: &'static str,
    },
    /// A physical group that was declared before.
    #[error("physical group {number} of dimension {dimension} is declared a second time")]
    RepeatedGroup {
        /// Dimension of the group.
        dimension: usize,
        /// Number of the group.
        number: i32,
    },
    /// The name of a physical group of any dimension that was given before.
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
    /// A cell type whose nodes femto cannot count.
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
    /// A cell refers to a node that the file does not have.
    #[error("element {element} refers to node {node}, which the file does not have")]
    MissingNode {
        /// Number of the cell in the file.
        element: u64,
        /// Number of the node in the file.
        node: u64,
    },
    /// Cells in so many groups at once that keeping them would outgrow the file.
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
