//! All checks that do not run the code.

mod toolchain;

use std::thread;

use anyhow::Result;

use crate::python;
use crate::step::{Step, joined, step};
use crate::walls;

/// Formatting, lints, documentation, walls, spelling, dependencies, other compilers.
pub(crate) fn check() -> Result<()> {
    step("walls", walls::check)?;
    step("formatting", || {
        Step::cargo(["fmt", "--all", "--check"]).run()
    })?;
    // Neither keeps two processors busy, once dependencies are built.
    thread::scope(|scope| {
        let oldest = scope.spawn(toolchain::oldest);
        step("lints", lints)?;
        step("documentation", documentation)?;
        joined(oldest)
    })?;
    toolchain::arm()?;
    let typos = python::program("typos")?;
    step("spelling", || Step::new(typos, [] as [&str; 0]).run())?;
    if Step::cargo(["deny", "--version"]).works() {
        step("dependencies", || Step::cargo(["deny", "check"]).run())
    } else {
        println!(
            "   dependencies: skipped, cargo-deny is not installed (cargo install cargo-deny)"
        );
        Ok(())
    }
}

/// Clippy over everything; tests say which of the workspace's lints are not for them.
fn lints() -> Result<()> {
    let targets = ["--workspace", "--all-targets", "--quiet"];
    let clippy = ["clippy"].into_iter().chain(targets);
    Step::cargo(clippy.chain(["--", "-D", "warnings"])).run()
}

fn documentation() -> Result<()> {
    let items = ["--no-deps", "--document-private-items"];
    let doc = ["doc", "--workspace", "--quiet"].into_iter().chain(items);
    Step::cargo(doc).env("RUSTDOCFLAGS", "-D warnings").run()
}
