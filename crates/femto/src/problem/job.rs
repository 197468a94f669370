//! Parts of a problem's data that the device computes that solves it.

use super::ProblemError;
use crate::Host;
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use femto_platform::device::{DeviceError, KernelError};

/// Work for any device.
pub(super) trait Job {
    type Output;

    fn on<B: Backend + VectorOps<f64>>(&self, device: &B) -> Result<Self::Output, ProblemError>;
}

/// Does a job on the device, or on the host where the device does not take general forms or numbers of
/// double precision.
pub(super) fn on_device<J: Job, B: Backend + VectorOps<f64>>(
    device: &B,
    job: &J,
) -> Result<J::Output, ProblemError> {
    match job.on(device) {
        Err(error) if is_beyond_the_device(&error) => job.on(&Host::new()?),
        result => result,
    }
}

fn is_beyond_the_device(error: &ProblemError) -> bool {
    match error {
        ProblemError::Operator(OperatorError::FormOnAccelerator) => true,
        ProblemError::Operator(OperatorError::Device(error)) | ProblemError::Device(error) => {
            let no_fp64 = matches!(error, DeviceError::Kernel(KernelError::NoFp64 { .. }));
            no_fp64 || matches!(error, DeviceError::Unsupported { .. })
        }
        _ => false,
    }
}
