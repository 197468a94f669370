//! Errors of measurements.

use super::Benchmark;
use super::helmholtz::ColumnsError;
use femto::operator::OperatorError;
use femto::solve::{JacobiError, SolveError};
use femto_element::Degree;
use femto_fem::geometry::GeometryError;
use femto_fem::io::IoError;
use femto_fem::mesh::MeshError;
use femto_fem::space::SpaceError;
use femto_kernel::expr::GraphError;
use femto_kernel::family::ScheduleError;
use femto_platform::device::{DeviceError, DeviceId};
use std::path::PathBuf;
use thiserror::Error;

/// Why a measurement produced no row.
#[derive(Debug, Error)]
pub enum BenchError {
    /// A folder that cannot be made.
    #[error("the folder {} cannot be made: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A figure's file is of another kind.
    #[error("{}: figures are SVG or PNG files: .svg, .png", .0.display())]
    FigureFormat(PathBuf),
    /// A figure of nothing.
    #[error("there are no rows to draw")]
    NoRows,
    /// A figure that cannot be drawn.
    #[error("the figure cannot be drawn: {0}")]
    Figure(String),
    /// Conjugate gradients need L-vectors.
    #[error("{benchmark} is an element-local kernel; conjugate gradients run on bp1 to bp6")]
    NoIterations {
        /// Requested benchmark.
        benchmark: Benchmark,
    },
    /// Sparse matrices multiply L-vectors.
    #[error("{benchmark} is an element-local kernel; sparse matrices are for bp1 to bp6")]
    NoSparseMatrix {
        /// Requested benchmark.
        benchmark: Benchmark,
    },
    /// More than fits the memory.
    #[error("{what} needs more than {gigabytes:.1} GB; {device} has {memory:.1} GB")]
    TooLarge {
        /// The requested problem.
        what: String,
        /// Minimum memory needed.
        gigabytes: f64,
        /// The device.
        device: DeviceId,
        /// Memory available.
        memory: f64,
    },
    /// All nodes are constrained, or there is no right-hand side to iterate for.
    #[error("{benchmark} of degree {degree} on {elements} elements leaves nothing to iterate on")]
    NothingToSolve {
        /// Requested benchmark.
        benchmark: Benchmark,
        /// The degree.
        degree: Degree,
        /// Number of elements.
        elements: usize,
    },
    /// An output entry that was not written, or is not finite.
    #[error("entry {index} of {length} of the output of {what} is {value}")]
    NotFinite {
        /// The measured kernel or operator.
        what: String,
        /// The first such entry.
        index: usize,
        /// Length of the output.
        length: usize,
        /// Its value.
        value: f64,
    },
    /// An output that differs from the oracle's.
    #[error(
        "{what} is wrong: its error relative to the oracle is {error:.1e}, above {tolerance:.0e}"
    )]
    Wrong {
        /// The measured kernel or loop.
        what: String,
        /// The largest difference relative to the oracle's scale.
        error: f64,
        /// The largest that is accepted.
        tolerance: f64,
    },
    /// A schedule that is illegal for its sizes or the device.
    #[error(transparent)]
    Illegal(#[from] ScheduleError),
    /// From the mesh generator.
    #[error(transparent)]
    Mesh(#[from] Box<MeshError>),
    /// From the extrusion of a mesh.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// From the geometry.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// From the space.
    #[error(transparent)]
    Space(#[from] Box<SpaceError>),
    /// From the text of a form.
    #[error(transparent)]
    Form(#[from] GraphError),
    /// From the operator.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// From the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// From the preconditioner.
    #[error(transparent)]
    Jacobi(#[from] JacobiError),
    /// From the solver.
    #[error(transparent)]
    Cg(#[from] Box<SolveError>),
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: csv::Error,
    },
    /// A file with other rows than those of the measurement that is drawn.
    #[error("{} has no rows that this command wrote with `--csv`: {source}", .path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// The mistake.
        source: csv::Error,
    },
    /// Records cannot be written as lines of a table.
    #[error("cannot write the table: {0}")]
    Csv(#[from] csv::Error),
    /// A table or a figure could not be written.
    #[error(transparent)]
    Output(#[from] IoError),
}
