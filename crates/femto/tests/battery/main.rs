//! The battery: every property of operators on every cell, degree, kind of map, precision and device; and the
//! orders of convergence.
//!
//! `cases` lists the cases, `physics` the forms, `properties` the properties; `run` brings them together.
//! `convergence` is one table of orders. Accelerators are those of `common::bound::devices`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod convergence;
mod physics;
mod properties;
mod run;

use common::bound::devices;
use femto::AnyDevice;
use femto_element::Cell;

fn hosts() -> Vec<AnyDevice> {
    let is_host = |device: &AnyDevice| matches!(device, AnyDevice::Host(_));
    devices().into_iter().filter(is_host).collect()
}

/// Runs the host's cases on the host and the common ones on all devices.
macro_rules! cells {
    ($($module:ident: $cell:ident),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn on_hosts() {
                run::run(&cases::hosts::of_cell(Cell::$cell), &hosts());
            }

            #[test]
            fn on_all_devices() {
                run::run(&cases::devices::of_cell(Cell::$cell), &devices());
            }
        }
    )*};
}

cells!(
    hexahedra: Hexahedron,
    quadrilaterals: Quadrilateral,
    tetrahedra: Tetrahedron,
    triangles: Triangle,
    prisms: Prism,
    pyramids: Pyramid
);

#[test]
fn mixed_shapes_on_hosts() {
    run::run(&cases::hosts::mixed(), &hosts());
}

#[test]
fn mixed_shapes_on_all_devices() {
    run::run(&cases::devices::mixed(), &devices());
}

#[test]
fn columns_on_all_devices() {
    run::run(&cases::devices::columns(), &devices());
}

#[test]
fn matrices_on_hosts() {
    run::run(&cases::hosts::matrices(), &hosts());
}

#[test]
fn matrices_on_all_devices() {
    run::run(&cases::devices::matrices(), &devices());
}

/// All degrees take minutes if kernels are compiled for a processor: run by hand on GPUs.
#[test]
#[ignore = "minutes on a processor; run it where there is a GPU"]
fn all_degrees_on_all_devices() {
    run::run(&cases::devices::all_degrees(), &devices());
}

/// As [`all_degrees_on_all_devices`].
#[test]
#[ignore = "minutes on a processor; run it where there is a GPU"]
fn high_simplices_on_all_devices() {
    run::run(&cases::devices::high_simplices(), &devices());
}
