//! What source files may say.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::dependencies::ALLOWED;

/// The only crate that may hold unsafe code.
const UNSAFE: &str = "femto-platform";

/// Where `clippy::disallowed_methods` (see clippy.toml: the clocks) may be lifted.
const CLOCKS: &[&str] = &[
    "crates/femto/src/bench/",
    "crates/femto/src/tune/",
    "crates/femto-cli/src/",
    "xtask/src/",
];

pub(super) fn faults() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (name, _) in ALLOWED {
        let source = Path::new("crates").join(name).join("src");
        let library = source.join("lib.rs");
        let top = if crate::root().join(&library).exists() {
            library
        } else {
            source.join("main.rs")
        };
        if *name != UNSAFE && !crate::read(&top)?.contains("#![forbid(unsafe_code)]") {
            faults.push(format!(
                "{}: #![forbid(unsafe_code)] is missing",
                top.display()
            ));
        }
    }
    for file in rust_files(&crate::root().join("crates"))? {
        let path = file
            .strip_prefix(crate::root())
            .unwrap_or(&file)
            .display()
            .to_string();
        let text = crate::read(&file)?;
        let may_read_clocks = CLOCKS.iter().any(|place| path.starts_with(place));
        let test = path.contains("/tests/") || path.contains("/benches/");
        if text.contains("clippy::disallowed_methods") && !may_read_clocks && !test {
            faults.push(format!(
                "{path}: lifts clippy::disallowed_methods (clippy.toml)"
            ));
        }
    }
    Ok(faults)
}

/// All Rust files below a folder, in order.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
