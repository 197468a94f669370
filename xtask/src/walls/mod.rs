//! The walls of ARCHITECTURE.md that neither crates nor lints hold.

mod dependencies;
mod paths;
mod sources;

use anyhow::Result;

/// All walls; every fault is listed.
pub(crate) fn check() -> Result<()> {
    let mut faults = dependencies::faults()?;
    faults.extend(sources::faults()?);
    faults.extend(paths::faults()?);
    crate::all_well("walls are broken", &faults)
}
