//! Rules for source files: unsafe code and clocks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::dependencies::ALLOWED;

/// The only crate that may contain unsafe code.
const UNSAFE: &str = "femto-platform";

/// Files that may lift `clippy::disallowed_methods` (see clippy.toml: the clocks).
const CLOCKS: &[&str] = &[
    "crates/femto-bench/src/",
    "crates/femto-cli/src/",
    "xtask/src/",
];

/// The families of kernels; their folders and their registry describe them.
const FAMILIES: &[&str] = &[
    "sum_factorization",
    "affine_simplex",
    "hex_published",
    "prism_published",
    "cell_quadrature",
    "prism_column",
    "element_matrix",
];

/// Folders, besides tests, that may name a family: its own, the registry, and places that do not use the
/// families' contract yet. The list may only get shorter.
const NAME_FAMILIES: &[&str] = &[
    "crates/femto-kernel/src/family/",
    "crates/femto-bench/src/helmholtz/",
    "crates/femto-bench/src/ladder/",
    "crates/femto-bench/src/simplices/",
    "crates/femto-bench/src/tet/",
];

/// Folders, besides tests, that may distinguish shapes of cells: reference data, generators of meshes, and
/// the cells that a family evaluates.
const MATCH_CELLS: &[&str] = &[
    "crates/femto-element/",
    "crates/femto-fem/src/mesh/boxes/mod.rs",
    "crates/femto-kernel/src/family/",
];

/// Text that belongs in other folders.
fn misplaced(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    if is_test {
        return faults;
    }
    let may = |rooms: &[&str]| rooms.iter().any(|room| path.starts_with(room));
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split("//").next().unwrap_or(line);
        if !may(NAME_FAMILIES) && FAMILIES.iter().any(|name| code.contains(name)) {
            faults.push(format!(
                "{path}:{number}: names a family outside its folder"
            ));
        }
        if !may(MATCH_CELLS) && matches_cell(code) {
            faults.push(format!(
                "{path}:{number}: tells shapes of cells apart outside femto-element"
            ));
        }
    }
    faults
}

/// Whether a line is an arm of a match on a cell's shape, or compares shapes.
fn matches_cell(code: &str) -> bool {
    code.match_indices("Cell::").any(|(at, word)| {
        let rest = &code[at + word.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(rest.len());
        let (name, after) = (&rest[..end], rest[end..].trim_start());
        let is_shape = SHAPES.contains(&name);
        let before = code[..at].trim_end();
        let compared = before.ends_with("==") || before.ends_with("!=");
        is_shape && (after.starts_with("=>") || after.starts_with('|') || compared)
    })
}

const SHAPES: &[&str] = &[
    "Point",
    "Line",
    "Triangle",
    "Quadrilateral",
    "Tetrahedron",
    "Hexahedron",
    "Prism",
    "Pyramid",
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
        faults.extend(misplaced(&path, &text));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_kept() {
        let count = |path: &str, text: &str| misplaced(path, text).len();
        let arm = "        Cell::Triangle => 3,";
        assert_eq!(count("crates/femto/src/problem/facets.rs", arm), 1);
        assert_eq!(count("crates/femto-element/src/tables.rs", arm), 0);
        assert_eq!(count("crates/femto-fem/tests/space.rs", arm), 0);
        let compared = "if cell == Cell::Hexahedron {";
        assert_eq!(count("crates/femto-cli/src/solve/mod.rs", compared), 1);
        let used = "let cell = Cell::Hexahedron; // Cell::Triangle => 1";
        assert_eq!(count("crates/femto-cli/src/solve/mod.rs", used), 0);
        let family = "use femto_kernel::family::cell_quadrature::Shape;";
        assert_eq!(count("crates/femto/src/solve/mod.rs", family), 1);
        assert_eq!(count("crates/femto-kernel/src/family/mod.rs", family), 0);
    }
}
