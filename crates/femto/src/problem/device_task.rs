//! Tasks of a problem for the device that solves, or for the host where that cannot.

use super::ProblemError;
use crate::Host;
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use femto_platform::device::{DeviceError, KernelError};

/// A part of a problem's data that any device can compute.
pub(super) trait DeviceTask {
    type Output;

    fn on<B: Backend + VectorOps<f64>>(&self, device: &B) -> Result<Self::Output, ProblemError>;
}

/// Runs a task on the device, or on the host where the device does not take general forms or numbers of
/// double precision.
pub(super) fn on_device<Task: DeviceTask, B: Backend + VectorOps<f64>>(
    device: &B,
    task: &Task,
) -> Result<Task::Output, ProblemError> {
    match task.on(device) {
        Err(error) if is_beyond_the_device(&error) => task.on(&Host::new()?),
        result => result,
    }
}

fn is_beyond_the_device(error: &ProblemError) -> bool {
    match error {
        ProblemError::Operator(OperatorError::NoKernel) => true,
        ProblemError::Operator(OperatorError::Device(error)) | ProblemError::Device(error) => {
            let no_fp64 = matches!(error, DeviceError::Kernel(KernelError::NoFp64 { .. }));
            no_fp64 || matches!(error, DeviceError::Unsupported { .. })
        }
        _ => false,
    }
}
