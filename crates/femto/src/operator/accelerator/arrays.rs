//! Arrays of a block on a device, by operand.

use crate::Number;
use femto_kernel::family::{Array, Operand};
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device, DeviceError};

/// An array that kernels read.
#[derive(Debug)]
pub(super) enum DeviceArray<T: Number> {
    Reals(AcceleratorBuffer<T>),
    /// In single precision, whatever the precision of the arithmetic.
    Single(AcceleratorBuffer<f32>),
    U32(AcceleratorBuffer<u32>),
    U16(AcceleratorBuffer<u16>),
}

impl<T: Number> DeviceArray<T> {
    pub(super) fn upload(device: &Accelerator, array: Array) -> Result<Self, DeviceError> {
        Ok(match array {
            Array::Reals(numbers) => {
                let numbers: Vec<T> = numbers.into_iter().map(T::from_f64).collect();
                Self::Reals(device.upload(&numbers)?)
            }
            Array::U32(numbers) => Self::U32(device.upload(&numbers)?),
            Array::U16(numbers) => Self::U16(device.upload(&numbers)?),
        })
    }

    fn argument(&self) -> Argument<'_> {
        match self {
            Self::Reals(buffer) => Argument::input(buffer),
            Self::Single(buffer) => Argument::input(buffer),
            Self::U32(buffer) => Argument::input(buffer),
            Self::U16(buffer) => Argument::input(buffer),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Reals(buffer) => buffer.len() * T::BYTES,
            Self::Single(buffer) => buffer.len() * size_of::<f32>(),
            Self::U32(buffer) => buffer.len() * size_of::<u32>(),
            Self::U16(buffer) => buffer.len() * size_of::<u16>(),
        }
    }
}

/// The arrays of a block, each with its operand.
#[derive(Debug)]
pub(super) struct Arrays<T: Number>(Vec<(Operand, DeviceArray<T>)>);

impl<T: Number> Arrays<T> {
    pub(super) fn upload(
        device: &Accelerator,
        arrays: Vec<(Operand, Array)>,
    ) -> Result<Self, DeviceError> {
        let arrays = arrays.into_iter();
        let upload = |(operand, array)| Ok((operand, DeviceArray::upload(device, array)?));
        arrays.map(upload).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn push(&mut self, operand: Operand, array: DeviceArray<T>) {
        self.0.push((operand, array));
    }

    /// The argument for an operand, or `None` if it is not one of these.
    pub(super) fn argument(&self, operand: Operand) -> Option<Argument<'_>> {
        let mut all = self.0.iter();
        let (_, array) = all.find(|(own, _)| *own == operand)?;
        Some(array.argument())
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(_, array)| array.bytes()).sum()
    }
}
