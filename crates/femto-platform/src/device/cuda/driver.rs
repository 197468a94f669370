//! Memory, launches, times and graphs in CUDA's terms.

use super::Cuda;
use super::api::{ERROR_OUT_OF_MEMORY, NAME, Object, SUCCESS};
use crate::device::accelerator::driver::{Built, Driver, Handle, ResourceKind};
use crate::device::accelerator::{Argument, Features, KernelText, Launch, Usage};
use crate::device::{DeviceError, DeviceId, DeviceInfo, DeviceKind};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Memory may be released during a capture.
const CAPTURE_MODE_RELAXED: c_int = 2;

impl Driver for Cuda {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn info(&self) -> DeviceInfo {
        let (kind, index) = (DeviceKind::Cuda, self.index);
        DeviceInfo::of_accelerator(DeviceId { kind, index }, self.name.clone(), &self.features)
    }

    fn features(&self) -> &Features {
        &self.features
    }

    fn allocate(&self, len: usize, bytes_each: usize) -> Result<Handle, DeviceError> {
        let mut address = 0;
        self.enter()?;
        // SAFETY: the context is current.
        let code = unsafe { (self.api.cuMemAlloc_v2)(&raw mut address, (len * bytes_each).max(8)) };
        if code == ERROR_OUT_OF_MEMORY {
            return Err(DeviceError::OutOfMemory {
                device: NAME,
                len,
                bytes_each,
            });
        }
        self.api.check("allocate", code)?;
        Ok(Handle(address))
    }

    unsafe fn write(&self, source: &[u8], target: Handle) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller vouches for the memory and its length; `source` outlives the wait.
        unsafe {
            if let Some(mut staging) = self.staging(source.len()) {
                return self.write_staged(&mut staging, source, target.0);
            }
            self.issue_write(source, target.0)?;
        }
        self.wait()
    }

    unsafe fn read(&self, source: Handle, target: &mut [u8]) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller vouches for the memory and its length; `target` outlives the wait.
        unsafe {
            if let Some(mut staging) = self.staging(target.len()) {
                return self.read_staged(&mut staging, source.0, target);
            }
            self.issue_read(source.0, target)?;
        }
        self.wait()
    }

    unsafe fn copy(&self, source: Handle, target: Handle, bytes: usize) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller vouches for both memories and their lengths.
        self.api.check("copy", unsafe {
            (self.api.cuMemcpyDtoDAsync_v2)(target.0, source.0, bytes, self.stream.pointer())
        })
    }

    unsafe fn fill_zero(
        &self,
        target: Handle,
        offset: usize,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        let (start, stream) = (target.0 + offset as u64, self.stream.pointer());
        self.enter()?;
        // SAFETY: the caller vouches for the memory and the range.
        self.api.check("fill", unsafe {
            match start.is_multiple_of(4) && bytes.is_multiple_of(4) {
                true => (self.api.cuMemsetD32Async)(start, 0, bytes / 4, stream),
                false => (self.api.cuMemsetD8Async)(start, 0, bytes, stream),
            }
        })
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        self.wait()
    }

    fn keeps_compiled(&self) -> bool {
        false
    }

    fn build(&self, text: &KernelText, _: bool) -> Result<Built, DeviceError> {
        let compiled = self.compiler.compile(text, &self.features.architecture)?;
        Ok(Built {
            module: self.load_cubin(&compiled.cubin)?,
            log: compiled.log,
            binary: Some(compiled.cubin),
        })
    }

    fn load(&self, binary: &[u8]) -> Result<Handle, DeviceError> {
        self.load_cubin(binary)
    }

    fn ptx(&self, text: &KernelText) -> Result<Option<String>, DeviceError> {
        let ptx = self.compiler.ptx(text, &self.features.architecture)?;
        Ok(Some(ptx))
    }

    fn load_ptx(&self, ptx: &str) -> Result<Handle, DeviceError> {
        self.assemble(ptx)
    }

    unsafe fn kernel(
        &self,
        module: Handle,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError> {
        // SAFETY: the caller vouches for the module.
        unsafe { self.find_kernel(module, entry) }
    }

    unsafe fn prefer_l1(&self, kernel: Handle, launch: &Launch) -> Result<(), DeviceError> {
        // SAFETY: the caller vouches for the kernel.
        unsafe { self.leave_l1(kernel, launch) }
    }

    unsafe fn launch(
        &self,
        kernel: (&str, Handle),
        launch: &Launch,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller vouches for kernel, memory and limits.
        unsafe { self.start_kernel(kernel, launch, arguments) }
    }

    fn record(&self) -> Result<Handle, DeviceError> {
        let mut event: Object = null_mut();
        self.enter()?;
        // SAFETY: the context is current; there are no flags.
        let code = unsafe { (self.api.cuEventCreate)(&raw mut event, 0) };
        self.api.check("make an event", code)?;
        // SAFETY: the event was just made; the stream is alive.
        let code = unsafe { (self.api.cuEventRecord)(event, self.stream.pointer()) };
        let event = Handle::of(event);
        let outcome = self.api.check("note a time", code);
        if outcome.is_err() {
            // SAFETY: nobody has the event.
            unsafe { self.release(ResourceKind::Event, event) };
        }
        outcome.map(|()| event)
    }

    unsafe fn seconds_between(&self, from: Handle, to: Handle) -> Result<f64, DeviceError> {
        self.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: the caller vouches for the events; the answer is one number.
        unsafe {
            for event in [from, to] {
                let code = (self.api.cuEventSynchronize)(event.pointer());
                self.api.check("finish its work", code)?;
            }
            let ask = self.api.cuEventElapsedTime;
            let code = ask(&raw mut milliseconds, from.pointer(), to.pointer());
            self.api.check("tell a time", code)?;
        }
        Ok(f64::from(milliseconds) * 1e-3)
    }

    fn begin_capture(&self) -> Result<(), DeviceError> {
        self.enter()?;
        let mut capturing = self.capturing();
        // SAFETY: the stream is alive.
        self.api.check("capture work", unsafe {
            (self.api.cuStreamBeginCapture_v2)(self.stream.pointer(), CAPTURE_MODE_RELAXED)
        })?;
        *capturing = true;
        Ok(())
    }

    fn end_capture(&self) -> Result<Handle, DeviceError> {
        let (mut graph, mut ready): (Object, Object) = (null_mut(), null_mut());
        self.enter()?;
        let mut capturing = self.capturing();
        // SAFETY: the stream is alive.
        let code = unsafe { (self.api.cuStreamEndCapture)(self.stream.pointer(), &raw mut graph) };
        // Also if it failed: the stream has left the capture.
        *capturing = false;
        drop(capturing);
        self.api.check("capture work", code)?;
        // SAFETY: the graph is alive until it is destroyed.
        unsafe {
            let code = (self.api.cuGraphInstantiateWithFlags)(&raw mut ready, graph, 0);
            (self.api.cuGraphDestroy)(graph);
            self.api.check("prepare captured work", code)?;
        }
        Ok(Handle::of(ready))
    }

    unsafe fn launch_graph(&self, graph: Handle) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller vouches for the graph; the stream is alive.
        self.api.check("launch a graph", unsafe {
            (self.api.cuGraphLaunch)(graph.pointer(), self.stream.pointer())
        })
    }

    unsafe fn release(&self, kind: ResourceKind, handle: Handle) {
        if self.enter().is_err() {
            return;
        }
        // Work in the stream may still use it; events are kept by the driver itself.
        if !matches!(kind, ResourceKind::Event | ResourceKind::Kernel) {
            // Locked until the wait is over: it would break a capture that begins meanwhile.
            let capturing = self.capturing();
            if !*capturing {
                // An error shows up in the next call that can report it.
                let _ = self.wait();
            }
        }
        // SAFETY: the caller vouches for kind and handle. Errors cannot be reported here.
        unsafe {
            match kind {
                ResourceKind::Memory => (self.api.cuMemFree_v2)(handle.0),
                ResourceKind::Module => (self.api.cuModuleUnload)(handle.pointer()),
                // Released with its module.
                ResourceKind::Kernel => SUCCESS,
                ResourceKind::Event => (self.api.cuEventDestroy_v2)(handle.pointer()),
                ResourceKind::Graph => (self.api.cuGraphExecDestroy)(handle.pointer()),
            }
        };
    }
}
