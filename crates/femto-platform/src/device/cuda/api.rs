//! The functions of libcuda in use, and their errors.

use crate::device::library::{self, Missing, functions};
use crate::device::{DeviceError, DeviceKind};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

pub(super) const NAME: &str = DeviceKind::Cuda.name();

/// A context, stream, module, function, event or graph.
pub(super) type Object = *mut c_void;
/// `CUdeviceptr`.
pub(super) type Address = u64;

/// The type of a function that returns a `CUresult`.
macro_rules! cu {
    ($($argument:ty),*) => { Option<unsafe extern "C" fn($($argument),*) -> c_int> };
}

functions!(
    /// libcuda, a driver of CUDA 12.0 or later.
    Api {
        cuInit: cu!(c_uint),
        cuDriverGetVersion: cu!(*mut c_int),
        cuGetErrorName: cu!(c_int, *mut *const c_char),
        cuDeviceGetCount: cu!(*mut c_int),
        cuDeviceGet: cu!(*mut c_int, c_int),
        cuDeviceGetName: cu!(*mut c_char, c_int, c_int),
        cuDeviceGetAttribute: cu!(*mut c_int, c_int, c_int),
        cuDeviceTotalMem_v2: cu!(*mut usize, c_int),
        cuDevicePrimaryCtxRetain: cu!(*mut Object, c_int),
        cuDevicePrimaryCtxRelease_v2: cu!(c_int),
        cuCtxSetCurrent: cu!(Object),
        cuStreamCreate: cu!(*mut Object, c_uint),
        cuStreamDestroy_v2: cu!(Object),
        cuStreamSynchronize: cu!(Object),
        cuStreamBeginCapture_v2: cu!(Object, c_int),
        cuStreamEndCapture: cu!(Object, *mut Object),
        cuMemAlloc_v2: cu!(*mut Address, usize),
        cuMemFree_v2: cu!(Address),
        cuMemHostAlloc: cu!(*mut *mut c_void, usize, c_uint),
        cuMemFreeHost: cu!(*mut c_void),
        cuMemcpyHtoDAsync_v2: cu!(Address, *const c_void, usize, Object),
        cuMemcpyDtoHAsync_v2: cu!(*mut c_void, Address, usize, Object),
        cuMemcpyDtoDAsync_v2: cu!(Address, Address, usize, Object),
        cuMemsetD32Async: cu!(Address, c_uint, usize, Object),
        cuMemsetD8Async: cu!(Address, c_uchar, usize, Object),
        cuModuleLoadData: cu!(*mut Object, *const c_void),
        cuModuleUnload: cu!(Object),
        cuModuleGetFunction: cu!(*mut Object, Object, *const c_char),
        cuFuncGetAttribute: cu!(*mut c_int, c_int, Object),
        cuFuncSetAttribute: cu!(Object, c_int, c_int),
        cuOccupancyMaxActiveBlocksPerMultiprocessor: cu!(*mut c_int, Object, c_int, usize),
        cuLaunchKernel: cu!(
            Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Object,
            *mut *mut c_void, *mut *mut c_void
        ),
        cuEventCreate: cu!(*mut Object, c_uint),
        cuEventDestroy_v2: cu!(Object),
        cuEventRecord: cu!(Object, Object),
        cuEventSynchronize: cu!(Object),
        cuEventElapsedTime: cu!(*mut f32, Object, Object),
        cuGraphInstantiateWithFlags: cu!(*mut Object, Object, c_ulonglong),
        cuGraphLaunch: cu!(Object, Object),
        cuGraphDestroy: cu!(Object),
        cuGraphExecDestroy: cu!(Object),
    }
    optional {
        // From CUDA 12.4 on.
        cuFuncGetParamInfo: cu!(Object, usize, *mut usize, *mut usize),
    }
);

pub(super) const SUCCESS: c_int = 0;
pub(super) const ERROR_OUT_OF_MEMORY: c_int = 2;
pub(super) const ERROR_NO_DEVICE: c_int = 100;
pub(super) const ERROR_NOT_FOUND: c_int = 500;

/// Errors after which a context is unusable: deinitialised, device unavailable, uncorrectable memory or
/// link, contained, invalid addresses and instructions, timeouts, failed launches.
const LOST: [c_int; 15] = [
    4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719,
];

/// The library, loaded and initialised at the first call.
pub(super) fn api() -> Result<&'static Api, DeviceError> {
    static API: OnceLock<Result<Api, DeviceError>> = OnceLock::new();
    API.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Api, DeviceError> {
    let names: &[&str] = if cfg!(windows) {
        &["nvcuda.dll"]
    } else {
        &["libcuda.so.1", "libcuda.so"]
    };
    let loaded = library::open(names).and_then(|library| {
        // SAFETY: the types are those of cuda.h under these names, which never change.
        unsafe { Api::new(library) }
    });
    let api = loaded.map_err(|missing| match missing {
        Missing::Library(looked_for) => DeviceError::DriverMissing {
            device: NAME,
            looked_for,
            install: "install NVIDIA's driver",
        },
        Missing::Function(needed) => DeviceError::DriverTooOld {
            library: "NVIDIA's driver".to_owned(),
            needed: needed.to_owned(),
            known: "a driver of CUDA 12.0 or later is needed".to_owned(),
        },
    })?;
    // SAFETY: the first call; there are no flags.
    match unsafe { (api.cuInit)(0) } {
        SUCCESS => Ok(api),
        ERROR_NO_DEVICE => Err(DeviceError::NoSuchDevice {
            device: NAME,
            index: 0,
            found: 0,
        }),
        code => Err(api.error("start", code)),
    }
}

impl Api {
    /// Fails unless `code` is success; `action` completes "the driver refused to …".
    pub(super) fn check(&self, action: &'static str, code: c_int) -> Result<(), DeviceError> {
        match code {
            SUCCESS => Ok(()),
            code => Err(self.error(action, code)),
        }
    }

    pub(super) fn error(&self, action: &'static str, code: c_int) -> DeviceError {
        let (device, reason) = (NAME, self.describe(code));
        if LOST.contains(&code) {
            DeviceError::Lost { device, reason }
        } else {
            DeviceError::Driver {
                device,
                action,
                reason,
            }
        }
    }

    /// The name of an error in cuda.h, with its number.
    pub(super) fn describe(&self, code: c_int) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the answer is a constant of the library, or stays null.
        unsafe {
            (self.cuGetErrorName)(code, &raw mut name);
            if name.is_null() {
                format!("CUDA error {code}")
            } else {
                format!("{} ({code})", CStr::from_ptr(name).to_string_lossy())
            }
        }
    }
}
