//! Kernels on elements and lines, from L-vectors to vectors in their own order, compiled when a device first needs one and kept with it.

use crate::Number;
use crate::accelerator::language;
use crate::vector::{ElementInterpolation, ElementInverse, LineSolve};
use femto_kernel::dialect::BlockShape;
use femto_kernel::vector::element_inverse::InverseShape;
use femto_kernel::vector::interpolation::InterpolationShape;
use femto_kernel::vector::line_solve;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// The sizes that a kernel is compiled for.
trait Shape: Copy + Eq + Hash + Send + 'static {
    /// The kernel's name in its text.
    const KERNEL: &'static str;

    /// The name of the text in reports, and the text.
    fn text<T: Number>(self, device: &Accelerator) -> (String, String);
}

impl Shape for InterpolationShape {
    const KERNEL: &'static str = "interpolate";

    fn text<T: Number>(self, device: &Accelerator) -> (String, String) {
        let Self { axes, from, to } = self;
        let name = format!("interpolation {from} {to} {axes} {}", T::PRECISION);
        (name, self.source(language(device.features()), T::PRECISION))
    }
}

impl Shape for InverseShape {
    const KERNEL: &'static str = "invert_elements";

    fn text<T: Number>(self, device: &Accelerator) -> (String, String) {
        let Self { axes, nodes_1d } = self;
        let name = format!("element inverse {nodes_1d} {axes} {}", T::PRECISION);
        (name, self.source(language(device.features()), T::PRECISION))
    }
}

/// The band of lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Band(usize);

impl Shape for Band {
    const KERNEL: &'static str = "solve_lines";

    fn text<T: Number>(self, device: &Accelerator) -> (String, String) {
        let name = format!("line solve {} {}", self.0, T::PRECISION);
        let language = language(device.features());
        (name, line_solve::source(language, T::PRECISION, self.0))
    }
}

/// The compiled kernels of `T` by shape.
struct Kernels<T, S> {
    compiled: Mutex<HashMap<S, Arc<Kernel>>>,
    number: PhantomData<fn(T)>,
}

/// The kernel of a shape. The map is valid after every statement, so a panic elsewhere cannot corrupt it.
fn kernel<T: Number, S: Shape>(device: &Accelerator, shape: S) -> Result<Arc<Kernel>, DeviceError> {
    let kernels = device.kept(|| {
        Ok(Kernels::<T, S> {
            compiled: Mutex::default(),
            number: PhantomData,
        })
    })?;
    let mut compiled = kernels
        .compiled
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(kernel) = compiled.get(&shape) {
        return Ok(Arc::clone(kernel));
    }
    let (name, text) = shape.text::<T>(device);
    let cache = device.user_cache();
    let module = device.compile(&KernelText::new(&name, &text), &cache)?;
    let kernel = Arc::new(module.kernel(S::KERNEL)?);
    compiled.insert(shape, Arc::clone(&kernel));
    Ok(kernel)
}

fn launch<T: Number>(blocks: u32, block: BlockShape) -> Launch {
    Launch {
        blocks,
        threads: block.threads,
        shared_bytes: block.shared_bytes(T::PRECISION),
    }
}

fn number(number: usize) -> Argument<'static> {
    Argument::U32(number as u32)
}

/// Fails unless 32-bit indices address an E-vector of this length.
fn fits(device: &Accelerator, entries: usize) -> Result<(), DeviceError> {
    let too_many = |_| DeviceError::Unsupported {
        device: device.info().kind.name(),
        what: "map to vectors of more than 4294967295 entries",
    };
    u32::try_from(entries).map(drop).map_err(too_many)
}

/// Interpolates; lengths have been checked.
pub(super) fn interpolate<T: Number>(
    device: &Accelerator,
    with: &ElementInterpolation<T, Accelerator>,
    x: &AcceleratorBuffer<T>,
    e: &mut AcceleratorBuffer<T>,
) -> Result<(), DeviceError> {
    fits(device, with.end())?;
    let kernel = kernel::<T, _>(device, with.shape)?;
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
    let launch = launch::<T>(with.shape.blocks(with.items()), with.shape.block());
    device.launch(&kernel, &launch, &arguments)
}

/// Inverts on elements; lengths have been checked.
pub(super) fn invert_elements<T: Number>(
    device: &Accelerator,
    with: &ElementInverse<T, Accelerator>,
    x: &AcceleratorBuffer<T>,
    e: &mut AcceleratorBuffer<T>,
) -> Result<(), DeviceError> {
    if with.items() == 0 {
        return Ok(());
    }
    fits(device, e.len())?;
    let kernel = kernel::<T, _>(device, with.shape)?;
    let arguments = [
        number(with.items()),
        number(with.components),
        Argument::input(&with.vectors),
        Argument::input(&with.values),
        Argument::input(&with.ends),
        Argument::input(&with.strengths),
        Argument::input(&with.nodes),
        Argument::input(&with.weights),
        Argument::input(x),
        Argument::output(e),
    ];
    let launch = launch::<T>(with.shape.blocks(with.items()), with.shape.block());
    device.launch(&kernel, &launch, &arguments)
}

/// Solves along lines; lengths have been checked.
pub(super) fn solve_lines<T: Number>(
    device: &Accelerator,
    with: &LineSolve<T, Accelerator>,
    x: &AcceleratorBuffer<T>,
    e: &mut AcceleratorBuffer<T>,
) -> Result<(), DeviceError> {
    let slices = with.slices() as u32;
    if slices == 0 {
        return Ok(());
    }
    let kernel = kernel::<T, _>(device, Band(with.band))?;
    let arguments = [
        Argument::input(&with.offsets),
        Argument::input(&with.entries),
        Argument::input(&with.factors),
        Argument::input(x),
        Argument::output(e),
    ];
    let launch = launch::<T>(slices, line_solve::BLOCK);
    device.launch(&kernel, &launch, &arguments)
}
