//! Other compilers: the oldest supported one, and one for ARM.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::step::{Step, step};

const ARM: &str = "aarch64-unknown-linux-gnu";

/// Checks the workspace with the compiler given by `rust-version`, from rustup; without that it is skipped.
pub(crate) fn oldest() -> Result<()> {
    let oldest = version()?;
    let name = format!("oldest compiler, {oldest}");
    let found = || Step::new("rustup", ["run", &oldest, "cargo", "--version"]).works();
    let install = ["toolchain", "install", &oldest, "--profile", "minimal"];
    if found() || (Step::new("rustup", install).works() && found()) {
        let check = ["run", &oldest, "cargo", "check", "--workspace", "--quiet"];
        // A folder of its own, since a cargo waits for another one with the same.
        step(&name, || {
            let check = Step::new("rustup", check);
            check.env("CARGO_TARGET_DIR", target().join("oldest")).run()
        })
    } else {
        println!("   {name}: skipped, rustup cannot install it");
        Ok(())
    }
}

/// The folder of cargo's results.
fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    crate::root().join(chosen)
}

/// Checks the kernels for ARM, whose vector instructions no test here runs; without rustup it is skipped.
pub(crate) fn arm() -> Result<()> {
    if Step::new("rustup", ["target", "add", ARM]).works() {
        let arguments = ["check", "--quiet", "--package", "femto-kernel", "--target"];
        step("ARM", || Step::cargo(arguments.iter().chain(&[ARM])).run())
    } else {
        println!("   ARM: skipped, rustup cannot install {ARM}");
        Ok(())
    }
}

/// `rust-version` of the workspace.
fn version() -> Result<String> {
    let manifest = crate::read("Cargo.toml")?;
    let value = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""));
    let value = value.and_then(|rest| rest.strip_suffix('"'));
    Ok(value
        .context("Cargo.toml gives no rust-version")?
        .to_owned())
}
