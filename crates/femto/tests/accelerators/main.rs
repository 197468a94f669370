//! Operators on accelerators against the host and oracles.
//!
//! On `opencl:0` unless FEMTO_ACCELERATOR names another device. Without a driver the tests pass with a
//! note, unless FEMTO_REQUIRE=opencl requires one.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod boundary;
#[path = "../common/mod.rs"]
mod common;
mod forms;
mod hexahedra;
mod mixed_shapes;

use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{DeviceKind, parse};

fn accelerator() -> Option<Accelerator> {
    let name = std::env::var("FEMTO_ACCELERATOR").unwrap_or_else(|_| "opencl:0".to_owned());
    let id = parse(&name).unwrap();
    let device = match id.kind {
        DeviceKind::Cuda => Accelerator::cuda(id.index),
        _ => Accelerator::opencl(id.index),
    };
    match device {
        Ok(device) => Some(device),
        Err(error) => {
            let required = std::env::var("FEMTO_REQUIRE").is_ok();
            assert!(!required, "{error}");
            println!("skipped: {error}");
            None
        }
    }
}
