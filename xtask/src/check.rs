//! All checks that do not run the code.

mod toolchain;

use anyhow::Result;

use crate::python;
use crate::step::{Step, step};
use crate::walls;

/// Formatting, lints, documentation, walls, spelling, dependencies, other compilers.
pub(crate) fn check() -> Result<()> {
    step("walls", walls::check)?;
    step("formatting", || {
        Step::cargo(["fmt", "--all", "--check"]).run()
    })?;
    step("lints", lints)?;
    step("documentation", || {
        Step::cargo([
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
            "--quiet",
        ])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
    })?;
    let typos = python::program("typos")?;
    step("spelling", || Step::new(typos, [] as [&str; 0]).run())?;
    toolchain::check()?;
    if Step::cargo(["deny", "--version"]).works() {
        step("dependencies", || Step::cargo(["deny", "check"]).run())
    } else {
        println!(
            "   dependencies: skipped, cargo-deny is not installed (cargo install cargo-deny)"
        );
        Ok(())
    }
}

/// Clippy over the shipped code with the workspace's lints; tests and benches may also unwrap and print.
fn lints() -> Result<()> {
    let clippy = ["clippy", "--workspace", "--quiet"];
    let deny = ["--", "-D", "warnings"];
    Step::cargo(clippy.iter().chain(&["--lib", "--bins"]).chain(&deny)).run()?;
    let relaxed = ["unwrap_used", "print_stdout", "print_stderr"]
        .into_iter()
        .flat_map(|lint| ["-A".to_owned(), format!("clippy::{lint}")]);
    let arguments = clippy.iter().chain(&["--all-targets"]).chain(&deny);
    Step::cargo(
        arguments
            .map(|&argument| argument.to_owned())
            .chain(relaxed),
    )
    .run()
}
