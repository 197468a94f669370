//! CUDA modules and their kernels.

use super::Cuda;
use super::api::{ERROR_NOT_FOUND, NAME, Object, SUCCESS};
use super::features::{
    Asked, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, RESERVED_SHARED_MEMORY_PER_BLOCK,
};
use super::nvrtc::to_c;
use crate::device::accelerator::driver::Handle;
use crate::device::accelerator::{Argument, Launch, MAX_ARGUMENTS, Usage};
use crate::device::{DeviceError, KernelError};
use std::ffi::{CString, c_int, c_void};
use std::ptr::{from_ref, null_mut};

// Of `CUfunction_attribute`.
const MAX_THREADS_PER_BLOCK: c_int = 0;
const SHARED_SIZE_BYTES: c_int = 1;
const LOCAL_SIZE_BYTES: c_int = 3;
const NUM_REGS: c_int = 4;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
const PREFERRED_SHARED_MEMORY_CARVEOUT: c_int = 9;

/// Blocks that need more at the launch must opt in.
const SHARED_BYTES_OF_ALL: u32 = 48 << 10;
/// The part of it left for arrays of known size in a text, besides the amount requested at a launch.
const SHARED_BYTES_OF_TEXTS: u32 = 16 << 10;

impl Cuda {
    /// A module of machine code.
    pub(super) fn load_cubin(&self, cubin: &[u8]) -> Result<Handle, DeviceError> {
        // The driver is not told the length: it would read text up to a zero byte.
        if !cubin.starts_with(b"\x7fELF") || cubin.len() < 64 {
            return Err(DeviceError::Driver {
                device: NAME,
                action: "load a compiled kernel",
                reason: "it is not an ELF file".to_owned(),
            });
        }
        // SAFETY: the image is a whole ELF file.
        unsafe { self.load_image("load a compiled kernel", cubin) }
    }

    /// A module of PTX, which the driver assembles.
    pub(super) fn assemble(&self, ptx: &str) -> Result<Handle, DeviceError> {
        let text = to_c(ptx)?;
        // SAFETY: the image is a text that ends with zero.
        unsafe { self.load_image("assemble PTX", text.as_bytes_with_nul()) }
    }

    /// # Safety
    /// The image is a whole ELF file, or a text that ends with zero.
    unsafe fn load_image(&self, action: &'static str, image: &[u8]) -> Result<Handle, DeviceError> {
        let mut module: Object = null_mut();
        self.enter()?;
        // SAFETY: the caller vouches for the image, which the driver copies.
        let code = unsafe { (self.api.cuModuleLoadData)(&raw mut module, image.as_ptr().cast()) };
        self.api.check(action, code)?;
        Ok(Handle::of(module))
    }

    /// # Safety
    /// The module is alive and of this context.
    pub(super) unsafe fn find_kernel(
        &self,
        module: Handle,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError> {
        let Ok(name) = CString::new(entry) else {
            return Ok(None);
        };
        let mut function: Object = null_mut();
        self.enter()?;
        // SAFETY: the caller vouches for the module; the name ends with zero.
        let code = unsafe {
            let find = self.api.cuModuleGetFunction;
            find(&raw mut function, module.pointer(), name.as_ptr())
        };
        if code == ERROR_NOT_FOUND {
            return Ok(None);
        }
        self.api.check("find a kernel", code)?;
        Ok(Some((Handle::of(function), self.usage(function))))
    }

    /// Resources of a living kernel.
    fn usage(&self, function: Object) -> Usage {
        let number = |attribute| {
            let mut value = 0;
            // SAFETY: the kernel is alive; the answer is one number.
            let code =
                unsafe { (self.api.cuFuncGetAttribute)(&raw mut value, attribute, function) };
            (code == SUCCESS)
                .then(|| u32::try_from(value).ok())
                .flatten()
        };
        let arguments = self.api.cuFuncGetParamInfo.map(|info| {
            let is_there = |&index: &u32| {
                let (mut offset, mut len) = (0, 0);
                // SAFETY: the kernel is alive; the answers are single numbers.
                unsafe { info(function, index as usize, &raw mut offset, &raw mut len) == SUCCESS }
            };
            (0..=MAX_ARGUMENTS as u32).take_while(is_there).count() as u32
        });
        Usage {
            registers: number(NUM_REGS),
            local_bytes: number(LOCAL_SIZE_BYTES),
            shared_bytes: number(SHARED_SIZE_BYTES),
            max_threads: number(MAX_THREADS_PER_BLOCK),
            threads: None,
            arguments,
        }
    }

    /// Lets blocks of a living kernel have the shared memory of a launch.
    fn allow_shared(&self, function: Object, launch: &Launch) -> Result<(), DeviceError> {
        if launch.shared_bytes + SHARED_BYTES_OF_TEXTS <= SHARED_BYTES_OF_ALL {
            return Ok(());
        }
        let bytes = c_int::try_from(launch.shared_bytes).unwrap_or(c_int::MAX);
        // SAFETY: the caller vouches for the kernel.
        let code = unsafe {
            (self.api.cuFuncSetAttribute)(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
        };
        self.api.check("give a block that much shared memory", code)
    }

    /// Gives L1 what the blocks that fit on a multiprocessor leave of its shared memory.
    ///
    /// # Safety
    /// The kernel is alive and of this context.
    pub(super) unsafe fn leave_l1(
        &self,
        kernel: Handle,
        launch: &Launch,
    ) -> Result<(), DeviceError> {
        let function: Object = kernel.pointer();
        self.enter()?;
        self.allow_shared(function, launch)?;
        let (mut blocks, threads) = (0, launch.threads.iter().product::<u32>() as c_int);
        let dynamic = launch.shared_bytes as usize;
        // SAFETY: the caller vouches for the kernel; the answer is one number.
        let code = unsafe {
            let count = self.api.cuOccupancyMaxActiveBlocksPerMultiprocessor;
            count(&raw mut blocks, function, threads, dynamic)
        };
        self.api
            .check("count the blocks of a multiprocessor", code)?;
        let asked = Asked {
            api: self.api,
            device: self.device,
        };
        let of_all = asked.number(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?.max(1);
        let fixed = self.usage(function).shared_bytes.unwrap_or(0);
        // Older drivers do not know it.
        let reserved = asked.number(RESERVED_SHARED_MEMORY_PER_BLOCK).unwrap_or(0);
        let of_block = launch.shared_bytes + fixed + reserved;
        let percent = (100 * blocks as u32 * of_block).div_ceil(of_all).min(100);
        // SAFETY: the caller vouches for the kernel.
        let code = unsafe {
            let set = self.api.cuFuncSetAttribute;
            set(function, PREFERRED_SHARED_MEMORY_CARVEOUT, percent as c_int)
        };
        self.api.check("divide shared memory and L1", code)
    }

    /// # Safety
    /// Kernel and memory are alive and of this context; the launch keeps to the limits.
    pub(super) unsafe fn start_kernel(
        &self,
        (name, kernel): (&str, Handle),
        launch: &Launch,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let function: Object = kernel.pointer();
        self.enter()?;
        self.allow_shared(function, launch)?;
        let mut values: [*mut c_void; MAX_ARGUMENTS] = [null_mut(); MAX_ARGUMENTS];
        for (value, argument) in values.iter_mut().zip(arguments) {
            let start: *const c_void = match argument {
                // The handle of memory is its address.
                Argument::Memory(memory) => from_ref(memory.handle()).cast(),
                Argument::U32(number) => from_ref(number).cast(),
                Argument::I32(number) => from_ref(number).cast(),
                Argument::F32(number) => from_ref(number).cast(),
                Argument::F64(number) => from_ref(number).cast(),
            };
            // The driver takes pointers to mutable values, but only copies them.
            *value = start.cast_mut();
        }
        let [x, y, z] = launch.threads;
        // SAFETY: the caller vouches for kernel and limits; each value is alive.
        let code = unsafe {
            (self.api.cuLaunchKernel)(
                function,
                launch.blocks,
                1,
                1,
                x,
                y,
                z,
                launch.shared_bytes,
                self.stream.pointer(),
                values.as_mut_ptr(),
                null_mut(),
            )
        };
        match self.api.check("start a kernel", code) {
            Err(DeviceError::Driver { reason, .. }) => {
                let kernel = name.to_owned();
                Err(KernelError::Launch { kernel, reason }.into())
            }
            outcome => outcome,
        }
    }
}
