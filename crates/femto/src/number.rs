//! Number types of vectors.

use crate::operator::AnyForm;
use femto_kernel::family::Block;
use femto_kernel::family::batch::ElementKernel;
use femto_kernel::roofline::Precision;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::scalar::Vectorizable;
use femto_platform::device::Element;

/// A precision that kernels compute in and devices store: `f64` or `f32`.
pub trait Number: Vectorizable + Element {
    /// The precision's name in reports and options.
    const PRECISION: Precision;

    /// The host's loops over a block for a form.
    #[doc(hidden)]
    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>>;
}

impl Number for f64 {
    const PRECISION: Precision = Precision::Fp64;

    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>> {
        form.host_kernel_fp64(block, level)
    }
}

impl Number for f32 {
    const PRECISION: Precision = Precision::Fp32;

    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>> {
        form.host_kernel_fp32(block, level)
    }
}
