//! What only accelerators have to show: the battery runs their operators on all cells.
//!
//! `common::bound::accelerator` says which device they run on, and when they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod boundary;
#[path = "../common/mod.rs"]
mod common;
mod matrices;
#[path = "../../../femto-fem/tests/mesh_files/paths.rs"]
mod mesh_paths;
mod operators;
mod prisms;
mod solutions;
mod wavefronts;
