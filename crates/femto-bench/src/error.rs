//! Errors of measurements.

use super::Benchmark;
use femto::operator::OperatorError;
use femto::solve::{JacobiError, SolveError};
use femto_fem::geometry::GeometryError;
use femto_fem::mesh::MeshError;
use femto_fem::space::SpaceError;
use femto_kernel::expr::GraphError;
use femto_kernel::family::ScheduleError;
use femto_platform::device::{DeviceError, DeviceId};
use femto_platform::files::FileError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a measurement gave no row.
#[derive(Debug, Error)]
pub enum BenchError {
    /// Conjugate gradients need L-vectors.
    #[error("{benchmark} is an element-local kernel; conjugate gradients run on bp1 to bp6")]
    NoIterations {
        /// What was asked.
        benchmark: Benchmark,
    },
    /// More than the memory can hold.
    #[error("{what} needs more than {gigabytes:.1} GB; {device} has {memory:.1} GB")]
    TooLarge {
        /// What was asked.
        what: String,
        /// What is needed at least.
        gigabytes: f64,
        /// Where.
        device: DeviceId,
        /// What there is.
        memory: f64,
    },
    /// All nodes are constrained, or there is no right-hand side to iterate for.
    #[error("{benchmark} of degree {degree} on {elements} elements leaves nothing to iterate on")]
    NothingToSolve {
        /// What was asked.
        benchmark: Benchmark,
        /// The degree.
        degree: usize,
        /// Number of elements.
        elements: usize,
    },
    /// An output entry that was not written, or is no number.
    #[error("entry {index} of {length} of the output of {what} is {value}")]
    NotFinite {
        /// What was measured.
        what: String,
        /// The first such entry.
        index: usize,
        /// Length of the output.
        length: usize,
        /// What it holds.
        value: f64,
    },
    /// A schedule that its sizes or the device do not allow.
    #[error(transparent)]
    Illegal(#[from] ScheduleError),
    /// From the mesh generator.
    #[error(transparent)]
    Mesh(#[from] Box<MeshError>),
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
    /// A file without rows of a ladder, or none at all.
    #[error("{} has no rows of `femto bench --ladder --csv`: {source}", .path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: csv::Error,
    },
    /// Records have no form as lines of a table.
    #[error("cannot write the table: {0}")]
    Csv(#[from] csv::Error),
    /// A table or a figure could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}
