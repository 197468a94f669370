//! The evaluation context on a device: time and parameters.

use crate::Number;
use femto_kernel::family::EvalContext;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Device, DeviceError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The time, then the parameters, as kernels read them; transferred when they change.
#[derive(Debug)]
pub(super) struct DeviceContext<T: Number>(Mutex<Held<T>>);

/// The numbers on the device, with their buffer.
#[derive(Debug)]
pub(super) struct Held<T: Number> {
    numbers: Vec<T>,
    pub(super) buffer: AcceleratorBuffer<T>,
}

fn numbers<T: Number>(context: &EvalContext, len: usize) -> Vec<T> {
    let all = [context.time];
    let all = all.iter().chain(context.parameters);
    let mut numbers: Vec<T> = all.map(|&number| T::from_f64(number)).collect();
    numbers.resize(len, T::default());
    numbers
}

impl<T: Number> DeviceContext<T> {
    /// `parameters` is the number of parameters, not counting the time.
    pub(super) fn new(
        device: &Accelerator,
        parameters: usize,
        context: &EvalContext,
    ) -> Result<Self, DeviceError> {
        let numbers = numbers(context, 1 + parameters);
        let buffer = device.upload(&numbers)?;
        Ok(Self(Mutex::new(Held { numbers, buffer })))
    }

    /// Locks the context on the device for one launch.
    pub(super) fn hold(
        &self,
        device: &Accelerator,
        context: &EvalContext,
    ) -> Result<MutexGuard<'_, Held<T>>, DeviceError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted: Vec<T> = numbers(context, held.numbers.len());
        // By bits: NaN is not written again and again, and -0 is.
        let mut pairs = held.numbers.iter().zip(&wanted);
        if pairs.any(|(a, b)| a.to_f64().to_bits() != b.to_f64().to_bits()) {
            device.write(&wanted, &mut held.buffer)?;
            held.numbers = wanted;
        }
        Ok(held)
    }
}
