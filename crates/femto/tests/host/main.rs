//! Operators, solvers and problems on the host, against oracles, manufactured solutions and scikit-fem.
//!
//! A single crate, so that each form's loops are compiled once.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../femto-fem/tests/mesh_files/paths.rs"]
mod mesh_paths;
mod mixed_shapes;
mod null;
mod operator;
mod problem;
mod real_meshes;
mod scikit_fem;
mod simd_levels;
mod weak_forms;
