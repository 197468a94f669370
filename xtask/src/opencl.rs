//! OpenCL drivers for tests: PoCL, which needs no GPU.

use std::fs;
use std::path::PathBuf;
use std::process;

use anyhow::{Context, Result, bail};
use femto_platform::device::{self, DeviceKind};

use crate::step::{Step, install, step};

/// Debian's names of PoCL and of the loader that finds it.
const PACKAGES: [&str; 2] = ["pocl-opencl-icd", "ocl-icd-libopencl1"];

/// A Debian whose PoCL has every work-group method, where it comes from, and the script that puts it
/// together. PoCL 6's continuations hang in loops with barriers (pocl#1711), PoCL 7's do not.
const NEWER: [&str; 3] = [
    "forky",
    "http://deb.debian.org/debian",
    "/usr/share/debootstrap/scripts/sid",
];

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

/// The root folder of a small newer Debian with its PoCL, made once.
///
/// # Errors
/// Where it cannot be made: not as root, without network.
pub(crate) fn newer_root() -> Result<PathBuf> {
    if !Step::new("unshare", ["--mount", "true"]).works() {
        bail!("nothing can be mounted here");
    }
    let [suite, mirror, script] = NEWER;
    let root = crate::root().join(".cache/pocl").join(suite);
    if root.exists() {
        return Ok(root);
    }
    step("a newer PoCL", || {
        install(&["debootstrap"])?;
        // Complete or not there at all.
        let begun = root.with_extension(process::id().to_string());
        let packages = format!("--include={}", PACKAGES.join(","));
        let begun_text = begun.to_string_lossy();
        let (what, place) = (["--variant=minbase", &packages], [suite, &begun_text]);
        let arguments = [what, place, [mirror, script]].concat();
        Step::new("debootstrap", arguments).output()?;
        fs::rename(&begun, &root).with_context(|| format!("cannot make {}", root.display()))
    })?;
    Ok(root)
}
