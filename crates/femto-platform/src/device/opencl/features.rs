//! Features of an OpenCL device, from its driver.

use super::api::Api;
use super::query;
use crate::device::DeviceError;
use crate::device::accelerator::{Features, LanguageKind};
use opencl_sys::*;

/// A device, with the functions to query it.
pub(super) struct Asked<'a> {
    pub(super) api: &'a Api,
    pub(super) platform: cl_platform_id,
    pub(super) device: cl_device_id,
}

impl Asked<'_> {
    fn text(&self, what: cl_device_info) -> Result<String, DeviceError> {
        query::text("describe a device", |len, answer, needed| {
            // SAFETY: the device is the driver's; the answer has room for `len` bytes.
            unsafe { (self.api.clGetDeviceInfo)(self.device, what, len, answer, needed) }
        })
    }

    fn platform_text(&self, what: cl_platform_info) -> Result<String, DeviceError> {
        query::text("describe a platform", |len, answer, needed| {
            // SAFETY: the platform is the driver's; the answer has room for `len` bytes.
            unsafe { (self.api.clGetPlatformInfo)(self.platform, what, len, answer, needed) }
        })
    }

    fn numbers(&self, what: cl_device_info, bytes_each: usize) -> Result<Vec<u64>, DeviceError> {
        query::numbers("describe a device", bytes_each, |len, answer, needed| {
            // SAFETY: the device is the driver's; the answer has room for `len` bytes.
            unsafe { (self.api.clGetDeviceInfo)(self.device, what, len, answer, needed) }
        })
    }

    /// One number; 0 if the device does not support the query.
    fn number(&self, what: cl_device_info, bytes_each: usize) -> u64 {
        let answer = self.numbers(what, bytes_each);
        answer
            .ok()
            .and_then(|all| all.first().copied())
            .unwrap_or(0)
    }

    fn number_u32(&self, what: cl_device_info, bytes_each: usize) -> u32 {
        self.number(what, bytes_each).try_into().unwrap_or(u32::MAX)
    }

    /// The maker's name of the device.
    pub(super) fn name(&self) -> Result<String, DeviceError> {
        self.text(CL_DEVICE_NAME)
    }

    /// All [`Features`].
    pub(super) fn features(&self) -> Result<Features, DeviceError> {
        const SIZE: usize = size_of::<usize>();
        let sizes = self.numbers(CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZE)?;
        let along = |axis| {
            sizes
                .get(axis)
                .map_or(1, |&n: &u64| n.try_into().unwrap_or(u32::MAX))
        };
        let platform = self.platform_text(CL_PLATFORM_NAME)?;
        let language = self.text(CL_DEVICE_OPENCL_C_VERSION)?;
        let device = self.text(CL_DEVICE_VERSION)?;
        // NVIDIA's extension; other drivers reject the query.
        const CL_DEVICE_WARP_SIZE_NV: cl_device_info = 0x4003;
        Ok(Features {
            language: LanguageKind::OpenCl,
            architecture: self.name()?,
            compiler: format!("{platform}, {language}"),
            driver: format!("{} ({device})", self.text(CL_DRIVER_VERSION)?),
            max_threads: self.number_u32(CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE),
            max_threads_xyz: [along(0), along(1), along(2)],
            shared_bytes: self.number_u32(CL_DEVICE_LOCAL_MEM_SIZE, 8),
            threads_per_unit: None,
            compute_units: self.number_u32(CL_DEVICE_MAX_COMPUTE_UNITS, 4),
            // In MHz.
            clock_rate: 1_000_000 * u64::from(self.number_u32(CL_DEVICE_MAX_CLOCK_FREQUENCY, 4)),
            warp: self.number_u32(CL_DEVICE_WARP_SIZE_NV, 4).max(1),
            memory_bytes: self.number(CL_DEVICE_GLOBAL_MEM_SIZE, 8),
            cache_bytes: self.number(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8),
            fp64: self.number(CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0,
            graphs: false,
        })
    }
}
