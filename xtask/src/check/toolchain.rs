//! Other compilers: the oldest supported one, and one for ARM.

use anyhow::{Context, Result};

use crate::step::{Step, step};

const ARM: &str = "aarch64-unknown-linux-gnu";

/// Checks the workspace with the compiler given by `rust-version`, and the kernels for ARM, whose vector
/// instructions no test here runs. Both come from rustup; without it they are skipped.
pub(crate) fn check() -> Result<()> {
    let oldest = oldest()?;
    let version = format!("oldest compiler, {oldest}");
    let found = || Step::new("rustup", ["run", &oldest, "cargo", "--version"]).works();
    let install = ["toolchain", "install", &oldest, "--profile", "minimal"];
    if found() || (Step::new("rustup", install).works() && found()) {
        let check = ["run", &oldest, "cargo", "check", "--workspace", "--quiet"];
        step(&version, || Step::new("rustup", check).run())?;
    } else {
        println!("   {version}: skipped, rustup cannot install it");
    }
    if Step::new("rustup", ["target", "add", ARM]).works() {
        let arguments = ["check", "--quiet", "--package", "femto-kernel", "--target"];
        step("ARM", || Step::cargo(arguments.iter().chain(&[ARM])).run())
    } else {
        println!("   ARM: skipped, rustup cannot install {ARM}");
        Ok(())
    }
}

/// `rust-version` of the workspace.
fn oldest() -> Result<String> {
    let manifest = crate::read("Cargo.toml")?;
    let value = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""));
    let value = value.and_then(|rest| rest.strip_suffix('"'));
    Ok(value
        .context("Cargo.toml gives no rust-version")?
        .to_owned())
}
