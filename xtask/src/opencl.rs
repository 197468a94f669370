//! OpenCL drivers for tests: PoCL, which needs no GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, bail};
use femto_platform::device::{self, DeviceKind};

use crate::step::{Step, install, step};

/// Debian's names of PoCL and of the loader that finds it.
const PACKAGES: [&str; 2] = ["pocl-opencl-icd", "ocl-icd-libopencl1"];

/// A Debian whose PoCL has every work-group method, its origin, and the script that assembles it. PoCL 6's
/// continuations hang in loops with barriers (pocl#1711), PoCL 7's do not.
const NEWER: [&str; 3] = [
    "forky",
    "http://deb.debian.org/debian",
    "/usr/share/debootstrap/scripts/sid",
];

/// Installs PoCL if there is no OpenCL device.
///
/// # Errors
/// If that is not possible, names the packages.
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
/// If it cannot be made: not as root, without network, or if nothing can be mounted.
pub(crate) fn newer_root() -> Result<PathBuf> {
    if !apart(["mount", "-t", "proc", "proc", "/proc"]).works() {
        bail!("nothing can be mounted here");
    }
    let root = crate::root().join(".cache/pocl").join(NEWER[0]);
    if !root.exists() {
        step("a newer PoCL", || make(&root))?;
    }
    Ok(root)
}

/// A program in its own mount namespace.
pub(crate) fn apart<'a>(program: impl IntoIterator<Item = &'a str>) -> Step {
    Step::new("unshare", ["--mount"].into_iter().chain(program))
}

/// Makes the root folder, atomically.
fn make(root: &Path) -> Result<()> {
    install(&["debootstrap", "debian-archive-keyring"])?;
    let begun = root.with_extension(process::id().to_string());
    let (packages, place) = (
        format!("--include={}", PACKAGES.join(",")),
        begun.to_string_lossy(),
    );
    let [suite, mirror, script] = NEWER;
    let how = [
        "debootstrap",
        "--variant=minbase",
        "--force-check-gpg",
        &packages,
    ];
    let made = apart(how.into_iter().chain([suite, &*place, mirror, script])).output();
    let made = made.and_then(|_| {
        fs::rename(&begun, root).with_context(|| format!("cannot make {}", root.display()))
    });
    if made.is_err() {
        // Missing if nothing was begun.
        _ = fs::remove_dir_all(&begun);
    }
    match root.exists() {
        // Another process may have been faster.
        true => Ok(()),
        false => made,
    }
}
