//! Memory, launches and times in OpenCL's terms.

use super::api::{self, check, describe};
use super::program::NO_EVENTS;
use super::{OpenCl, describe_device};
use crate::device::accelerator::driver::{Built, Driver, Handle, ResourceKind};
use crate::device::accelerator::{Argument, Features, KernelText, Launch, Usage};
use crate::device::{DeviceError, DeviceInfo, DeviceKind, KernelError};
use opencl_sys::*;
use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};
use std::sync::PoisonError;

/// The name of PoCL's platform.
const POCL: &str = "Portable Computing Language";

impl Driver for OpenCl {
    fn kind(&self) -> DeviceKind {
        DeviceKind::OpenCl
    }

    fn info(&self) -> DeviceInfo {
        describe_device(self.index, &self.features)
    }

    fn features(&self) -> &Features {
        &self.features
    }

    fn allocate(&self, len: usize, bytes_each: usize) -> Result<Handle, DeviceError> {
        let bytes = (len * bytes_each).max(size_of::<u64>());
        let mut code = CL_SUCCESS;
        // SAFETY: the context is alive; no memory of ours is handed in.
        let memory = unsafe {
            let create = self.api.clCreateBuffer;
            create(
                self.context.pointer(),
                CL_MEM_READ_WRITE,
                bytes,
                null_mut(),
                &raw mut code,
            )
        };
        match code {
            CL_MEM_OBJECT_ALLOCATION_FAILURE
            | CL_OUT_OF_RESOURCES
            | CL_OUT_OF_HOST_MEMORY
            | CL_INVALID_BUFFER_SIZE => Err(DeviceError::OutOfMemory {
                device: api::NAME,
                len,
                bytes_each,
            }),
            code => check("allocate", code).map(|()| Handle::of(memory)),
        }
    }

    unsafe fn write(&self, source: &[u8], target: Handle) -> Result<(), DeviceError> {
        let (start, len) = (source.as_ptr().cast(), source.len());
        let (count, events) = NO_EVENTS;
        // SAFETY: the caller vouches for the memory and its length; the call returns when done.
        check("write", unsafe {
            let (queue, memory) = (self.queue.pointer(), target.pointer());
            let write = self.api.clEnqueueWriteBuffer;
            write(
                queue,
                memory,
                CL_TRUE,
                0,
                len,
                start,
                count,
                events,
                null_mut(),
            )
        })
    }

    unsafe fn read(&self, source: Handle, target: &mut [u8]) -> Result<(), DeviceError> {
        let (start, len) = (target.as_mut_ptr().cast(), target.len());
        let (count, events) = NO_EVENTS;
        // SAFETY: the caller vouches for the memory and its length; the call returns when done.
        check("read", unsafe {
            let (queue, memory) = (self.queue.pointer(), source.pointer());
            let read = self.api.clEnqueueReadBuffer;
            read(
                queue,
                memory,
                CL_TRUE,
                0,
                len,
                start,
                count,
                events,
                null_mut(),
            )
        })
    }

    unsafe fn copy(&self, source: Handle, target: Handle, bytes: usize) -> Result<(), DeviceError> {
        let (count, events) = NO_EVENTS;
        // SAFETY: the caller vouches for both memories and their lengths.
        check("copy", unsafe {
            let (source, target) = (source.pointer(), target.pointer());
            let copy = self.api.clEnqueueCopyBuffer;
            copy(
                self.queue.pointer(),
                source,
                target,
                0,
                0,
                bytes,
                count,
                events,
                null_mut(),
            )
        })
    }

    unsafe fn fill_zero(
        &self,
        target: Handle,
        offset: usize,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        // The pattern's length divides offset and bytes: numbers have two bytes, or a multiple of four.
        let zero = 0_u32;
        let pattern = (&raw const zero).cast();
        let len = match (offset | bytes).is_multiple_of(4) {
            true => 4,
            false => 2,
        };
        let (count, events) = NO_EVENTS;
        // SAFETY: the caller vouches for the memory and the range; the pattern is copied.
        check("fill", unsafe {
            let (queue, memory) = (self.queue.pointer(), target.pointer());
            let fill = self.api.clEnqueueFillBuffer;
            fill(
                queue,
                memory,
                pattern,
                len,
                offset,
                bytes,
                count,
                events,
                null_mut(),
            )
        })
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        // SAFETY: the queue is alive.
        check("finish its work", unsafe {
            (self.api.clFinish)(self.queue.pointer())
        })
    }

    fn keeps_compiled(&self) -> bool {
        // Without its own cache PoCL would compile each kernel twice: its binaries hold one for any block as well.
        self.features.compiler.starts_with(POCL)
    }

    fn build(&self, text: &KernelText, wants_binary: bool) -> Result<Built, DeviceError> {
        self.compile(text, wants_binary)
    }

    fn load(&self, binary: &[u8]) -> Result<Handle, DeviceError> {
        self.load_binary(binary)
    }

    unsafe fn kernel(
        &self,
        module: Handle,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError> {
        // SAFETY: the caller vouches for the module.
        unsafe { self.find_kernel(module.pointer(), entry) }
    }

    unsafe fn launch(
        &self,
        (name, kernel): (&str, Handle),
        launch: &Launch,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let refused = |code| match code {
            CL_SUCCESS => Ok(()),
            code => Err(DeviceError::Kernel(KernelError::Launch {
                kernel: name.to_owned(),
                reason: describe(code),
            })),
        };
        let kernel = kernel.pointer();
        let _guard = self
            .launching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (index, argument) in (0..).zip(arguments) {
            let memory: cl_mem;
            let (len, value): (usize, *const c_void) = match argument {
                Argument::Memory(argument) => {
                    memory = argument.handle().pointer();
                    (size_of_val(&memory), from_ref(&memory).cast())
                }
                Argument::U32(value) => (size_of_val(value), from_ref(value).cast()),
                Argument::I32(value) => (size_of_val(value), from_ref(value).cast()),
                Argument::F32(value) => (size_of_val(value), from_ref(value).cast()),
                Argument::F64(value) => (size_of_val(value), from_ref(value).cast()),
            };
            // SAFETY: the caller vouches for the kernel; `value` has `len` bytes, which are copied.
            refused(unsafe { (self.api.clSetKernelArg)(kernel, index, len, value) })?;
        }
        let block = launch.threads.map(|threads| threads as usize);
        let all = [block[0] * launch.blocks as usize, block[1], block[2]];
        let (count, events) = NO_EVENTS;
        // SAFETY: the caller vouches for the kernel; the sizes are three numbers each.
        refused(unsafe {
            (self.api.clEnqueueNDRangeKernel)(
                self.queue.pointer(),
                kernel,
                3,
                null(),
                all.as_ptr(),
                block.as_ptr(),
                count,
                events,
                null_mut(),
            )
        })
    }

    fn record(&self) -> Result<Handle, DeviceError> {
        let mut event: cl_event = null_mut();
        let (count, events) = NO_EVENTS;
        // SAFETY: the queue is alive.
        check("note a time", unsafe {
            let mark = self.api.clEnqueueMarkerWithWaitList;
            mark(self.queue.pointer(), count, events, &raw mut event)
        })?;
        Ok(Handle::of(event))
    }

    unsafe fn seconds_between(&self, from: Handle, to: Handle) -> Result<f64, DeviceError> {
        let events = [from.pointer(), to.pointer()];
        // SAFETY: the caller vouches for the two events.
        check("finish its work", unsafe {
            (self.api.clWaitForEvents)(2, events.as_ptr())
        })?;
        let nanoseconds = events.map(|event| {
            let mut time: cl_ulong = 0;
            let (len, answer) = (size_of_val(&time), (&raw mut time).cast());
            // SAFETY: the caller vouches for the events; the answer is one number.
            check("tell a time", unsafe {
                let ask = self.api.clGetEventProfilingInfo;
                ask(event, CL_PROFILING_COMMAND_END, len, answer, null_mut())
            })
            .map(|()| time)
        });
        let [from, to] = nanoseconds;
        let (from, to) = (from?, to?);
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        Ok(if to >= from {
            seconds(to - from)
        } else {
            -seconds(from - to)
        })
    }

    fn begin_capture(&self) -> Result<(), DeviceError> {
        Err(DeviceError::Unsupported {
            device: api::NAME,
            what: "capture work",
        })
    }

    fn end_capture(&self) -> Result<Handle, DeviceError> {
        Err(DeviceError::Unsupported {
            device: api::NAME,
            what: "capture work",
        })
    }

    unsafe fn launch_graph(&self, _graph: Handle) -> Result<(), DeviceError> {
        Err(DeviceError::Unsupported {
            device: api::NAME,
            what: "launch a graph",
        })
    }

    unsafe fn release(&self, kind: ResourceKind, handle: Handle) {
        let handle = handle.pointer();
        // SAFETY: the caller vouches for kind and handle. OpenCL itself keeps what is still in use
        // by work in the queue. Errors cannot be reported here.
        unsafe {
            match kind {
                ResourceKind::Memory => (self.api.clReleaseMemObject)(handle),
                ResourceKind::Module => (self.api.clReleaseProgram)(handle),
                ResourceKind::Kernel => (self.api.clReleaseKernel)(handle),
                ResourceKind::Event => (self.api.clReleaseEvent)(handle),
                ResourceKind::Graph => CL_SUCCESS,
            }
        };
    }
}
