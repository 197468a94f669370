//! Locations of the tests' mesh files.
#![allow(
    clippy::print_stderr,
    reason = "a test that leaves something out says so"
)]

use std::path::PathBuf;

/// A mesh of this repository, made by `make.py` beside it.
pub(crate) fn own(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../femto-fem/tests/meshes");
    PathBuf::from(folder).join(name)
}

/// A mesh of another project, in the folder given by `FEMTO_SHARED_MESHES`; `None` and a note without it.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("FEMTO_SHARED_MESHES") else {
        eprintln!("left out: {name}, because FEMTO_SHARED_MESHES is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "{} is not there", path.display());
    Some(path)
}
