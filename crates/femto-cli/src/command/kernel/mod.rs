//! `femto kernel`

mod catalog;
mod check;
mod list;
mod operators;
mod show;
mod table;
mod target;
mod text;

use crate::console::Console;
use crate::failure::Failure;
use clap::Subcommand;

/// Inspect the kernels of accelerators: their texts and compiled resources.
#[derive(Debug, Subcommand)]
pub(super) enum KernelCommand {
    List(list::List),
    Show(Box<show::Show>),
    Check(Box<check::Check>),
}

impl KernelCommand {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        match self {
            Self::List(command) => command.run(console),
            Self::Show(command) => command.run(console),
            Self::Check(command) => command.run(console),
        }
    }
}
