//! What can go wrong with a measurement.

use super::Benchmark;
use crate::operator::OperatorError;
use crate::solve::JacobiError;
use crate::solve::cg::CgError;
use femto_fem::geometry::GeometryError;
use femto_fem::mesh::MeshError;
use femto_fem::space::SpaceError;
use femto_kernel::expr::GraphError;
use femto_kernel::family::tensor_hex::schedule::ScheduleError;
use femto_platform::device::{DeviceError, DeviceId};
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
    #[error(
        "{benchmark} of degree {degree} at this size needs more than {gigabytes:.1} GB; \
         {device} has {memory:.1} GB"
    )]
    TooLarge {
        /// What was asked.
        benchmark: Benchmark,
        /// The degree.
        degree: usize,
        /// What mesh and vectors need at least.
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
    #[error("entry {index} of {length} of the output of {benchmark} is {value}")]
    NotFinite {
        /// What was measured.
        benchmark: Benchmark,
        /// The first such entry.
        index: usize,
        /// Length of the output.
        length: usize,
        /// What it holds.
        value: f64,
    },
    /// A ladder step that its sizes or the device do not allow.
    #[error(transparent)]
    Illegal(#[from] ScheduleError),
    /// As [`BenchError::TooLarge`], of a ladder.
    #[error(
        "the ladder of {benchmark} of degree {degree} at this size needs more than \
         {gigabytes:.1} GB; {device} has {memory:.1} GB"
    )]
    LadderTooLarge {
        /// What was asked.
        benchmark: &'static str,
        /// The degree.
        degree: usize,
        /// What factors and vectors need.
        gigabytes: f64,
        /// Where.
        device: DeviceId,
        /// What there is.
        memory: f64,
    },
    /// As [`BenchError::NotFinite`], of a ladder step.
    #[error("entry {index} of {length} of the output of {step} is {value}")]
    StepNotFinite {
        /// What was measured.
        step: String,
        /// The first such entry.
        index: usize,
        /// Length of the output.
        length: usize,
        /// What it holds.
        value: f64,
    },
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
    Cg(#[from] Box<CgError>),
}
