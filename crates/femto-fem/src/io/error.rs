//! Errors of writing results.

use femto_element::Degree;
use femto_element::basis::BasisError;
use std::path::PathBuf;

/// Why an output file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// The operating system's error.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The requested file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The output's path exists and is not a file.
    #[error("cannot write {}: it is {what}; only new and regular files are written", path.display())]
    NotAFile {
        /// The requested file.
        path: PathBuf,
        /// The kind of object found.
        what: &'static str,
    },
    /// The output stream failed.
    #[error("cannot write the output: {0}")]
    Stream(#[from] std::io::Error),
    /// A degree or shape that cannot be written.
    #[error("such cells cannot be written to a VTU file: {0}")]
    Basis(#[from] BasisError),
    /// Cells that VTK takes for others.
    #[error(
        "prisms of degree {degree} cannot be written to a VTU file: VTK takes cells with as many points for its \
         quadratic wedge"
    )]
    NotInVtk {
        /// Degree of the cells.
        degree: Degree,
    },
    /// The length of the cell array is not a multiple of a cell's nodes.
    #[error(
        "the cell array has {found} entries, which is no multiple of the {nodes_per_cell} nodes \
         of a cell of degree {degree}"
    )]
    CellArray {
        /// Entries found.
        found: usize,
        /// Nodes of one cell.
        nodes_per_cell: usize,
        /// Degree of the cells.
        degree: Degree,
    },
    /// A cell refers to a point that does not exist.
    #[error("cell {cell} refers to point {point}, but the grid has {points} points")]
    PointIndex {
        /// The cell, counted from 0.
        cell: usize,
        /// The point it refers to.
        point: u32,
        /// Number of points.
        points: usize,
    },
    /// A field's array does not fit the grid.
    #[error(
        "field '{name}' has {found} values; {items} {location} with {components} components \
         each need {}",
        items * components
    )]
    FieldLength {
        /// The field.
        name: String,
        /// `points`, `cells` or `nodes`.
        location: &'static str,
        /// Values found.
        found: usize,
        /// Number of points, cells or nodes.
        items: usize,
        /// Components of the field.
        components: usize,
    },
    /// A field without components, without a name, or with another field's name.
    #[error("field '{name}' {fault}")]
    Field {
        /// The field.
        name: String,
        /// The mistake.
        fault: &'static str,
    },
}
