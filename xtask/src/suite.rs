//! Running every test of the workspace.
//!
//! PoCL compiles on one processor, and the tests of operators on accelerators mostly wait for it: test
//! programs run two at a time, starting with those.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use crate::step::{Step, step};

/// Number of test programs that run at the same time.
const AT_A_TIME: usize = 2;

/// The programs that take longest, in this order: they start first.
const LONGEST: [&str; 6] = [
    "femto battery",
    "femto accelerators",
    "femto host",
    "femto femto",
    "femto-cli accelerator",
    "femto-bench ladder_counts",
];

/// A compiled test program.
struct Program {
    /// Names of its package and its target: the crate, or the file in `tests`.
    name: String,
    path: PathBuf,
    /// Folder of its package, where cargo would start it.
    folder: PathBuf,
}

/// Compiles all test programs and runs them with some variables set, then the documentation's examples.
pub(crate) fn run(variables: &[(&str, &OsStr)]) -> Result<()> {
    let all = ["test", "--workspace"];
    let programs = step("compiling the tests", || {
        let options = ["--no-run", "--message-format=json-render-diagnostics"];
        programs(&Step::cargo(all.iter().chain(&options)).stdout()?)
    })?;
    if std::env::var_os("FEMTO_SHARED_MESHES").is_none() {
        println!("   without the meshes of other projects: FEMTO_SHARED_MESHES is not set");
    }
    let waiting = Mutex::new(programs.into_iter());
    let faults = Mutex::new(Vec::new());
    let work = || {
        // Not in the loop's head, where the lock would be held.
        let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
        while let Some(program) = next() {
            if program.run(variables).is_err()
                && let Ok(mut faults) = faults.lock()
            {
                faults.push(program.name);
            }
        }
    };
    step("tests", || {
        thread::scope(|scope| (0..AT_A_TIME).for_each(|_| drop(scope.spawn(work))));
        Ok(())
    })?;
    let examples = step("examples", || {
        let doc = ["--doc", "--quiet", "--no-fail-fast"];
        with(variables, Step::cargo(all.iter().chain(&doc))).run()
    });
    crate::all_well("tests failed", &faults.into_inner().unwrap_or_default())?;
    examples
}

fn with(variables: &[(&str, &OsStr)], step: Step) -> Step {
    let set = |step: Step, (name, value): &(&str, &OsStr)| step.env(name, value);
    variables.iter().fold(step, set)
}

impl Program {
    /// Runs it and prints its output at the end; for a success only the number of tests.
    fn run(&self, variables: &[(&str, &OsStr)]) -> Result<()> {
        let step = Step::new(&self.path, [] as [&str; 0])
            .within(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        let ended = with(variables, step).output();
        match &ended {
            Ok(output) => {
                let results = output
                    .lines()
                    .filter(|line| line.starts_with("test result"));
                results.for_each(|result| println!("   {}: {result}", self.name));
            }
            Err(error) => println!("   {}: {error:#}", self.name),
        }
        ended.map(drop)
    }
}

/// The test programs among cargo's messages, which are one line of JSON each.
fn programs(messages: &str) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: serde_json::Value =
            serde_json::from_str(line).with_context(|| format!("not a message: {line}"))?;
        let text = |pointer: &str| message.pointer(pointer).and_then(|value| value.as_str());
        if message.pointer("/profile/test") != Some(&true.into()) {
            continue;
        }
        let Some(path) = text("/executable") else {
            continue;
        };
        let folder = text("/manifest_path").and_then(|path| Path::new(path).parent());
        let folder = folder.ok_or_else(|| anyhow!("no package in: {line}"))?;
        let package = folder.file_name().unwrap_or_default().to_string_lossy();
        programs.push(Program {
            name: format!("{package} {}", text("/target/name").unwrap_or(path)),
            path: path.into(),
            folder: folder.to_owned(),
        });
    }
    ensure!(!programs.is_empty(), "cargo names no test program");
    let rank = |program: &Program| LONGEST.iter().position(|&name| name == program.name);
    programs.sort_by_key(|program| rank(program).unwrap_or(LONGEST.len()));
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_among_messages() {
        let messages = r#"
            {"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"name":"a"},"profile":{"test":false},"executable":null}
            {"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"name":"a"},"profile":{"test":true},"executable":"/t/a-1"}
            {"reason":"compiler-artifact","manifest_path":"/w/femto/Cargo.toml","target":{"name":"battery"},"profile":{"test":true},"executable":"/t/b-1"}
            {"reason":"build-finished","success":true}"#;
        let found = programs(messages.trim()).unwrap();
        let names: Vec<_> = found.iter().map(|program| &*program.name).collect();
        assert_eq!(names, [LONGEST[0], "a a"]);
        assert_eq!(found[1].path, Path::new("/t/a-1"));
        assert_eq!(found[1].folder, Path::new("/w/a"));
        assert!(programs("warning: no JSON").is_err() && programs("").is_err());
    }
}
