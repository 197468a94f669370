//! The project's own commands: `cargo xtask COMMAND`.
//!
//! `test` is what CI runs, and should be run before pushing; the other commands are its parts.
#![forbid(unsafe_code)]

mod check;
mod fuzz;
mod kernels;
mod nvrtc;
mod opencl;
mod python;
mod step;
mod suite;
mod walls;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, bail};

use step::{Step, step};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check               formatting, lints, documentation, walls, spelling, the oldest compiler and
                      ARM; seconds when nothing changed
  test                check, then every test: Rust, README, Python oracles, some kernel texts, a
                      short fuzz run
  kernels [--all] [--share=K/M] [--only=PART] [--compile|--run] [--bless]
                      compile every kernel text for NVIDIA's GPUs and compare registers and spills
                      with the recorded ones (--bless records them); run it on PoCL; without --all
                      a few of each kind, or the K-th of M shares
  nvrtc               install NVIDIA's run-time compilers and print their paths
  python              make the Python environment of the oracles and print its interpreter
  fuzz [--seconds N]  fuzz all targets for N seconds (default 15)
  fuzz forms [--seconds N]
                      random forms on random spaces against plain evaluations, until one fails (or for
                      N seconds); it is made small and kept. FEMTO_ACCELERATOR names a device to run
                      them on beside the host, FEMTO_FUZZ_SEED the first case
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["check"] => check::check(),
        ["test"] => test(),
        ["python"] => python::environment().map(|python| println!("{}", python.display())),
        ["kernels", ref options @ ..] => kernels::command(options),
        ["nvrtc"] => nvrtc::path_list().map(|paths| println!("{}", paths.display())),
        ["fuzz"] => fuzz::fuzz(15),
        ["fuzz", "--seconds", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::fuzz(seconds),
            Err(_) => return usage(),
        },
        ["fuzz", "forms"] => fuzz::forms(None),
        ["fuzz", "forms", "--seconds", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::forms(Some(seconds)),
            Err(_) => return usage(),
        },
        _ => return usage(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}

/// Runs everything, as CI does.
/// Installs all that tests need, and returns the Python of the oracles and the list of NVIDIA's compilers.
fn fetch() -> Result<(PathBuf, OsString)> {
    let python = python::environment()?;
    let compilers = nvrtc::path_list()?;
    step::cpp()?;
    kernels::prepare()?;
    Ok((python, compilers))
}

fn test() -> Result<()> {
    let (python, compilers) = thread::scope(|scope| {
        let fetched = scope.spawn(fetch);
        check::check()?;
        step::joined(fetched)
    })?;
    // PoCL does not optimise here: `kernels` runs optimised texts.
    let pocl = format!("-cl-opt-disable {}", kernels::short_declarations()?);
    suite::run(&[
        (kernels::POCL_OPTIONS, pocl.as_ref()),
        ("FEMTO_PYTHON", python.as_ref()),
        ("FEMTO_NVRTC_TEST", compilers.as_ref()),
        ("FEMTO_REQUIRE", "opencl,c++".as_ref()),
    ])?;
    // As in the README, without naming the binary.
    step("cargo run", || {
        Step::cargo(["run", "--quiet", "--", "--version"]).run()
    })?;
    kernels::command(&[])?;
    fuzz::fuzz(8)?;
    println!("\nall passed");
    Ok(())
}

/// The repository's root.
fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The text of a file given by its path from the root.
fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = root().join(path);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Fails with a list of faults, unless it is empty.
fn all_well(title: &str, faults: &[String]) -> Result<()> {
    if !faults.is_empty() {
        bail!("{title}:\n  {}", faults.join("\n  "));
    }
    Ok(())
}
