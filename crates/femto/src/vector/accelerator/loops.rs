//! Compiled vector loops and their launches.

use crate::Number;
use crate::accelerator::language;
use crate::vector::Ratio;
use femto_kernel::scalar::Precision;
use femto_kernel::vector::source::{self, BLOCK, MOST_BLOCKS, SUMS};
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch, Module,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The compiled loops over vectors, with a field for each of these kernels.
macro_rules! loops {
    ($($kernel:ident,)*) => {
        /// The compiled loops over vectors of `T`.
        pub(super) struct Loops<T> {
            $(pub(super) $kernel: Kernel,)*
            memory: Mutex<Memory>,
            number: PhantomData<fn(T)>,
        }

        impl<T: Number> Loops<T> {
            fn new(device: &Accelerator) -> Result<Self, DeviceError> {
                let module = compile(device, T::PRECISION)?;
                let memory = Memory {
                    partial: device.zeros(2 * MOST_BLOCKS as usize)?,
                    sums: device.zeros(2)?,
                };
                Ok(Self {
                    $($kernel: module.kernel(stringify!($kernel))?,)*
                    memory: Mutex::new(memory),
                    number: PhantomData,
                })
            }
        }
    };
}

loops!(
    fill,
    set_entries,
    project,
    gather,
    add_to_entries,
    axpy,
    xpby,
    multiply,
    convert,
    convert_single,
    multiply_sparse,
    multiply_sparse_blocks,
    multiply_sparse_components,
    chebyshev_step,
    invert,
    dot_product,
    square,
    update_direction,
    update_residual,
    precondition_dot,
    finish,
);

/// Memory for sums. Locked from the kernel that sums per block until the sum is stored.
pub(super) struct Memory {
    /// `[sum][block]`.
    pub(super) partial: AcceleratorBuffer<f64>,
    /// One slot, for sums that the host waits for.
    pub(super) sums: AcceleratorBuffer<f64>,
}

impl<T: Number> Loops<T> {
    fn of(device: &Accelerator) -> Result<Arc<Self>, DeviceError> {
        device.kept(|| Self::new(device))
    }

    /// Its contents are scratch between sums, so a panic cannot corrupt them.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn compile(device: &Accelerator, precision: Precision) -> Result<Module, DeviceError> {
    let language = language(device.features());
    let name = format!("vectors {precision}");
    let text = source::source(language, precision);
    let cache = device.user_cache();
    device.compile(&KernelText::new(&name, &text), &cache)
}

/// A loop over vectors of `len` entries.
pub(super) struct Loop<'a, T: Number> {
    device: &'a Accelerator,
    pub(super) loops: Arc<Loops<T>>,
    len: u32,
}

impl<'a, T: Number> Loop<'a, T> {
    /// Over vectors as long as `y`; compiles the kernels on first use.
    pub(super) fn over(
        device: &'a Accelerator,
        y: &AcceleratorBuffer<T>,
    ) -> Result<Self, DeviceError> {
        Self::of(device, y.len())
    }

    /// Over `len` entries.
    pub(super) fn of(device: &'a Accelerator, len: usize) -> Result<Self, DeviceError> {
        let too_long = |_| DeviceError::Unsupported {
            device: device.info().kind.name(),
            what: "work on vectors of more than 4294967295 entries",
        };
        Ok(Self {
            device,
            loops: Loops::of(device)?,
            len: len.try_into().map_err(too_long)?,
        })
    }

    pub(super) fn len(&self) -> Argument<'static> {
        Argument::U32(self.len)
    }

    /// Runs a kernel without a sum.
    pub(super) fn run(
        &self,
        kernel: &Kernel,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let blocks = source::blocks(T::PRECISION, self.len as usize);
        start(self.device, kernel, blocks, arguments)
    }

    /// Runs a kernel with a thread for each entry of a list.
    pub(super) fn run_listed(
        &self,
        kernel: &Kernel,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let blocks = source::entry_blocks(self.len as usize);
        start(self.device, kernel, blocks, arguments)
    }

    /// Runs a kernel that leaves one sum per block.
    pub(super) fn sum(
        &self,
        kernel: &Kernel,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        start(self.device, kernel, self.sum_blocks(), arguments)
    }

    fn sum_blocks(&self) -> u32 {
        source::sum_blocks(T::PRECISION, self.len as usize)
    }

    /// Σ x y, per block.
    pub(super) fn dot(
        &self,
        x: &AcceleratorBuffer<T>,
        y: &AcceleratorBuffer<T>,
        partial: &mut AcceleratorBuffer<f64>,
    ) -> Result<(), DeviceError> {
        let (x, y) = (Argument::input(x), Argument::input(y));
        let arguments = [self.len(), x, y, Argument::output(partial)];
        self.sum(&self.loops.dot_product, &arguments)
    }

    /// Adds the sums per block into a slot, and the second sum into another.
    pub(super) fn finish(
        &self,
        partial: &AcceleratorBuffer<f64>,
        sums: &mut AcceleratorBuffer<f64>,
        (first, second): (usize, Option<usize>),
    ) -> Result<(), DeviceError> {
        let arguments = [
            Argument::U32(self.sum_blocks()),
            Argument::input(partial),
            Argument::I32(first as i32),
            Argument::I32(second.unwrap_or(first) as i32),
            Argument::output(sums),
        ];
        let blocks = if second.is_some() { 2 } else { 1 };
        start(self.device, &self.loops.finish, blocks, &arguments)
    }

    /// Adds the sums per block, and waits for the result.
    pub(super) fn wait(&self, memory: &mut Memory) -> Result<f64, DeviceError> {
        self.finish(&memory.partial, &mut memory.sums, (0, None))?;
        let mut found = [0.0; 2];
        self.device.read(&memory.sums, &mut found)?;
        Ok(found[0])
    }
}

fn start(
    device: &Accelerator,
    kernel: &Kernel,
    blocks: u32,
    arguments: &[Argument<'_>],
) -> Result<(), DeviceError> {
    let launch = Launch {
        blocks,
        threads: BLOCK.threads,
        shared_bytes: BLOCK.shared_bytes(SUMS),
    };
    device.launch(kernel, &launch, arguments)
}

/// A factor as kernels take it: the positions of its two sums.
pub(super) fn ratio(ratio: Ratio) -> [Argument<'static>; 2] {
    [ratio.numerator, ratio.denominator].map(|sum| Argument::I32(sum.index() as i32))
}
