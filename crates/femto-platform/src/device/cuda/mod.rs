//! NVIDIA's GPUs: their driver and run-time compiler, both loaded at run time.
//!
//! A device works in its primary context, in one stream of its own. Texts are compiled to machine
//! code for exactly its architecture.

mod api;
mod features;
mod kernel;
mod log;
pub mod nvrtc;

pub use log::EntryUsage;

use super::accelerator::driver::{Built, Driver, Handle, ResourceKind};
use super::accelerator::{Argument, Features, KernelText, Launch, Usage};
use super::{DeviceError, DeviceId, DeviceInfo, DeviceKind};
use api::{Api, ERROR_OUT_OF_MEMORY, NAME, Object, SUCCESS};
use features::{Asked, driver_version};
use nvrtc::Compiler;
use std::ffi::c_int;
use std::fmt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does not wait for, or hold up, the work of others in the same context.
const STREAM_NON_BLOCKING: u32 = 1;
/// Memory may be given back during a capture.
const CAPTURE_MODE_RELAXED: c_int = 2;

/// One CUDA device.
pub(super) struct Cuda {
    api: &'static Api,
    index: usize,
    device: c_int,
    name: String,
    context: Handle,
    stream: Handle,
    compiler: Compiler,
    features: Features,
    capturing: AtomicBool,
}

impl Cuda {
    pub(super) fn new(index: usize) -> Result<Self, DeviceError> {
        let api = api::api()?;
        let asked = Asked::one(api, index)?;
        let compiler = Compiler::find(driver_version(api)?.0)?;
        let features = asked.features(compiler.version())?;
        compiler.check_architecture(&features.architecture)?;
        let mut context: Object = null_mut();
        // SAFETY: the device is the driver's.
        api.check("open a device", unsafe {
            (api.cuDevicePrimaryCtxRetain)(&raw mut context, asked.device)
        })?;
        let mut opened = Self {
            api,
            index,
            device: asked.device,
            name: asked.name()?,
            context: Handle::of(context),
            stream: Handle(0),
            compiler,
            features,
            capturing: AtomicBool::new(false),
        };
        let mut stream: Object = null_mut();
        opened.enter()?;
        // SAFETY: the context is current.
        api.check("make a stream", unsafe {
            (api.cuStreamCreate)(&raw mut stream, STREAM_NON_BLOCKING)
        })?;
        opened.stream = Handle::of(stream);
        Ok(opened)
    }

    /// Makes the context that of the calling thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is alive.
        let code = unsafe { (self.api.cuCtxSetCurrent)(self.context.pointer()) };
        self.api.check("open a device", code)
    }

    /// Waits for the stream; its context is current.
    fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the stream is alive.
        let code = unsafe { (self.api.cuStreamSynchronize)(self.stream.pointer()) };
        self.api.check("finish its work", code)
    }
}

/// Every device, in the order of [`Cuda::new`].
pub(super) fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    let devices = Asked::all(api::api()?)?;
    let described = devices.iter().enumerate();
    described
        .map(|(index, device)| device.info(index))
        .collect()
}

/// Why kernels cannot be compiled here, if so.
pub(super) fn missing_compiler() -> Option<DeviceError> {
    let version = driver_version(api::api().ok()?).ok()?;
    Compiler::find(version.0).err()
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        // SAFETY: stream and context are alive and used by nobody else; what the stream still has
        // to do is done before its memory goes. A failure has nobody to be told to.
        unsafe {
            if self.stream.0 != 0 {
                (self.api.cuStreamSynchronize)(self.stream.pointer());
                (self.api.cuStreamDestroy_v2)(self.stream.pointer());
            }
            (self.api.cuCtxSetCurrent)(null_mut());
            (self.api.cuDevicePrimaryCtxRelease_v2)(self.device);
        }
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cuda:{} ({})", self.index, self.name)
    }
}

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
        let (start, len) = (source.as_ptr().cast(), source.len());
        self.enter()?;
        // SAFETY: the caller vouches for the memory and its length; `source` outlives the wait.
        self.api.check("write", unsafe {
            (self.api.cuMemcpyHtoDAsync_v2)(target.0, start, len, self.stream.pointer())
        })?;
        self.wait()
    }

    unsafe fn read(&self, source: Handle, target: &mut [u8]) -> Result<(), DeviceError> {
        let (start, len) = (target.as_mut_ptr().cast(), target.len());
        self.enter()?;
        // SAFETY: the caller vouches for the memory and its length; `target` outlives the wait.
        self.api.check("read", unsafe {
            (self.api.cuMemcpyDtoHAsync_v2)(start, source.0, len, self.stream.pointer())
        })?;
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
        // Every element type is a multiple of four bytes.
        let (start, len) = (target.0 + offset as u64, bytes / 4);
        self.enter()?;
        // SAFETY: the caller vouches for the memory and the range.
        self.api.check("fill", unsafe {
            (self.api.cuMemsetD32Async)(start, 0, len, self.stream.pointer())
        })
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        self.wait()
    }

    fn build(&self, text: &KernelText) -> Result<Built, DeviceError> {
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

    unsafe fn kernel(
        &self,
        module: Handle,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError> {
        // SAFETY: the caller vouches for the module.
        unsafe { self.find_kernel(module, entry) }
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

    unsafe fn record(&self, event: Option<Handle>) -> Result<Handle, DeviceError> {
        self.enter()?;
        let event = match event {
            Some(event) => event,
            None => {
                let mut event: Object = null_mut();
                // SAFETY: the context is current; there are no flags.
                let code = unsafe { (self.api.cuEventCreate)(&raw mut event, 0) };
                self.api.check("make an event", code)?;
                Handle::of(event)
            }
        };
        // SAFETY: the caller vouches for an earlier event; the stream is alive.
        let code = unsafe { (self.api.cuEventRecord)(event.pointer(), self.stream.pointer()) };
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
        // SAFETY: the stream is alive.
        self.api.check("capture work", unsafe {
            (self.api.cuStreamBeginCapture_v2)(self.stream.pointer(), CAPTURE_MODE_RELAXED)
        })?;
        self.capturing.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn end_capture(&self) -> Result<Handle, DeviceError> {
        self.enter()?;
        self.capturing.store(false, Ordering::Relaxed);
        let (mut graph, mut ready): (Object, Object) = (null_mut(), null_mut());
        // SAFETY: the stream is alive, and the graph until it is destroyed.
        unsafe {
            let code = (self.api.cuStreamEndCapture)(self.stream.pointer(), &raw mut graph);
            self.api.check("capture work", code)?;
            let code = (self.api.cuGraphInstantiateWithFlags)(&raw mut ready, graph, 0);
            (self.api.cuGraphDestroy)(graph);
            self.api.check("prepare captured work", code)?;
        }
        Ok(Handle::of(ready))
    }

    unsafe fn replay(&self, graph: Handle) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller vouches for the graph; the stream is alive.
        self.api.check("replay work", unsafe {
            (self.api.cuGraphLaunch)(graph.pointer(), self.stream.pointer())
        })
    }

    unsafe fn release(&self, kind: ResourceKind, handle: Handle) {
        if self.enter().is_err() {
            return;
        }
        // Work in the stream may still use it; events are kept by the driver itself.
        let may_be_used = !matches!(kind, ResourceKind::Event | ResourceKind::Kernel);
        if may_be_used && !self.capturing.load(Ordering::Relaxed) {
            // An error shows in the next call that can tell it.
            let _ = self.wait();
        }
        // SAFETY: the caller vouches for kind and handle. A failure has nobody to be told to.
        unsafe {
            match kind {
                ResourceKind::Memory => (self.api.cuMemFree_v2)(handle.0),
                ResourceKind::Module => (self.api.cuModuleUnload)(handle.pointer()),
                // Goes with its module.
                ResourceKind::Kernel => SUCCESS,
                ResourceKind::Event => (self.api.cuEventDestroy_v2)(handle.pointer()),
                ResourceKind::Graph => (self.api.cuGraphExecDestroy)(handle.pointer()),
            }
        };
    }
}
