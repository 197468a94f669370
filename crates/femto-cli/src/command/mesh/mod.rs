//! `femto mesh`

mod generate;
mod info;

use crate::console::Console;
use crate::failure::Failure;
use clap::Subcommand;

/// Inspect and generate meshes.
#[derive(Debug, Subcommand)]
pub(super) enum Mesh {
    Info(info::Info),
    Box(generate::GenerateBox),
}

impl Mesh {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        match self {
            Self::Info(command) => command.run(console),
            Self::Box(command) => command.run(console),
        }
    }
}
