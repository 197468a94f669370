//! What operands are on a device.

use anyhow::Result;
use femto_kernel::roofline::Precision;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device};

/// The array or number that a kernel reads or writes as an operand.
#[derive(Clone, Debug)]
pub(in crate::kernels) enum Value {
    Number(usize),
    /// Numbers of the kernel's precision.
    Reals(Vec<f64>),
    /// Numbers of single precision, whatever the kernel's.
    Singles(Vec<f64>),
    U32(Vec<u32>),
    U16(Vec<u16>),
}

/// A value on a device.
pub(super) enum Memory {
    Number(u32),
    Double(AcceleratorBuffer<f64>),
    Single(AcceleratorBuffer<f32>),
    U32(AcceleratorBuffer<u32>),
    U16(AcceleratorBuffer<u16>),
}

impl Memory {
    pub(super) fn new(device: &Accelerator, value: &Value, precision: Precision) -> Result<Self> {
        Ok(match (value, precision) {
            (&Value::Number(number), _) => Self::Number(number as u32),
            (Value::Reals(numbers), Precision::Fp64) => Self::Double(device.upload(numbers)?),
            (Value::Reals(numbers) | Value::Singles(numbers), _) => {
                let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                Self::Single(device.upload(&numbers)?)
            }
            (Value::U32(numbers), _) => Self::U32(device.upload(numbers)?),
            (Value::U16(numbers), _) => Self::U16(device.upload(numbers)?),
        })
    }

    pub(super) fn argument(&mut self) -> Argument<'_> {
        match self {
            Self::Number(number) => Argument::U32(*number),
            Self::Double(numbers) => Argument::output(numbers),
            Self::Single(numbers) => Argument::output(numbers),
            Self::U32(numbers) => Argument::output(numbers),
            Self::U16(numbers) => Argument::output(numbers),
        }
    }

    /// The real numbers; none of anything else.
    pub(super) fn read(&self, device: &Accelerator) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Double(buffer) => {
                let mut numbers = vec![0.0; buffer.len()];
                device.read(buffer, &mut numbers)?;
                numbers
            }
            Self::Single(buffer) => {
                let mut numbers = vec![0.0; buffer.len()];
                device.read(buffer, &mut numbers)?;
                numbers.into_iter().map(f64::from).collect()
            }
            Self::Number(_) | Self::U32(_) | Self::U16(_) => Vec::new(),
        })
    }
}
