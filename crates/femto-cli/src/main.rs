//! The femto command line.
#![forbid(unsafe_code)]

use femto::platform::memory::HugePages;
use femto_cli::command::Cli;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    Cli::of_arguments().run()
}
