//! Interpolation kernels, compiled when a device first needs one and kept with it.

use crate::Number;
use crate::accelerator::language;
use crate::vector::ElementInterpolation;
use femto_kernel::vector::interpolation::InterpolationShape;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Device, DeviceError};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// The compiled kernels of `T` by shape.
struct Kernels<T> {
    compiled: Mutex<HashMap<InterpolationShape, Arc<Kernel>>>,
    number: PhantomData<fn(T)>,
}

impl<T: Number> Kernels<T> {
    /// The map is valid after every statement, so a panic elsewhere cannot corrupt it.
    fn get(
        &self,
        device: &Accelerator,
        shape: InterpolationShape,
    ) -> Result<Arc<Kernel>, DeviceError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = compiled.get(&shape) {
            return Ok(Arc::clone(kernel));
        }
        let InterpolationShape { axes, from, to } = shape;
        let name = format!("interpolation {from} {to} {axes} {}", T::PRECISION);
        let text = shape.source(language(device.features()), T::PRECISION);
        let cache = KernelCache::user().unwrap_or_default();
        let module = device.compile(&KernelText::new(&name, &text), &cache)?;
        let kernel = Arc::new(module.kernel("interpolate")?);
        compiled.insert(shape, Arc::clone(&kernel));
        Ok(kernel)
    }
}

/// Runs the kernel; lengths have been checked.
pub(super) fn interpolate<T: Number>(
    device: &Accelerator,
    with: &ElementInterpolation<T, Accelerator>,
    x: &AcceleratorBuffer<T>,
    e: &mut AcceleratorBuffer<T>,
) -> Result<(), DeviceError> {
    let too_many = |_| DeviceError::Unsupported {
        device: device.info().kind.name(),
        what: "interpolate to vectors of more than 4294967295 entries",
    };
    u32::try_from(with.end()).map_err(too_many)?;
    let kernels = device.kept(|| {
        Ok(Kernels::<T> {
            compiled: Mutex::default(),
            number: PhantomData,
        })
    })?;
    let kernel = kernels.get(device, with.shape)?;
    let block = with.shape.block();
    let launch = Launch {
        blocks: with.shape.blocks(with.items()),
        threads: block.threads,
        shared_bytes: block.shared_bytes(T::PRECISION),
    };
    let number = |number: usize| Argument::U32(number as u32);
    let arguments = [
        number(with.items()),
        number(with.strides.components),
        number(with.strides.node),
        number(with.strides.component),
        Argument::input(&with.matrix),
        Argument::input(&with.nodes),
        Argument::input(x),
        number(with.first),
        Argument::output(e),
    ];
    device.launch(&kernel, &launch, &arguments)
}
