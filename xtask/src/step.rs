//! Running other programs, with a log of what runs.

use std::ffi::OsStr;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

/// Runs one named part of a command and prints the time it took.
#[expect(
    clippy::disallowed_methods,
    reason = "the developer wants to know where time goes"
)]
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("── {name}");
    let start = Instant::now();
    let result = work().with_context(|| format!("{name} failed"))?;
    println!("   {name}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(result)
}

/// The result of a part that runs beside others.
pub(crate) fn joined<T>(part: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    part.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// A program to be run from the repository's root.
pub(crate) struct Step(Command);

impl Step {
    /// A program with its arguments.
    pub(crate) fn new<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(crate::root());
        Self(command)
    }

    /// The cargo that runs this task.
    pub(crate) fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        Self::new(
            std::env::var_os("CARGO").unwrap_or("cargo".into()),
            arguments,
        )
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Sets the working directory.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Runs to completion; a failure is an error that shows the command.
    pub(crate) fn run(mut self) -> Result<()> {
        let status = self
            .0
            .status()
            .with_context(|| format!("cannot start {}", self.show()))?;
        self.check(status)
    }

    /// Runs to completion and returns its output.
    pub(crate) fn output(mut self) -> Result<String> {
        let output = self
            .0
            .output()
            .with_context(|| format!("cannot start {}", self.show()))?;
        if !output.status.success() {
            let [printed, errors] =
                [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
            bail!(
                "{} ended with {}:\n{printed}{errors}",
                self.show(),
                output.status
            );
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// As [`Self::output`], for programs that report their own errors: errors and warnings are shown as
    /// they come.
    pub(crate) fn stdout(mut self) -> Result<String> {
        let output = self
            .0
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot start {}", self.show()))?;
        self.check(output.status)?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Whether it runs successfully; its output is dropped.
    pub(crate) fn works(mut self) -> bool {
        let quiet = self.0.stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    fn check(&self, status: ExitStatus) -> Result<()> {
        ensure!(status.success(), "{} ended with {status}", self.show());
        Ok(())
    }

    fn show(&self) -> String {
        let words = std::iter::once(self.0.get_program()).chain(self.0.get_args());
        words
            .map(|word| word.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Installs a C++ compiler if there is none.
pub(crate) fn cpp() -> Result<()> {
    match Step::new("c++", ["--version"]).works() {
        true => Ok(()),
        false => install(&["g++"]),
    }
}

/// Installs Debian packages if possible: as root, with apt-get.
///
/// # Errors
/// If it is not possible, names the packages for the user to install.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let root = Step::new("id", ["-u"])
        .output()
        .is_ok_and(|id| id.trim() == "0");
    if !root || !Step::new("apt-get", ["--version"]).works() {
        bail!(
            "needs the system packages (Debian's names): {}",
            packages.join(" ")
        );
    }
    let quiet = |step: Step| step.env("DEBIAN_FRONTEND", "noninteractive").run();
    quiet(Step::new("apt-get", ["update", "-qq"]))?;
    let arguments = ["install", "-y", "-qq", "--no-install-recommends"];
    quiet(Step::new("apt-get", arguments.iter().chain(packages)))
}
