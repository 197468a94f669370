//! Number types of vectors.

use crate::operator::FormNumber;
use femto_kernel::scalar::Precision;
use femto_platform::device::Element;

/// A precision that kernels compute in and devices store: `f64` or `f32`.
pub trait Number: FormNumber + Element {
    /// The precision's name in reports and options.
    const PRECISION: Precision;
}

impl Number for f64 {
    const PRECISION: Precision = Precision::Fp64;
}

impl Number for f32 {
    const PRECISION: Precision = Precision::Fp32;
}
