//! The femto command line: cases, commands, console output.
//!
//! A command is one struct: its fields are its arguments, its `run` calls the library and reports.
#![forbid(unsafe_code)]

pub mod case;
pub mod command;
pub mod console;
pub mod failure;
mod files;
pub mod progress;
pub mod solve;
