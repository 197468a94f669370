//! Cases, the binary, and files for tests.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "every test takes what it needs")]

use femto::platform::device::DeviceId;
use femto_cli::case::{Case, CaseError, Document};
use femto_cli::progress::Progress;
use femto_cli::solve::{self, Options, Outcome, OutputTo};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

/// The file of a committed case.
pub(crate) fn case_path(name: &str) -> String {
    format!(
        "{}/../../cases/{name}/case.toml",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// A case file.
pub(crate) fn read(path: &Path) -> Result<Case, CaseError> {
    Document::read(path).and_then(Case::parse)
}

/// Solves a committed case in this process, without output.
pub(crate) fn run(name: &str) -> Outcome {
    run_on(name, None)
}

/// As [`run`], on a device.
pub(crate) fn run_on(name: &str, device: Option<DeviceId>) -> Outcome {
    run_case(&read(Path::new(&case_path(name))).unwrap(), device)
}

/// As [`run`], with a change of the case's text.
pub(crate) fn run_changed(name: &str, from: &str, to: &str) -> Outcome {
    let path = case_path(name);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    let document = Document::new(Path::new(&path), text.replace(from, to));
    run_case(
        &Case::parse(document).unwrap_or_else(|error| panic!("{error}")),
        None,
    )
}

fn run_case(case: &Case, device: Option<DeviceId>) -> Outcome {
    let options = Options {
        device,
        output: OutputTo::Nowhere,
        roofline: false,
        ..Options::default()
    };
    run_with(case, &options)
}

/// Solves a case in this process.
pub(crate) fn run_with(case: &Case, options: &Options) -> Outcome {
    let mut progress = Progress::new(false);
    solve::run(case, options, &mut progress, &AtomicBool::new(false)).unwrap()
}

/// Runs the binary. Ceilings are saved in the tests' own folder.
pub(crate) fn femto(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_femto"))
        .args(arguments)
        .env(
            "FEMTO_CACHE",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/solve-cache"),
        )
        .output()
        .unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The single JSON document on standard output.
pub(crate) fn json(output: &Output) -> Value {
    let message = text(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {message}"))
}

/// An empty folder of the running test, which no other test is given: they run at the same time.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default().replace("::", "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(env!("CARGO_CRATE_NAME"))
        .join(test)
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file, and returns its path.
pub(crate) fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Changes a case's text into one with a mistake, solves it, and returns the error, which calls the file CASE.
pub(crate) fn mistake(folder: &Path, name: &str, good: &str, [from, to]: [&str; 2]) -> String {
    assert!(good.contains(from), "{from}");
    let path = write(folder, name, &good.replace(from, to));
    let output = femto(&["solve", &path]);
    assert_eq!(output.status.code(), Some(2), "{name}");
    text(&output.stderr).replace(&path, "CASE")
}
