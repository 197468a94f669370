//! Devices with an OpenCL 1.2 driver, which is loaded at run time.
//!
//! A device has its own context and one in-order queue that records times.

mod api;
mod driver;
mod features;
mod program;
mod query;

use super::accelerator::Features;
use super::accelerator::driver::Handle;
use super::{DeviceError, DeviceId, DeviceInfo, DeviceKind};
use api::{Api, check};
use features::Asked;
use opencl_sys::*;
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

/// One OpenCL device.
pub(super) struct OpenCl {
    api: &'static Api,
    index: usize,
    device: Handle,
    context: Handle,
    queue: Handle,
    features: Features,
    /// Held from setting a kernel's arguments until it is enqueued.
    launching: Mutex<()>,
}

impl OpenCl {
    pub(super) fn new(index: usize) -> Result<Self, DeviceError> {
        let api = api::api()?;
        let devices = query::devices(api)?;
        let Some(&(platform, device)) = devices.get(index) else {
            return Err(DeviceError::NoSuchDevice {
                device: api::NAME,
                index,
                found: devices.len(),
            });
        };
        let asked = Asked {
            api,
            platform,
            device,
        };
        let features = asked.features()?;
        let mut opened = Self {
            api,
            index,
            device: Handle::of(device),
            context: Handle(0),
            queue: Handle(0),
            features,
            launching: Mutex::new(()),
        };
        let mut code = CL_SUCCESS;
        // SAFETY: one device of the driver; no properties and no callback.
        let context = unsafe {
            let create = api.clCreateContext;
            create(
                null(),
                1,
                &raw const device,
                None,
                null_mut(),
                &raw mut code,
            )
        };
        check("make a context", code)?;
        opened.context = Handle::of(context);
        // SAFETY: the context was just made for this device.
        let queue = unsafe {
            let create = api.clCreateCommandQueue;
            create(context, device, CL_QUEUE_PROFILING_ENABLE, &raw mut code)
        };
        check("make a queue", code)?;
        opened.queue = Handle::of(queue);
        Ok(opened)
    }
}

/// Every device, in the order of [`OpenCl::new`].
pub(super) fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    let api = api::api()?;
    let found = query::devices(api)?.into_iter().enumerate();
    let describe = found.map(|(index, (platform, device))| {
        let asked = Asked {
            api,
            platform,
            device,
        };
        Ok(describe_device(index, &asked.features()?))
    });
    describe.collect()
}

fn describe_device(index: usize, features: &Features) -> DeviceInfo {
    let kind = DeviceKind::OpenCl;
    DeviceInfo::of_accelerator(
        DeviceId { kind, index },
        features.architecture.clone(),
        features,
    )
}

impl Drop for OpenCl {
    fn drop(&mut self) {
        // SAFETY: both are alive where they are not null, and used by nobody else.
        unsafe {
            if self.queue.0 != 0 {
                (self.api.clReleaseCommandQueue)(self.queue.pointer());
            }
            if self.context.0 != 0 {
                (self.api.clReleaseContext)(self.context.pointer());
            }
        }
    }
}

impl fmt::Debug for OpenCl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opencl:{} ({})", self.index, self.features.architecture)
    }
}
