//! Random vectors generated on an accelerator, so that nothing large crosses the bus.

use crate::Number;
use crate::accelerator::language;
use femto_kernel::vector::random;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::marker::PhantomData;
use std::sync::Arc;

/// Kernels that generate random vectors and read parts of large ones.
#[derive(Debug)]
pub struct RandomVectors<'a, T> {
    device: &'a Accelerator,
    kernels: Arc<Kernels<T>>,
}

/// The kernels, kept with the device.
#[derive(Debug)]
struct Kernels<T> {
    random: Kernel,
    pick: Kernel,
    number: PhantomData<fn(T)>,
}

impl<'a, T: Number> RandomVectors<'a, T> {
    /// Compiles the kernels if they are not yet.
    ///
    /// # Errors
    /// A device error.
    pub fn new(device: &'a Accelerator) -> Result<Self, DeviceError> {
        let kernels = device.kept(|| {
            let language = language(device.features());
            let name = format!("random {}", T::PRECISION);
            let text = random::source(language, T::PRECISION);
            let cache = device.user_cache();
            let module = device.compile(&KernelText::new(&name, &text), &cache)?;
            Ok(Kernels::<T> {
                random: module.kernel("random")?,
                pick: module.kernel("pick")?,
                number: PhantomData,
            })
        })?;
        Ok(Self { device, kernels })
    }

    /// A vector whose entry i is [`RandomVectors::entry`] of i.
    ///
    /// # Errors
    /// Not enough memory, or more entries than 32-bit indices can address.
    pub fn make(&self, seed: u32, len: usize) -> Result<AcceleratorBuffer<T>, DeviceError> {
        let mut x = self.device.zeros(len)?;
        self.write(seed, &mut x)?;
        Ok(x)
    }

    /// As [`RandomVectors::make`], to a vector that is there.
    ///
    /// # Errors
    /// More entries than 32-bit indices can address.
    pub fn write(&self, seed: u32, x: &mut AcceleratorBuffer<T>) -> Result<(), DeviceError> {
        let len = x.len();
        let arguments = [self.len(len)?, Argument::U32(seed), Argument::output(x)];
        self.launch(&self.kernels.random, len, &arguments)
    }

    /// The entries `first..first + len` of a vector.
    ///
    /// # Errors
    /// As [`RandomVectors::make`].
    pub fn part(
        &self,
        x: &AcceleratorBuffer<T>,
        first: usize,
        len: usize,
    ) -> Result<Vec<T>, DeviceError> {
        // If indices reach the whole vector, they reach its parts.
        self.len(x.len())?;
        let mut y = self.device.zeros(len)?;
        let arguments = [
            Argument::U32(len as u32),
            Argument::U32(first as u32),
            Argument::input(x),
            Argument::output(&mut y),
        ];
        self.launch(&self.kernels.pick, len, &arguments)?;
        let mut values = vec![T::default(); len];
        self.device.read(&y, &mut values)?;
        Ok(values)
    }

    /// Entry `index` of the vector of a seed, in [−1, 1).
    pub fn entry(seed: u32, index: usize) -> f64 {
        T::from_f64(random::entry(seed, index as u32)).to_f64()
    }

    fn len(&self, len: usize) -> Result<Argument<'static>, DeviceError> {
        let len = u32::try_from(len).map_err(|_| DeviceError::Unsupported {
            device: self.device.info().kind.name(),
            what: "work on vectors of more than 4294967295 entries",
        })?;
        Ok(Argument::U32(len))
    }

    fn launch(
        &self,
        kernel: &Kernel,
        len: usize,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let launch = Launch {
            blocks: random::blocks_of(T::PRECISION, len),
            threads: random::BLOCK.threads,
            shared_bytes: 0,
        };
        self.device.launch(kernel, &launch, arguments)
    }
}
