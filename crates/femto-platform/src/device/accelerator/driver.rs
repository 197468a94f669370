//! The trait of drivers, implemented in the folders `cuda` and `opencl`.

use super::{Argument, Features, KernelText, Launch, Usage};
use crate::device::{DeviceError, DeviceInfo, DeviceKind};
use std::fmt::Debug;
use std::sync::Arc;

/// An object of a driver: an address, or a pointer to an opaque type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(pub(crate) u64);

impl Handle {
    /// Keeps a pointer of the driver.
    pub(crate) fn of<T>(pointer: *mut T) -> Self {
        Self(pointer.expose_provenance() as u64)
    }

    /// The stored pointer.
    pub(crate) fn pointer<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0 as usize)
    }
}

/// The kind of object behind a handle, which decides how it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    Memory,
    Module,
    Kernel,
    Event,
    Graph,
}

/// A compiled text.
pub(crate) struct Built {
    pub(crate) module: Handle,
    /// The compiler's log.
    pub(crate) log: String,
    /// The binary for `load`, if it was wanted and the driver provides it.
    pub(crate) binary: Option<Vec<u8>>,
}

/// A driver with one device: an in-order queue, memory, a compiler.
///
/// # Safety of the unsafe functions
/// Handles must be alive, of the kind that the argument names, and made by this driver; byte ranges must
/// lie within the memory.
pub(crate) trait Driver: Debug + Send + Sync {
    fn kind(&self) -> DeviceKind;
    fn info(&self) -> DeviceInfo;
    fn features(&self) -> &Features;

    /// Uninitialised memory, or `OutOfMemory`.
    fn allocate(&self, len: usize, bytes_each: usize) -> Result<Handle, DeviceError>;
    /// Returns once `source` is no longer needed.
    unsafe fn write(&self, source: &[u8], target: Handle) -> Result<(), DeviceError>;
    /// Returns once `target` is filled. All of `target` is initialised memory.
    unsafe fn read(&self, source: Handle, target: &mut [u8]) -> Result<(), DeviceError>;
    unsafe fn copy(&self, source: Handle, target: Handle, bytes: usize) -> Result<(), DeviceError>;
    unsafe fn fill_zero(
        &self,
        target: Handle,
        offset: usize,
        bytes: usize,
    ) -> Result<(), DeviceError>;
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Whether the driver's compiler keeps what it made on disk, for other processes too.
    fn keeps_compiled(&self) -> bool;
    fn build(&self, text: &KernelText, wants_binary: bool) -> Result<Built, DeviceError>;
    /// A module from the binary of an earlier `build` on the same device and driver.
    fn load(&self, binary: &[u8]) -> Result<Handle, DeviceError>;
    /// The text as PTX; `None` if the driver has none.
    fn ptx(&self, text: &KernelText) -> Result<Option<String>, DeviceError> {
        let _ = text;
        Ok(None)
    }
    /// A module assembled from PTX.
    fn load_ptx(&self, ptx: &str) -> Result<Handle, DeviceError> {
        let _ = ptx;
        Err(DeviceError::Unsupported {
            device: self.kind().name(),
            what: "load PTX",
        })
    }
    /// `None` if the module has no such kernel.
    unsafe fn kernel(
        &self,
        module: Handle,
        entry: &str,
    ) -> Result<Option<(Handle, Usage)>, DeviceError>;
    /// See [`Kernel::prefer_l1`](super::Kernel::prefer_l1).
    unsafe fn prefer_l1(&self, kernel: Handle, launch: &Launch) -> Result<(), DeviceError> {
        let _ = (kernel, launch);
        Ok(())
    }
    /// The launch must keep to the limits of the device and of the kernel.
    unsafe fn launch(
        &self,
        kernel: (&str, Handle),
        launch: &Launch,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError>;

    /// A new event: the time when all work so far is done.
    fn record(&self) -> Result<Handle, DeviceError>;
    unsafe fn seconds_between(&self, from: Handle, to: Handle) -> Result<f64, DeviceError>;

    /// From here on, work is captured instead of executed.
    fn begin_capture(&self) -> Result<(), DeviceError>;
    /// Captured work, ready to be launched.
    fn end_capture(&self) -> Result<Handle, DeviceError>;
    unsafe fn launch_graph(&self, graph: Handle) -> Result<(), DeviceError>;

    /// Releases an object; the handle must not be used again.
    unsafe fn release(&self, kind: ResourceKind, handle: Handle);
}

/// A handle that is released when dropped, and keeps its driver alive.
#[derive(Debug)]
pub(crate) struct Resource {
    driver: Arc<dyn Driver>,
    kind: ResourceKind,
    handle: Handle,
}

impl Resource {
    /// Takes over a handle that `driver` just made.
    pub(crate) fn new(driver: &Arc<dyn Driver>, kind: ResourceKind, handle: Handle) -> Self {
        let driver = Arc::clone(driver);
        Self {
            driver,
            kind,
            handle,
        }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Fails unless `driver` made it.
    pub(crate) fn check(
        &self,
        driver: &Arc<dyn Driver>,
        what: &'static str,
    ) -> Result<(), DeviceError> {
        if Arc::ptr_eq(&self.driver, driver) {
            Ok(())
        } else {
            let device = driver.kind().name();
            Err(DeviceError::OtherDevice { device, what })
        }
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        // SAFETY: `new` took the handle over from this driver, and nobody uses it from here on.
        unsafe { self.driver.release(self.kind, self.handle) }
    }
}
