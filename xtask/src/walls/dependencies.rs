//! Allowed dependencies between our crates, and licences of third-party ones.

use anyhow::{Context, Result};

use crate::step::Step;

/// Our crates, and the crates of ours that each may use.
///
/// ```text
/// element ─► fem ─────┐
///    └─────► kernel ──┼──► femto ──► bench ──► cli
///            platform ┘
/// ```
pub(super) const ALLOWED: &[(&str, &[&str])] = &[
    ("femto-element", &[]),
    ("femto-fem", &["femto-element"]),
    ("femto-kernel", &["femto-element"]),
    ("femto-platform", &[]),
    ("femto", LEAVES),
    (
        "femto-bench",
        &[
            "femto",
            "femto-element",
            "femto-fem",
            "femto-kernel",
            "femto-platform",
        ],
    ),
    ("femto-cli", &["femto", "femto-bench"]),
];

/// The crates that `femto` combines.
const LEAVES: &[&str] = &[
    "femto-element",
    "femto-fem",
    "femto-kernel",
    "femto-platform",
];

/// Permissive licences.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn faults() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (name, allowed) in ALLOWED {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest: toml::Table = crate::read(&path)?
            .parse()
            .with_context(|| format!("{path} is not TOML"))?;
        for used in tables(&manifest).flat_map(toml::Table::keys) {
            let ours = used == "femto" || used.starts_with("femto-");
            if ours && !allowed.contains(&used.as_str()) {
                faults.push(format!("{path}: {name} may not depend on {used}"));
            }
        }
        let inherits = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"));
        if inherits.and_then(toml::Value::as_bool) != Some(true) {
            faults.push(format!("{path}: the workspace's lints are not inherited"));
        }
    }
    faults.extend(licence_faults()?);
    Ok(faults)
}

/// The tables of dependencies of every kind.
fn tables(manifest: &toml::Table) -> impl Iterator<Item = &toml::Table> {
    let by_target = manifest.get("target").and_then(toml::Value::as_table);
    let targets = by_target.into_iter().flat_map(toml::Table::values);
    std::iter::once(manifest)
        .chain(targets.filter_map(toml::Value::as_table))
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind)?.as_table())
        })
}

/// Crates in the dependency tree without a licence in [`LICENCES`].
fn licence_faults() -> Result<Vec<String>> {
    let arguments = [
        "tree",
        "--workspace",
        "--prefix=none",
        "--format={p}\t{l}",
        "--quiet",
    ];
    let tree = Step::cargo(arguments).output()?;
    let mut faults: Vec<String> = tree
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once('\t'))
        .filter(|(_, licence)| !acceptable(licence))
        .map(|(package, licence)| format!("{package}: its licence is '{licence}'"))
        .collect();
    faults.sort();
    faults.dedup();
    Ok(faults)
}

/// Whether an SPDX expression of ORs of ANDs (or the old `A/B`) can be satisfied by [`LICENCES`].
fn acceptable(expression: &str) -> bool {
    let flat = expression.replace('/', " OR ");
    let parts: Vec<&str> = flat.split(" AND ").collect();
    parts.iter().all(|part| {
        let bare = part.trim().trim_start_matches('(').trim_end_matches(')');
        bare.split(" OR ")
            .any(|licence| LICENCES.contains(&licence.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences() {
        assert!(acceptable("MIT OR Apache-2.0"));
        assert!(acceptable("GPL-3.0 OR MIT"));
        assert!(acceptable("Unlicense/MIT"));
        assert!(acceptable("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!acceptable("(MIT OR Apache-2.0) AND GPL-3.0"));
        assert!(!acceptable(""));
    }
}
