//! Operators, solvers and problems on the host, against plain twins, manufactured solutions and scikit-fem.
//!
//! One crate, so that the loops of each form are compiled once for all of them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;
mod convergence;
mod kernel_levels;
mod null;
mod operator;
mod problem;
mod real_meshes;
mod scikit_fem;
mod simplices;
mod weak_forms;
