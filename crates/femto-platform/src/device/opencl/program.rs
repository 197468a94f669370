//! OpenCL programs: compilation, binaries, kernels.

use super::OpenCl;
use super::api::{check, describe};
use super::query;
use crate::device::accelerator::driver::{Built, Handle};
use crate::device::accelerator::{KernelText, Usage};
use crate::device::{DeviceError, KernelError};
use opencl_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

/// Options of every compilation.
const OPTIONS: &str = "-cl-std=CL1.2";

/// A program that is released unless it is taken.
struct Program<'a> {
    owner: &'a OpenCl,
    program: cl_program,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: `program` is alive and nobody else's. Errors cannot be reported here.
        unsafe { (self.owner.api.clReleaseProgram)(self.program) };
    }
}

impl Program<'_> {
    /// Hands the program over to the caller.
    fn take(self) -> Handle {
        let program = self.program;
        std::mem::forget(self);
        Handle::of(program)
    }

    /// Compiles, or only links if the program is already a binary.
    fn build(&self, options: &str) -> Result<cl_int, DeviceError> {
        let options = to_c("compile with an option that contains a zero byte", options)?;
        let device = self.owner.device.pointer();
        // SAFETY: program and device are alive and of the same context; the options end with zero.
        Ok(unsafe {
            let (count, devices) = (1, &raw const device);
            let build = self.owner.api.clBuildProgram;
            build(
                self.program,
                count,
                devices,
                options.as_ptr(),
                None,
                null_mut(),
            )
        })
    }

    /// The compiler's log; empty if there is none.
    fn log(&self) -> String {
        let log = query::text("show its compiler's log", |len, answer, needed| {
            let (api, device) = (self.owner.api, self.owner.device.pointer());
            let what = CL_PROGRAM_BUILD_LOG;
            // SAFETY: program and device are alive; the answer has room for `len` bytes.
            unsafe { (api.clGetProgramBuildInfo)(self.program, device, what, len, answer, needed) }
        });
        log.unwrap_or_default()
    }

    /// The binary for [`OpenCl::load_binary`], if the driver provides it.
    fn binary(&self) -> Option<Vec<u8>> {
        let ask = |what, len, answer: *mut c_void, needed: *mut usize| {
            // SAFETY: the program is alive; the answer has room for `len` bytes.
            unsafe { (self.owner.api.clGetProgramInfo)(self.program, what, len, answer, needed) }
        };
        let sizes = query::numbers(
            "tell a binary's size",
            size_of::<usize>(),
            |len, to, needed| ask(CL_PROGRAM_BINARY_SIZES, len, to, needed),
        );
        // The context has one device, so there is one binary.
        let len = usize::try_from(*sizes.ok()?.first()?).ok()?;
        let mut binary = vec![0_u8; len];
        let mut target = binary.as_mut_ptr();
        let code = ask(
            CL_PROGRAM_BINARIES,
            size_of::<*mut u8>(),
            (&raw mut target).cast(),
            null_mut(),
        );
        (len > 0 && code == CL_SUCCESS).then_some(binary)
    }
}

impl OpenCl {
    pub(super) fn compile(
        &self,
        text: &KernelText,
        wants_binary: bool,
    ) -> Result<Built, DeviceError> {
        let options = text
            .options
            .iter()
            .fold(OPTIONS.to_owned(), |all, option| all + " " + option);
        let (mut source, len) = (text.text.as_ptr().cast(), text.text.len());
        let mut code = CL_SUCCESS;
        // SAFETY: one source of `len` bytes, which the driver copies.
        let program = unsafe {
            let create = self.api.clCreateProgramWithSource;
            create(
                self.context.pointer(),
                1,
                &raw mut source,
                &raw const len,
                &raw mut code,
            )
        };
        check("take a kernel's text", code)?;
        let program = Program {
            owner: self,
            program,
        };
        let code = program.build(&options)?;
        let log = program.log();
        if code != CL_SUCCESS {
            return Err(self.refusal(text, code, log));
        }
        let binary = wants_binary.then(|| program.binary()).flatten();
        Ok(Built {
            log,
            binary,
            module: program.take(),
        })
    }

    /// The error of a text that failed to compile.
    fn refusal(&self, text: &KernelText, code: cl_int, log: String) -> DeviceError {
        let kernel = text.name.to_owned();
        let architecture = self.features.architecture.clone();
        if !self.features.fp64 && text.text.contains("double") {
            return DeviceError::Kernel(KernelError::NoFp64 {
                kernel,
                architecture,
            });
        }
        let log = if log.is_empty() { describe(code) } else { log };
        DeviceError::Kernel(KernelError::Compile {
            compiler: self.features.compiler.clone(),
            kernel,
            architecture,
            log,
        })
    }

    pub(super) fn load_binary(&self, binary: &[u8]) -> Result<Handle, DeviceError> {
        let (device, len) = (self.device.pointer(), binary.len());
        let mut start = binary.as_ptr();
        let (mut status, mut code) = (CL_SUCCESS, CL_SUCCESS);
        // SAFETY: one binary of `len` bytes for the one device of the context; it is copied.
        let program = unsafe {
            (self.api.clCreateProgramWithBinary)(
                self.context.pointer(),
                1,
                &raw const device,
                &raw const len,
                &raw mut start,
                &raw mut status,
                &raw mut code,
            )
        };
        check("load a compiled kernel", code)?;
        let program = Program {
            owner: self,
            program,
        };
        check("load a compiled kernel", status)?;
        check("load a compiled kernel", program.build("")?)?;
        Ok(program.take())
    }

    /// # Safety
    /// The program is alive and of this context.
    pub(super) unsafe fn find_kernel(
        &self,
        program: cl_program,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError> {
        let name = to_c("find a kernel whose name contains a zero byte", entry)?;
        let mut code = CL_SUCCESS;
        // SAFETY: the caller vouches for the program; the name ends with zero.
        let kernel = unsafe { (self.api.clCreateKernel)(program, name.as_ptr(), &raw mut code) };
        if code == CL_INVALID_KERNEL_NAME {
            return Ok(None);
        }
        check("find a kernel", code)?;
        Ok(Some((Handle::of(kernel), self.usage(kernel))))
    }

    /// Resources of a living kernel.
    fn usage(&self, kernel: cl_kernel) -> Usage {
        let numbers = |what, bytes_each| {
            let answer = query::numbers("describe a kernel", bytes_each, |len, to, needed| {
                let device = self.device.pointer();
                // SAFETY: kernel and device are alive; the answer has room for `len` bytes.
                unsafe {
                    (self.api.clGetKernelWorkGroupInfo)(kernel, device, what, len, to, needed)
                }
            });
            let answer = answer.unwrap_or_default().into_iter();
            answer
                .filter_map(|n| u32::try_from(n).ok())
                .collect::<Vec<_>>()
        };
        let number = |what, bytes_each| numbers(what, bytes_each).first().copied();
        let mut arguments: cl_uint = 0;
        // SAFETY: the kernel is alive; the answer is one number.
        let code = unsafe {
            let (len, answer) = (size_of::<cl_uint>(), (&raw mut arguments).cast());
            (self.api.clGetKernelInfo)(kernel, CL_KERNEL_NUM_ARGS, len, answer, null_mut())
        };
        let only = numbers(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, size_of::<usize>());
        Usage {
            registers: None,
            local_bytes: number(CL_KERNEL_PRIVATE_MEM_SIZE, 8),
            shared_bytes: number(CL_KERNEL_LOCAL_MEM_SIZE, 8),
            max_threads: number(CL_KERNEL_WORK_GROUP_SIZE, size_of::<usize>()),
            threads: <[u32; 3]>::try_from(only)
                .ok()
                .filter(|only| *only != [0; 3]),
            arguments: (code == CL_SUCCESS).then_some(arguments),
        }
    }
}

fn to_c(action: &'static str, text: &str) -> Result<CString, DeviceError> {
    CString::new(text).map_err(|_| DeviceError::Unsupported {
        device: super::api::NAME,
        what: action,
    })
}

/// No list of events to wait for: the queue is in order.
pub(super) const NO_EVENTS: (cl_uint, *const cl_event) = (0, null());
