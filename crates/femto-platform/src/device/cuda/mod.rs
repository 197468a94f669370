//! NVIDIA's GPUs: their driver and run-time compiler, both loaded at run time.
//!
//! A device works in its primary context, in a stream of its own. Texts are compiled to machine code for
//! its exact architecture.

mod api;
mod driver;
mod features;
mod kernel;
mod log;
pub mod nvrtc;
mod staging;

pub use log::EntryUsage;

use super::accelerator::Features;
use super::accelerator::driver::Handle;
use super::{DeviceError, DeviceInfo};
use api::{Address, Api, Object};
use features::{Asked, driver_version};
use nvrtc::Compiler;
use staging::Staging;
use std::ffi::c_int;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Neither waits for nor delays work of others in the same context.
const STREAM_NON_BLOCKING: u32 = 1;

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
    /// Whether the stream's work is captured. Locked while a capture begins or ends.
    capturing: Mutex<bool>,
    staging: Mutex<Staging>,
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
            capturing: Mutex::new(false),
            staging: Mutex::new(Staging::NONE),
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

    /// Makes the context current in the calling thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is alive.
        let code = unsafe { (self.api.cuCtxSetCurrent)(self.context.pointer()) };
        self.api.check("open a device", code)
    }

    /// Whether work is captured. No capture begins or ends before the guard is dropped.
    fn capturing(&self) -> MutexGuard<'_, bool> {
        self.capturing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a copy to device memory, which has as many bytes; its context is current, and `source` outlives the copy.
    unsafe fn issue_write(&self, source: &[u8], target: Address) -> Result<(), DeviceError> {
        let (start, len) = (source.as_ptr().cast(), source.len());
        // SAFETY: the caller vouches for both memories; the stream is alive.
        self.api.check("write", unsafe {
            (self.api.cuMemcpyHtoDAsync_v2)(target, start, len, self.stream.pointer())
        })
    }

    /// Begins a copy from device memory, which has as many bytes; its context is current, and `target` outlives the copy.
    unsafe fn issue_read(&self, source: Address, target: &mut [u8]) -> Result<(), DeviceError> {
        let (start, len) = (target.as_mut_ptr().cast(), target.len());
        // SAFETY: the caller vouches for both memories; the stream is alive.
        self.api.check("read", unsafe {
            (self.api.cuMemcpyDtoHAsync_v2)(start, source, len, self.stream.pointer())
        })
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

/// Why kernels cannot be compiled here, if they cannot.
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
        // to do is done before its memory goes. Errors cannot be reported here.
        unsafe {
            if self.stream.0 != 0 {
                (self.api.cuStreamSynchronize)(self.stream.pointer());
                (self.api.cuStreamDestroy_v2)(self.stream.pointer());
            }
            let staging = self.staging.lock();
            staging
                .unwrap_or_else(PoisonError::into_inner)
                .release(self);
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
