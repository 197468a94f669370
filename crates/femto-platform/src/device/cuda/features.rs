//! Features of a CUDA device, from its attributes.

use super::api::{Api, NAME};
use crate::device::accelerator::{Features, LanguageKind};
use crate::device::{DeviceError, DeviceId, DeviceInfo, DeviceKind};
use std::ffi::{CStr, c_int};

// Of `CUdevice_attribute`.
const MAX_THREADS_PER_BLOCK: c_int = 1;
const MAX_BLOCK_DIM_X: c_int = 2;
const WARP_SIZE: c_int = 10;
const CLOCK_RATE: c_int = 13;
const MULTIPROCESSOR_COUNT: c_int = 16;
const L2_CACHE_SIZE: c_int = 38;
const MAX_THREADS_PER_MULTIPROCESSOR: c_int = 39;
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
pub(super) const MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: c_int = 81;
const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
pub(super) const RESERVED_SHARED_MEMORY_PER_BLOCK: c_int = 111;

/// A device, with the functions to query it.
pub(super) struct Asked<'a> {
    pub(super) api: &'a Api,
    pub(super) device: c_int,
}

impl<'a> Asked<'a> {
    /// Every device, in the driver's order.
    pub(super) fn all(api: &'a Api) -> Result<Vec<Self>, DeviceError> {
        let mut count = 0;
        // SAFETY: the answer is one number.
        api.check("count its devices", unsafe {
            (api.cuDeviceGetCount)(&raw mut count)
        })?;
        let get = |index| {
            let mut device = 0;
            // SAFETY: the answer is one number.
            let code = unsafe { (api.cuDeviceGet)(&raw mut device, index) };
            api.check("name a device", code)
                .map(|()| Self { api, device })
        };
        (0..count).map(get).collect()
    }

    /// The device `index`.
    pub(super) fn one(api: &'a Api, index: usize) -> Result<Self, DeviceError> {
        let mut all = Self::all(api)?;
        if index < all.len() {
            return Ok(all.swap_remove(index));
        }
        Err(DeviceError::NoSuchDevice {
            device: NAME,
            index,
            found: all.len(),
        })
    }

    pub(super) fn number(&self, attribute: c_int) -> Result<u32, DeviceError> {
        let mut value = 0;
        // SAFETY: the answer is one number.
        let code =
            unsafe { (self.api.cuDeviceGetAttribute)(&raw mut value, attribute, self.device) };
        self.api.check("describe a device", code)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// NVIDIA's name of the device.
    pub(super) fn name(&self) -> Result<String, DeviceError> {
        let mut name = [0_u8; 256];
        let (start, len) = (name.as_mut_ptr().cast(), name.len() as c_int);
        // SAFETY: the answer has room for `len` bytes.
        let code = unsafe { (self.api.cuDeviceGetName)(start, len, self.device) };
        self.api.check("describe a device", code)?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// Its description, independent of any compiler.
    pub(super) fn info(&self, index: usize) -> Result<DeviceInfo, DeviceError> {
        let kind = DeviceKind::Cuda;
        let features = self.features(String::new())?;
        Ok(DeviceInfo::of_accelerator(
            DeviceId { kind, index },
            self.name()?,
            &features,
        ))
    }

    /// All [`Features`].
    pub(super) fn features(&self, compiler: String) -> Result<Features, DeviceError> {
        let mut memory = 0;
        // SAFETY: the answer is one number.
        let code = unsafe { (self.api.cuDeviceTotalMem_v2)(&raw mut memory, self.device) };
        self.api.check("describe a device", code)?;
        let (major, minor) = (
            self.number(COMPUTE_CAPABILITY_MAJOR)?,
            self.number(COMPUTE_CAPABILITY_MINOR)?,
        );
        let (driver_major, driver_minor) = driver_version(self.api)?;
        let along = |axis| self.number(MAX_BLOCK_DIM_X + axis);
        Ok(Features {
            language: LanguageKind::Cuda,
            architecture: format!("sm_{major}{minor}"),
            compiler,
            driver: format!("CUDA {driver_major}.{driver_minor}"),
            max_threads: self.number(MAX_THREADS_PER_BLOCK)?,
            max_threads_xyz: [along(0)?, along(1)?, along(2)?],
            shared_bytes: self.number(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            threads_per_unit: Some(self.number(MAX_THREADS_PER_MULTIPROCESSOR)?),
            compute_units: self.number(MULTIPROCESSOR_COUNT)?,
            // In kHz.
            clock_rate: 1_000 * u64::from(self.number(CLOCK_RATE)?),
            warp: self.number(WARP_SIZE)?,
            memory_bytes: memory as u64,
            cache_bytes: self.number(L2_CACHE_SIZE)?.into(),
            fp64: true,
            graphs: true,
        })
    }
}

/// The newest CUDA version known to the driver: (12, 9) for 12.9.
pub(super) fn driver_version(api: &Api) -> Result<(i32, i32), DeviceError> {
    let mut version = 0;
    // SAFETY: the answer is one number.
    api.check("tell its version", unsafe {
        (api.cuDriverGetVersion)(&raw mut version)
    })?;
    Ok((version / 1000, version % 1000 / 10))
}
