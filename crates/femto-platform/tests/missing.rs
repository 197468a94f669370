//! A machine without drivers works, and reports what is missing. Tested in a separate process, because
//! libraries are looked up only once.

use femto_platform::device::{Accelerator, DeviceError, DeviceKind, list, parse};
use std::process::Command;

/// Run by the test below with an empty list of OpenCL drivers; does nothing on its own.
#[test]
fn without_drivers() {
    if std::env::var("OCL_ICD_VENDORS").as_deref() != Ok("/nowhere") {
        return;
    }
    let listing = list().unwrap();
    assert!(
        listing
            .devices
            .iter()
            .any(|info| info.kind == DeviceKind::Host)
    );
    let missing = listing
        .missing
        .iter()
        .find(|missing| missing.kind == DeviceKind::OpenCl);
    let reason = missing.unwrap().reason.to_string();
    assert!(
        reason.contains("no opencl here") && reason.contains("install"),
        "{reason}"
    );
    let opened = Accelerator::open(parse("opencl:3").unwrap());
    assert!(matches!(
        opened,
        Err(DeviceError::DriverMissing {
            device: "opencl",
            ..
        })
    ));
}

#[test]
fn a_missing_driver_is_named() {
    let program = std::env::current_exe().unwrap();
    let mut alone = Command::new(program);
    alone
        .args(["--exact", "without_drivers"])
        .env("OCL_ICD_VENDORS", "/nowhere");
    let output = alone.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn devices_without_a_compiler_are_not_accelerators() {
    for name in ["host", "null"] {
        let error = Accelerator::open(parse(name).unwrap()).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    }
    let error = Accelerator::open(parse("opencl:1000").unwrap()).unwrap_err();
    let known = matches!(
        error,
        DeviceError::NoSuchDevice { index: 1000, .. } | DeviceError::DriverMissing { .. }
    );
    assert!(known, "{error}");
}
