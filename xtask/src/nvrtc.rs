//! NVIDIA's run-time compilers: pinned wheels in `.cache/nvrtc`, which need no GPU.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::python;
use crate::step::{Step, step};

/// A wheel with its version, and the path of the library in it.
struct Wheel {
    requirement: &'static str,
    library: &'static str,
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        requirement: "nvidia-cuda-nvrtc-cu12==12.9.86",
        library: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    },
    Wheel {
        requirement: "nvidia-cuda-nvrtc==13.5.37",
        library: "nvidia/cu13/lib/libnvrtc.so.13",
    },
];

/// The libraries of every version, oldest first, installed if missing.
pub(crate) fn libraries() -> Result<Vec<PathBuf>> {
    WHEELS.iter().map(library).collect()
}

/// The libraries as one value for an environment variable.
pub(crate) fn path_list() -> Result<OsString> {
    Ok(std::env::join_paths(libraries()?)?)
}

fn library(wheel: &Wheel) -> Result<PathBuf> {
    let folder = crate::root().join(".cache/nvrtc").join(wheel.requirement);
    let library = folder.join(wheel.library);
    let stamp = folder.join("installed.txt");
    if stamp.exists() && library.exists() {
        return Ok(library);
    }
    let python = python::environment()?;
    step(wheel.requirement, || {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let pip = "-m pip install --quiet --disable-pip-version-check --no-deps \
                   --only-binary=:all: --target";
        let mut arguments: Vec<OsString> = pip.split_whitespace().map(Into::into).collect();
        arguments.extend([folder.clone().into(), wheel.requirement.into()]);
        Step::new(&python, arguments).run()?;
        fs::write(&stamp, wheel.requirement)
            .with_context(|| format!("cannot write {}", stamp.display()))
    })?;
    if !library.exists() {
        bail!("{} has no {}", wheel.requirement, wheel.library);
    }
    Ok(library)
}
