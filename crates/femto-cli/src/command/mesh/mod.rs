//! `femto mesh`

mod extrude;
mod generate;
mod info;
mod output;

use crate::console::Console;
use crate::failure::Failure;
use clap::Subcommand;

/// Inspect and generate meshes.
#[derive(Debug, Subcommand)]
pub(super) enum Mesh {
    Info(info::Info),
    Box(generate::GenerateBox),
    Extrude(Box<extrude::Extrude>),
}

impl Mesh {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        match self {
            Self::Info(command) => command.run(console),
            Self::Box(command) => command.run(console),
            Self::Extrude(command) => command.run(console),
        }
    }
}
