//! An accelerator's language and limits, in femto-kernel's terms, and kernels that count.

mod counting;

pub use counting::Counting;

use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_platform::device::accelerator::{Features, LanguageKind};

/// The language that the accelerator's kernels are written in.
pub fn language(features: &Features) -> Language {
    match features.language {
        LanguageKind::Cuda => Language::Cuda,
        LanguageKind::OpenCl => Language::OpenCl,
    }
}

/// The accelerator's limits on schedules.
pub fn limits(features: &Features) -> Limits {
    Limits {
        threads: features.max_threads,
        threads_xyz: features.max_threads_xyz,
        shared_bytes: features.shared_bytes,
        fp64: features.fp64,
        matrix_units: features.language == LanguageKind::Cuda
            && has_matrix_units(&features.architecture),
    }
}

/// Whether an architecture of CUDA has matrix units that multiply doubles faster than its other units do.
pub fn has_matrix_units(architecture: &str) -> bool {
    MATRIX_UNITS.contains(&architecture)
}

/// The architectures of [`has_matrix_units`].
const MATRIX_UNITS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];
