//! Queries to the driver that ask for the length first.

use super::api::{Api, INSTALL, NAME, check};
use crate::device::DeviceError;
use opencl_sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE_ALL, CL_SUCCESS, cl_device_id, cl_int, cl_platform_id,
};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// The error of a machine without platforms.
const CL_PLATFORM_NOT_FOUND_KHR: cl_int = -1001;

/// Every device of every platform, in the loader's order.
///
/// One thread at a time: PoCL 3.1 initialises its devices at the first query, and shows them to a second
/// thread before they are ready.
pub(super) fn devices(api: &Api) -> Result<Vec<(cl_platform_id, cl_device_id)>, DeviceError> {
    static ASKING: Mutex<()> = Mutex::new(());
    let _guard = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for platform in platforms(api)? {
        let ask = |len, list, count: &mut u32| {
            // SAFETY: the platform is the driver's; the list has room for `len` devices.
            unsafe { (api.clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, len, list, count) }
        };
        let devices = match list(ask) {
            Err(CL_DEVICE_NOT_FOUND) => Vec::new(),
            devices => devices.or_else(|code| check("list its devices", code).map(|()| vec![]))?,
        };
        found.extend(devices.into_iter().map(|device| (platform, device)));
    }
    Ok(found)
}

fn platforms(api: &Api) -> Result<Vec<cl_platform_id>, DeviceError> {
    let ask = |len, list, count: &mut u32| {
        // SAFETY: the list has room for `len` platforms.
        unsafe { (api.clGetPlatformIDs)(len, list, count) }
    };
    let found = match list(ask) {
        Err(CL_PLATFORM_NOT_FOUND_KHR) => Vec::new(),
        found => found.or_else(|code| check("list its platforms", code).map(|()| vec![]))?,
    };
    if found.is_empty() {
        return Err(DeviceError::DriverMissing {
            device: NAME,
            looked_for: "a driver known to libOpenCL (.icd files in /etc/OpenCL/vendors)"
                .to_owned(),
            install: INSTALL,
        });
    }
    Ok(found)
}

/// Asks for a count and then for as many pointers.
fn list(
    ask: impl Fn(u32, *mut *mut c_void, &mut u32) -> cl_int,
) -> Result<Vec<*mut c_void>, cl_int> {
    let mut count = 0;
    let succeed = |code| {
        if code == CL_SUCCESS {
            Ok(())
        } else {
            Err(code)
        }
    };
    succeed(ask(0, null_mut(), &mut count))?;
    let mut found = vec![null_mut(); count as usize];
    if count > 0 {
        succeed(ask(count, found.as_mut_ptr(), &mut count))?;
        found.truncate(count as usize);
    }
    Ok(found)
}

/// Asks for a length in bytes and then for as many bytes.
pub(super) fn bytes(
    action: &'static str,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<Vec<u8>, DeviceError> {
    let mut len = 0;
    check(action, ask(0, null_mut(), &raw mut len))?;
    let mut answer = vec![0_u8; len];
    if len > 0 {
        check(action, ask(len, answer.as_mut_ptr().cast(), null_mut()))?;
    }
    Ok(answer)
}

/// An answer that is a string.
pub(super) fn text(
    action: &'static str,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<String, DeviceError> {
    let answer = bytes(action, ask)?;
    let text = answer.split(|&byte| byte == 0).next().unwrap_or(&[]);
    Ok(String::from_utf8_lossy(text).trim().to_owned())
}

/// An answer that is an array of unsigned numbers of `bytes_each` bytes, 4 or 8.
pub(super) fn numbers(
    action: &'static str,
    bytes_each: usize,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int,
) -> Result<Vec<u64>, DeviceError> {
    let answer = bytes(action, ask)?;
    let number = |bytes: &[u8]| {
        let mut wide = [0_u8; 8];
        if cfg!(target_endian = "little") {
            wide[..bytes.len()].copy_from_slice(bytes);
        } else {
            wide[8 - bytes.len()..].copy_from_slice(bytes);
        }
        u64::from_ne_bytes(wide)
    };
    Ok(answer.chunks_exact(bytes_each).map(number).collect())
}
