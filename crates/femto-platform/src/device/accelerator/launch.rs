//! Launching kernels.

use super::driver::{Handle, Resource};
use super::{Accelerator, AcceleratorBuffer, Features, Kernel, LanguageKind};
use crate::device::{DeviceError, KernelError};
use std::sync::Arc;

/// Maximum number of arguments of a kernel.
pub(crate) const MAX_ARGUMENTS: usize = 64;

/// Maximum number of blocks of a launch: CUDA's limit.
const MAX_BLOCKS: u32 = i32::MAX as u32;

/// The number of blocks, and of threads in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks, in one row.
    pub blocks: u32,
    /// Threads of a block along x, y, z.
    pub threads: [u32; 3],
    /// Bytes of shared memory of a block in addition to that fixed by the text; in OpenCL, texts fix all of
    /// it.
    pub shared_bytes: u32,
}

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A buffer, made by [`Argument::input`] or [`Argument::output`].
    Memory(MemoryArgument<'a>),
    /// A number.
    U32(u32),
    /// A number.
    I32(i32),
    /// A number.
    F32(f32),
    /// A number.
    F64(f64),
}

/// A borrowed buffer as an argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct MemoryArgument<'a> {
    memory: &'a Arc<Resource>,
    handle: Handle,
}

impl MemoryArgument<'_> {
    /// The driver's handle.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl<'a> Argument<'a> {
    /// A buffer that the kernel reads.
    pub fn input<T>(buffer: &'a AcceleratorBuffer<T>) -> Self {
        Self::Memory(MemoryArgument {
            memory: &buffer.memory,
            handle: buffer.memory.handle(),
        })
    }

    /// A buffer that the kernel writes, and may read.
    pub fn output<T>(buffer: &'a mut AcceleratorBuffer<T>) -> Self {
        Self::input(buffer)
    }
}

impl Accelerator {
    /// Launches a kernel after all work so far. Returns before it is done.
    ///
    /// # Errors
    /// [`KernelError::Blocks`], [`KernelError::Threads`], [`KernelError::SharedMemory`],
    /// [`KernelError::Arguments`], [`KernelError::Launch`]; [`DeviceError::OtherDevice`]; or a driver
    /// error, which may concern earlier work.
    pub fn launch(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        kernel.kernel.check(&self.driver, "a kernel")?;
        check_shape(kernel, launch, self.features())?;
        check_shared(kernel, launch, self.features())?;
        check_count(kernel, arguments.len())?;
        let memory = arguments.iter().filter_map(|argument| match argument {
            Argument::Memory(memory) => Some(memory.memory),
            _ => None,
        });
        for memory in memory.clone() {
            memory.check(&self.driver, "an argument")?;
        }
        let _issuing = self.keep(memory.chain([&kernel.kernel, kernel.module.resource()]))?;
        let named = (&*kernel.entry, kernel.kernel.handle());
        // SAFETY: kernel and memory belong to this driver and are alive; the limits were checked.
        unsafe { self.driver.launch(named, launch, arguments) }
    }
}

fn check_shape(kernel: &Kernel, launch: &Launch, features: &Features) -> Result<(), KernelError> {
    let asked = launch.blocks;
    if !(1..=MAX_BLOCKS).contains(&asked) {
        return Err(KernelError::Blocks {
            kernel: kernel.entry().to_owned(),
            asked,
            most: MAX_BLOCKS,
        });
    }
    let threads = |most| KernelError::Threads {
        kernel: kernel.entry().to_owned(),
        asked: launch.threads,
        most,
    };
    let usage = kernel.usage();
    if let Some(only) = usage.threads.filter(|&only| only != launch.threads) {
        return Err(threads(format!("{only:?} only")));
    }
    let most = features
        .max_threads
        .min(usage.max_threads.unwrap_or(u32::MAX));
    let threads_of = |all: u64, &n: &u32| all.saturating_mul(u64::from(n));
    let all = launch.threads.iter().fold(1, threads_of);
    if !(1..=u64::from(most)).contains(&all) {
        return Err(threads(format!("1 to {most}")));
    }
    let xyz = features.max_threads_xyz;
    if launch.threads.iter().zip(xyz).any(|(&n, most)| n > most) {
        return Err(threads(format!("{xyz:?} along x, y, z")));
    }
    Ok(())
}

fn check_shared(kernel: &Kernel, launch: &Launch, features: &Features) -> Result<(), KernelError> {
    let fixed = u64::from(kernel.usage().shared_bytes.unwrap_or(0));
    let asked = match features.language {
        LanguageKind::Cuda => fixed + u64::from(launch.shared_bytes),
        LanguageKind::OpenCl => fixed.max(u64::from(launch.shared_bytes)),
    };
    let most = u64::from(features.shared_bytes);
    if asked > most {
        let kernel = kernel.entry().to_owned();
        return Err(KernelError::SharedMemory {
            kernel,
            asked,
            most,
        });
    }
    Ok(())
}

fn check_count(kernel: &Kernel, found: usize) -> Result<(), KernelError> {
    let wanted = kernel.usage().arguments.map(|count| count as usize);
    let expected = wanted.unwrap_or(found).min(MAX_ARGUMENTS);
    if found == expected {
        return Ok(());
    }
    Err(KernelError::Arguments {
        kernel: kernel.entry().to_owned(),
        found,
        expected,
    })
}
