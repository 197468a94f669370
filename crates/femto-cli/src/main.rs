//! The femto command line.
#![forbid(unsafe_code)]

use clap::Parser;
use femto_cli::command::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    Cli::parse().run()
}
