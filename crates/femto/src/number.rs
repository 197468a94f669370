//! The numbers that vectors are made of.

use femto_kernel::roofline::Precision;
use femto_kernel::scalar::Vectorizable;
use femto_platform::device::Element;

/// A precision that kernels compute in and devices store: `f64` or `f32`.
pub trait Number: Vectorizable + Element {
    /// The precision's name in reports and options.
    const PRECISION: Precision;
}

impl Number for f64 {
    const PRECISION: Precision = Precision::Fp64;
}

impl Number for f32 {
    const PRECISION: Precision = Precision::Fp32;
}
