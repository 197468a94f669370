//! Why a command did not do what it was asked.

use crate::case::CaseError;
use femto::fem::mesh::MeshError;
use femto::platform::device::DeviceError;
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
    /// The results could not be printed.
    #[error("cannot write to the standard output: {0}")]
    Print(io::Error),
}

impl Failure {
    /// The exit code: 1 where the work failed, 2 where the input is wrong. (clap's own code for
    /// wrong arguments is 2 as well.)
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Device(DeviceError::ThreadCount { .. } | DeviceError::UnknownDevice { .. }) => 2,
            Self::Device(_) | Self::Print(_) => 1,
            Self::Case(_) | Self::Mesh(_) => 2,
        }
    }
}
