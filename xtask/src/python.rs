//! The Python environment of the oracles: pinned wheels in `.cache/python`.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::step::{Step, install, step};

const REQUIREMENTS: &str = "tests/python/requirements.txt";

/// Held while the environment is made.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the environment if it is missing or older than its list of wheels, and returns its
/// interpreter, which tests find in `FEMTO_PYTHON`.
pub(crate) fn environment() -> Result<PathBuf> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = crate::root().join(".cache/python");
    let python = folder.join("bin/python");
    let stamp = folder.join("installed.txt");
    let wanted = crate::read(REQUIREMENTS)?;
    let present = fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted);
    if present && Step::new(&python, ["--version"]).works() {
        return Ok(python);
    }
    step("Python environment", || {
        let arguments = ["-m", "venv", "--clear"].map(Into::into);
        let venv = || {
            Step::new(
                "python3",
                arguments.iter().chain([&folder.clone().into_os_string()]),
            )
        };
        if !venv().works() {
            install(&["python3", "python3-venv"])?;
            venv().run()?;
        }
        // Without dependencies: VTK requires Matplotlib, which is not needed to read files.
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ];
        Step::new(
            &python,
            pip.iter()
                .chain(&["--only-binary=:all:", "-r", REQUIREMENTS]),
        )
        .run()?;
        fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
    })?;
    Ok(python)
}

/// A program installed by a wheel of the environment.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    Ok(environment()?.with_file_name(name))
}
