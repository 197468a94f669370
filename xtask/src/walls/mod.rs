//! The walls of ARCHITECTURE.md that are not enforced by crates or lints.

mod dependencies;
mod paths;
mod sources;

use anyhow::Result;

/// Checks all walls; every fault is listed.
pub(crate) fn check() -> Result<()> {
    let mut faults = dependencies::faults()?;
    faults.extend(sources::faults()?);
    faults.extend(paths::faults()?);
    crate::all_well("walls are broken", &faults)
}
