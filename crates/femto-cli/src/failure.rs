//! Failures of commands, and their exit codes.

use crate::case::{CaseError, VTU_NAME};
use femto::fem::io::IoError;
use femto::fem::mesh::MeshError;
use femto::operator::OperatorError;
use femto::platform::device::DeviceError;
use femto::problem::ProblemError;
use femto_bench::BenchError;
use std::io;
use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The case has a mistake.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The mesh has a mistake.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The problem cannot be set up.
    #[error(transparent)]
    Problem(Box<ProblemError>),
    /// The solver did not converge; the last iterate has been reported.
    #[error("{message}")]
    Unsolved {
        /// Why.
        message: String,
    },
    /// The solution was found, but could not be written or lacks something that was asked for; it has been reported.
    #[error("{message}")]
    Unwritten {
        /// Why.
        message: String,
    },
    /// The mesh is unusable for solving; this has been reported.
    #[error("nothing can be solved on this mesh: {message}")]
    Unusable {
        /// Why.
        message: String,
    },
    /// The operator could not be timed.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The output has a name that readers do not know.
    #[error("--output must be {VTU_NAME}, not `{}`", path.display())]
    NotVtu {
        /// The name.
        path: PathBuf,
    },
    /// A file is asked for of the null device.
    #[error("the device `null` computes nothing that {option} could write")]
    NothingToWrite {
        /// The option.
        option: &'static str,
    },
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] IoError),
    /// The output directory could not be created.
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The device is missing.
    #[error("{error}{elsewhere}", error = .0, elsewhere = other_devices(.0))]
    Device(#[from] DeviceError),
    /// The measurement failed.
    #[error(transparent)]
    Bench(Box<BenchError>),
    /// Some measurements failed, or a file could not be written; the others have been reported.
    #[error(transparent)]
    Measured(Box<BenchError>),
    /// A signal ended a benchmark; the rows measured before are reported.
    #[error("interrupted; rows measured: {rows}")]
    Interrupted {
        /// Rows reported.
        rows: usize,
        /// The signal's number.
        signal: u8,
    },
    /// An option that changes nothing.
    #[error("{option} has no meaning here: {reason}")]
    NoMeaning {
        /// The option.
        option: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A mesh that is too large.
    #[error(
        "the mesh needs at least {needed:.1} GB of memory, and this process may use {allowed:.1} GB: take fewer cells"
    )]
    Memory {
        /// In GB.
        needed: f64,
        /// By the machine or the process's control group, in GB.
        allowed: f64,
    },
    /// Stored tables without rows to draw.
    #[error("there are no rows to draw in {files}{found}")]
    NoRows {
        /// The files.
        files: String,
        /// What they have instead.
        found: String,
    },
    /// An output that is an input or another output.
    #[error("{} is named twice, and would be written over", path.display())]
    WrittenOver {
        /// The file.
        path: PathBuf,
    },
    /// No ladder has such a step.
    #[error(
        "no ladder of {benchmarks} has a step `{names}`; bk1, bk3 and bk5 have ladders, with steps \
         such as `bk5/layers/7`, `cubes`; `all` are all of them"
    )]
    NoStep {
        /// The benchmarks.
        benchmarks: String,
        /// The requested names.
        names: String,
    },
    /// Kernel texts do not compile; the report has the compiler's messages.
    #[error("{failed} of {all} kernel texts do not compile")]
    Kernels {
        /// Number of texts that do not compile.
        failed: usize,
        /// Number of texts compiled.
        all: usize,
    },
    /// The results could not be printed.
    #[error("cannot write to the standard output: {0}")]
    Print(io::Error),
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::Bench(Box::new(error))
    }
}

impl From<ProblemError> for Failure {
    fn from(error: ProblemError) -> Self {
        Self::Problem(Box::new(error))
    }
}

impl Failure {
    /// The exit code: 1 if the work failed, 2 if the input is wrong, more after a signal. (clap also uses 2 for
    /// wrong arguments.)
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Device(error) => device_exit_code(error),
            Self::Bench(error) | Self::Measured(error) => bench_exit_code(error),
            Self::Problem(error) => exit_code_of(error.is_of_input()),
            Self::Operator(error) => exit_code_of(error.is_of_input()),
            Self::Print(_)
            | Self::Unsolved { .. }
            | Self::Unwritten { .. }
            | Self::Kernels { .. }
            | Self::Output(IoError::Stream(_)) => 1,
            // As shells report signals.
            Self::Interrupted { signal, .. } => 128 + signal,
            Self::Output(_) | Self::Case(_) | Self::Mesh(_) | Self::Folder { .. } => 2,
            Self::NoStep { .. } | Self::Unusable { .. } => 2,
            Self::NotVtu { .. } | Self::NothingToWrite { .. } | Self::WrittenOver { .. } => 2,
            Self::NoMeaning { .. } | Self::NoRows { .. } | Self::Memory { .. } => 2,
        }
    }

    /// Whether the command's report already covers it.
    pub fn is_reported(&self) -> bool {
        matches!(
            self,
            Self::Unsolved { .. }
                | Self::Unwritten { .. }
                | Self::Unusable { .. }
                | Self::Kernels { .. }
                | Self::Measured(_)
                | Self::Interrupted { .. }
        )
    }
}

/// What a user can do who asked, perhaps by default, for a device that is missing or of the wrong kind.
fn other_devices(error: &DeviceError) -> &'static str {
    match error {
        DeviceError::DriverMissing { .. }
        | DeviceError::DriverTooOld { .. }
        | DeviceError::NoSuchDevice { .. }
        | DeviceError::Unsupported { .. } => "; `femto devices` lists those here, for `--device`",
        _ => "",
    }
}

fn device_exit_code(error: &DeviceError) -> u8 {
    // A kind that cannot do what is asked, such as benchmarks of accelerators, is a wrong choice too.
    exit_code_of(is_missing(error) || matches!(error, DeviceError::Unsupported { .. }))
}

/// Whether a requested device is missing.
pub(crate) fn is_missing(error: &DeviceError) -> bool {
    matches!(
        error,
        DeviceError::ThreadCount { .. }
            | DeviceError::UnknownDevice { .. }
            | DeviceError::DriverMissing { .. }
            | DeviceError::DriverTooOld { .. }
            | DeviceError::NoSuchDevice { .. }
    )
}

/// 2 where the input is wrong, 1 for other failures.
fn exit_code_of(is_of_input: bool) -> u8 {
    if is_of_input { 2 } else { 1 }
}

fn bench_exit_code(error: &BenchError) -> u8 {
    match error {
        BenchError::NoIterations { .. }
        | BenchError::NoSparseMatrix { .. }
        | BenchError::TooLarge { .. }
        | BenchError::NothingToSolve { .. }
        | BenchError::NoTable { .. }
        | BenchError::Unreadable { .. }
        | BenchError::NoRows
        | BenchError::Folder { .. }
        | BenchError::FigureFormat(_)
        | BenchError::Illegal(_)
        | BenchError::Mesh(_)
        | BenchError::Space(_) => 2,
        BenchError::Operator(error) => exit_code_of(error.is_of_input()),
        BenchError::Device(error) => device_exit_code(error),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_femto_are_not_bad_input() {
        let wrong = OperatorError::WrongVariant {
            kernel: "apply".into(),
            schedule: "plain".into(),
            error: 1.0,
        };
        let asked = OperatorError::KnobElsewhere { knob: "blocks" };
        for (error, code) in [(wrong, 1), (asked, 2)] {
            let solved = Failure::from(ProblemError::from(error.clone()));
            let measured = bench_exit_code(&BenchError::Operator(error.clone()));
            assert_eq!((solved.exit_code(), measured), (code, code), "{error}");
        }
    }
}
