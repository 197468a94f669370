//! Devices that compile kernel texts at run time, all of one type.
//!
//! Work is asynchronous and executed in the order in which it is issued. Writes and reads wait; everything
//! else returns at once, and device errors may be reported by a later call.
//!
//! Buffers, modules, kernels, events and graphs keep the device alive and are released when dropped. A
//! kernel is as trustworthy as its text: nothing stops it from writing past its buffers.

mod buffer;
mod capture;
pub(crate) mod driver;
mod event;
mod features;
mod kept;
mod kernel;
mod launch;

pub use buffer::AcceleratorBuffer;
pub use capture::LaunchGraph;
pub use event::Event;
pub use features::{Features, LanguageKind};
pub use kernel::{Kernel, KernelText, Module, Usage};
pub(crate) use launch::MAX_ARGUMENTS;
pub use launch::{Argument, Launch, MemoryArgument};

use super::{DeviceError, DeviceId, DeviceKind, cuda, opencl};
use capture::Capture;
use driver::Driver;
use kept::Kept;
use std::sync::{Arc, Mutex};

/// A device that compiles kernel texts at run time. Clones share the device and its queue.
#[derive(Clone, Debug)]
pub struct Accelerator {
    driver: Arc<dyn Driver>,
    capture: Arc<Mutex<Option<Capture>>>,
    kept: Arc<Kept>,
}

impl Accelerator {
    /// NVIDIA's GPU `index`, in the driver's order.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`] without a driver or run-time compiler, [`DeviceError::DriverTooOld`],
    /// [`DeviceError::NoSuchDevice`], or a driver error.
    pub fn cuda(index: usize) -> Result<Self, DeviceError> {
        Ok(Self::new(Arc::new(cuda::Cuda::new(index)?)))
    }

    /// The device `index` among those offered by OpenCL drivers, over all platforms in the loader's order.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`], [`DeviceError::NoSuchDevice`], or a driver error.
    pub fn opencl(index: usize) -> Result<Self, DeviceError> {
        Ok(Self::new(Arc::new(opencl::OpenCl::new(index)?)))
    }

    /// The device with this name.
    ///
    /// # Errors
    /// As [`Accelerator::cuda`] and [`Accelerator::opencl`]; [`DeviceError::Unsupported`] for the other
    /// kinds, which do not compile kernels.
    pub fn open(id: DeviceId) -> Result<Self, DeviceError> {
        match id.kind {
            DeviceKind::Cuda => Self::cuda(id.index),
            DeviceKind::OpenCl => Self::opencl(id.index),
            kind @ (DeviceKind::Host | DeviceKind::Null) => {
                let (device, what) = (kind.name(), "compile kernels");
                Err(DeviceError::Unsupported { device, what })
            }
        }
    }

    fn new(driver: Arc<dyn Driver>) -> Self {
        Self {
            driver,
            capture: Arc::default(),
            kept: Arc::default(),
        }
    }

    /// Features and limits of the device.
    pub fn features(&self) -> &Features {
        self.driver.features()
    }

    /// The kind's name, for errors.
    fn name(&self) -> &'static str {
        self.driver.kind().name()
    }
}
