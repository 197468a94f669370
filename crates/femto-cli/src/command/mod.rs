//! The commands, one struct each.

mod bench;
mod devices;
mod interrupt;
mod kernel;
mod mesh;
mod paper;
mod roofline;
mod solve;

use crate::console::Console;
use crate::failure::Failure;
use clap::{Parser, Subcommand};
use femto::AnyDevice;
use femto::platform::device::host::start_global_threads;
use femto::platform::device::{DeviceError, DeviceId, DeviceKind};
use signal_hook::consts::SIGABRT;
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Solve partial differential equations with matrix-free, high-order finite elements, and report the
/// performance relative to the machine's limits.
///
/// Exit codes: 0 success, 1 the computation failed, 2 bad input; of `bench` also 130 after Ctrl-C, 143 after
/// SIGTERM, 129 after SIGHUP.
#[derive(Debug, Parser)]
#[command(name = "femto", version, propagate_version = true)]
pub struct Cli {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(Box<bench::Bench>),
    Devices(devices::Devices),
    #[command(subcommand)]
    Kernel(kernel::KernelCommand),
    #[command(subcommand)]
    Mesh(mesh::Mesh),
    Paper(paper::Paper),
    Roofline(roofline::Roofline),
    Solve(solve::Solve),
}

/// SIGXFSZ; systems without it refuse the handler.
const FILE_SIZE: i32 = 25;

impl Cli {
    /// The command of this process's arguments; what is wrong with them, or the help they ask for, ends the process.
    pub fn of_arguments() -> Self {
        Self::try_parse().unwrap_or_else(|error| {
            if error.use_stderr() {
                let json = std::env::args_os().any(|argument| argument == "--json");
                let message = error.render().to_string();
                let message = message.trim_start_matches("error: ").trim_end().to_owned();
                Console::new(json).error(message, 2);
            }
            error.exit()
        })
    }

    /// Runs the command and returns its exit code.
    pub fn run(&self) -> ExitCode {
        // A failed allocation prints a message and aborts. Without a handler that is a signal rather than
        // an exit code.
        let always = Arc::new(AtomicBool::new(true));
        let _ = flag::register_conditional_shutdown(SIGABRT, 1, Arc::clone(&always));
        // Without a handler, exceeding the limit on the size of files kills the process; with one the write fails.
        let _ = flag::register(FILE_SIZE, always);
        let console = Console::new(self.json);
        match self.command.run(console) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                console.fail(&failure);
                if let Failure::Interrupted { signal, .. } = failure {
                    // Shells stop a script only if its command dies of the signal.
                    let _ = emulate_default_handler(signal.into());
                }
                ExitCode::from(failure.exit_code())
            }
        }
    }
}

/// Opens a device; the host once for each number of threads, by default with one thread per core.
fn open(id: DeviceId, threads: &[usize]) -> Result<Vec<AnyDevice>, Failure> {
    let Some(&most) = threads.iter().max() else {
        return Ok(vec![AnyDevice::open(id, None)?]);
    };
    if id.kind != DeviceKind::Host {
        let (device, what) = (id.kind.name(), "be given a number of threads");
        return Err(DeviceError::Unsupported { device, what }.into());
    }
    start_global_threads(Some(most))?;
    let devices = threads.iter();
    let devices = devices.map(|&threads| AnyDevice::open(id, Some(threads)));
    Ok(devices.collect::<Result<_, _>>()?)
}

impl Command {
    fn run(&self, console: Console) -> Result<(), Failure> {
        match self {
            Self::Bench(command) => command.run(console),
            Self::Devices(command) => command.run(console),
            Self::Kernel(command) => command.run(console),
            Self::Mesh(command) => command.run(console),
            Self::Paper(command) => command.run(console),
            Self::Roofline(command) => command.run(console),
            Self::Solve(command) => command.run(console),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
