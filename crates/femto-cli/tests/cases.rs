//! The cases of the repository are cases.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use femto_cli::case::{Case, MeshSource};
use std::path::Path;

#[test]
fn every_committed_case_is_read() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"));
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("case.toml");
        let case = Case::read(&path).unwrap_or_else(|error| panic!("{error}"));
        if let MeshSource::File(mesh) = &case.mesh {
            assert!(mesh.is_file(), "{}", mesh.display());
        }
        read += 1;
    }
    assert!(read > 0);
}
