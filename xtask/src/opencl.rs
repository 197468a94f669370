//! An OpenCL driver for tests: PoCL, which needs no GPU.

use anyhow::Result;
use femto_platform::device::{self, DeviceKind};

use crate::step::{install, step};

/// Debian's names of PoCL and of the loader that finds it.
const PACKAGES: [&str; 2] = ["pocl-opencl-icd", "ocl-icd-libopencl1"];

/// Installs PoCL where no OpenCL device is found.
///
/// # Errors
/// Where that is not possible, names the packages.
pub(crate) fn ensure() -> Result<()> {
    let listing = device::list()?;
    if listing
        .missing
        .iter()
        .any(|missing| missing.kind == DeviceKind::OpenCl)
    {
        step("OpenCL driver", || install(&PACKAGES))?;
    }
    Ok(())
}
