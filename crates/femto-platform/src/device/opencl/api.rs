//! The functions of libOpenCL in use, and their errors.

use crate::device::library::{self, Missing, functions};
use crate::device::{DeviceError, DeviceKind};
use opencl_sys::cl_function_types::*;
use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES, CL_SUCCESS, cl_int};
use std::sync::OnceLock;

pub(super) const INSTALL: &str =
    "install an OpenCL driver of the device's maker, or PoCL, and a loader (ocl-icd-libopencl1)";

functions!(
    /// libOpenCL, an OpenCL 1.2 loader or driver.
    Api {
        clGetPlatformIDs: clGetPlatformIDs_fn,
        clGetPlatformInfo: clGetPlatformInfo_fn,
        clGetDeviceIDs: clGetDeviceIDs_fn,
        clGetDeviceInfo: clGetDeviceInfo_fn,
        clCreateContext: clCreateContext_fn,
        clReleaseContext: clReleaseContext_fn,
        clCreateCommandQueue: clCreateCommandQueue_fn,
        clReleaseCommandQueue: clReleaseCommandQueue_fn,
        clFinish: clFinish_fn,
        clCreateBuffer: clCreateBuffer_fn,
        clReleaseMemObject: clReleaseMemObject_fn,
        clEnqueueReadBuffer: clEnqueueReadBuffer_fn,
        clEnqueueWriteBuffer: clEnqueueWriteBuffer_fn,
        clEnqueueCopyBuffer: clEnqueueCopyBuffer_fn,
        clEnqueueFillBuffer: clEnqueueFillBuffer_fn,
        clCreateProgramWithSource: clCreateProgramWithSource_fn,
        clCreateProgramWithBinary: clCreateProgramWithBinary_fn,
        clBuildProgram: clBuildProgram_fn,
        clGetProgramBuildInfo: clGetProgramBuildInfo_fn,
        clGetProgramInfo: clGetProgramInfo_fn,
        clReleaseProgram: clReleaseProgram_fn,
        clCreateKernel: clCreateKernel_fn,
        clReleaseKernel: clReleaseKernel_fn,
        clGetKernelInfo: clGetKernelInfo_fn,
        clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_fn,
        clSetKernelArg: clSetKernelArg_fn,
        clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_fn,
        clEnqueueMarkerWithWaitList: clEnqueueMarkerWithWaitList_fn,
        clWaitForEvents: clWaitForEvents_fn,
        clReleaseEvent: clReleaseEvent_fn,
        clGetEventProfilingInfo: clGetEventProfilingInfo_fn,
    }
);

pub(super) const NAME: &str = DeviceKind::OpenCl.name();

/// The library, loaded at the first call.
pub(super) fn api() -> Result<&'static Api, DeviceError> {
    static API: OnceLock<Result<Api, DeviceError>> = OnceLock::new();
    API.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Api, DeviceError> {
    let names: &[&str] = if cfg!(windows) {
        &["OpenCL.dll"]
    } else if cfg!(target_os = "macos") {
        &["/System/Library/Frameworks/OpenCL.framework/OpenCL"]
    } else {
        &["libOpenCL.so.1", "libOpenCL.so"]
    };
    let loaded = library::open(names).and_then(|library| {
        // SAFETY: the types are those of the OpenCL headers.
        unsafe { Api::new(library) }
    });
    loaded.map_err(|missing| match missing {
        Missing::Library(looked_for) => DeviceError::DriverMissing {
            device: NAME,
            looked_for,
            install: INSTALL,
        },
        Missing::Function(needed) => DeviceError::DriverTooOld {
            library: "libOpenCL".to_owned(),
            needed: needed.to_owned(),
            known: "OpenCL 1.2 or later is needed".to_owned(),
        },
    })
}

/// Fails unless `code` is success; `action` completes "the driver refused to …".
pub(super) fn check(action: &'static str, code: cl_int) -> Result<(), DeviceError> {
    match code {
        CL_SUCCESS => Ok(()),
        // NVIDIA's driver reports invalid addresses as out of resources, and is unusable afterwards.
        CL_DEVICE_NOT_AVAILABLE | CL_OUT_OF_RESOURCES => Err(DeviceError::Lost {
            device: NAME,
            reason: describe(code),
        }),
        code => Err(DeviceError::Driver {
            device: NAME,
            action,
            reason: describe(code),
        }),
    }
}

/// The name of an error in the OpenCL headers, with its number.
pub(super) fn describe(code: cl_int) -> String {
    let name = match code {
        -1 => "CL_DEVICE_NOT_FOUND",
        -2 => "CL_DEVICE_NOT_AVAILABLE",
        -3 => "CL_COMPILER_NOT_AVAILABLE",
        -4 => "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        -5 => "CL_OUT_OF_RESOURCES",
        -6 => "CL_OUT_OF_HOST_MEMORY",
        -7 => "CL_PROFILING_INFO_NOT_AVAILABLE",
        -11 => "CL_BUILD_PROGRAM_FAILURE",
        -14 => "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        -30 => "CL_INVALID_VALUE",
        -33 => "CL_INVALID_DEVICE",
        -34 => "CL_INVALID_CONTEXT",
        -36 => "CL_INVALID_COMMAND_QUEUE",
        -38 => "CL_INVALID_MEM_OBJECT",
        -42 => "CL_INVALID_BINARY",
        -43 => "CL_INVALID_BUILD_OPTIONS",
        -44 => "CL_INVALID_PROGRAM",
        -45 => "CL_INVALID_PROGRAM_EXECUTABLE",
        -46 => "CL_INVALID_KERNEL_NAME",
        -48 => "CL_INVALID_KERNEL",
        -49 => "CL_INVALID_ARG_INDEX",
        -50 => "CL_INVALID_ARG_VALUE",
        -51 => "CL_INVALID_ARG_SIZE",
        -52 => "CL_INVALID_KERNEL_ARGS",
        -54 => "CL_INVALID_WORK_GROUP_SIZE",
        -55 => "CL_INVALID_WORK_ITEM_SIZE",
        -58 => "CL_INVALID_EVENT",
        -59 => "CL_INVALID_OPERATION",
        -61 => "CL_INVALID_BUFFER_SIZE",
        -63 => "CL_INVALID_GLOBAL_WORK_SIZE",
        -1001 => "CL_PLATFORM_NOT_FOUND_KHR",
        _ => return format!("OpenCL error {code}"),
    };
    format!("{name} ({code})")
}
