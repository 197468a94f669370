//! Why a command did not do what it was asked.

use crate::case::CaseError;
use femto::bench::BenchError;
use femto::fem::mesh::MeshError;
use femto::operator::OperatorError;
use femto::platform::device::DeviceError;
use femto::platform::files::FileError;
use std::io;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The case is wrong.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The device is not there.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The measurement went wrong.
    #[error(transparent)]
    Bench(Box<BenchError>),
    /// A result has no form as a line of a table.
    #[error("cannot write the table: {0}")]
    Csv(#[from] csv::Error),
    /// A result could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The results could not be printed.
    #[error("cannot write to the standard output: {0}")]
    Print(io::Error),
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::Bench(Box::new(error))
    }
}

impl Failure {
    /// The exit code: 1 where the work failed, 2 where the input is wrong. (clap's own code for
    /// wrong arguments is 2 as well.)
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Device(DeviceError::ThreadCount { .. } | DeviceError::UnknownDevice { .. }) => 2,
            Self::Bench(error) => bench_exit_code(error),
            Self::Device(_) | Self::Print(_) | Self::Csv(_) | Self::File(_) => 1,
            Self::Case(_) | Self::Mesh(_) => 2,
        }
    }
}

fn bench_exit_code(error: &BenchError) -> u8 {
    match error {
        BenchError::NoIterations { .. }
        | BenchError::TooLarge { .. }
        | BenchError::NothingToSolve { .. }
        | BenchError::Mesh(_)
        | BenchError::Space(_)
        | BenchError::Operator(OperatorError::Reference(_)) => 2,
        _ => 1,
    }
}
