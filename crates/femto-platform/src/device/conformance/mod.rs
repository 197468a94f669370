//! The conformance suite for every device, written once.
//!
//! Run by one line per device in this crate's tests: `device_conformance!(host, Host::new())`,
//! `accelerator_conformance!(opencl, Accelerator::opencl(0))`.

#![allow(clippy::unwrap_used)] // a suite of tests, though compiled with the library

pub mod accelerator;

use super::{Buffer, Device, DeviceError, Element};
use std::fmt::Debug;

/// Instantiates the suite for one device as a module of tests; `$make` gives a `Result<impl Device>`.
#[macro_export]
macro_rules! device_conformance {
    ($name:ident, $make:expr) => {
        mod $name {
            use super::*;
            use $crate::device::conformance as suite;

            $crate::conformance_tests!(
                $make,
                suite,
                information_is_complete,
                values_survive_the_round_trip,
                wrong_lengths_are_errors,
                too_much_memory_is_an_error,
                entering_returns_what_the_body_returns,
            );
        }
    };
}

/// Instantiates the suite, and more, for a device that compiles kernels; `$make` gives a
/// `Result<Accelerator>`.
#[macro_export]
macro_rules! accelerator_conformance {
    ($name:ident, $make:expr) => {
        mod $name {
            use super::*;
            use $crate::device::conformance::accelerator as suite;

            $crate::device_conformance!(memory, $make);
            $crate::conformance_tests!(
                $make,
                suite,
                a_launch_computes,
                a_kept_kernel_computes,
                more_memory_than_there_is_is_an_error,
                all_shared_memory_can_be_used,
                memory_is_given_back,
                numbers_of_every_type_arrive,
                wrong_launches_are_errors,
                a_compile_error_names_file_and_line,
                a_failed_compile_leaves_buffers_alone,
                ranges_are_filled_and_copied,
                events_are_in_order,
                a_launch_graph_equals_the_work,
                captures_of_two_threads_are_apart,
                a_second_device_refuses_foreign_memory,
            );
        }
    };
}

/// A test for each of these functions of a suite.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr, $suite:ident, $($test:ident,)*) => {
        $(
            #[test]
            fn $test() {
                $crate::device::conformance::with($make, $suite::$test);
            }
        )*
    };
}

/// Runs a test on the device, or says why it is skipped if the machine has no such device.
///
/// The environment variable `FEMTO_REQUIRE` lists kinds, separated by commas, that must be present.
#[allow(clippy::print_stderr, reason = "a test says that it did nothing")]
pub fn with<D: Device>(device: Result<D, DeviceError>, test: impl FnOnce(&D)) {
    let missing = match &device {
        Err(
            DeviceError::DriverMissing { device, .. } | DeviceError::NoSuchDevice { device, .. },
        ) => *device,
        _ => return test(&device.unwrap()),
    };
    let required = std::env::var("FEMTO_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|kind| kind == missing),
        "{device:?}"
    );
    eprintln!(
        "skipped: {}",
        device
            .err()
            .map_or(String::new(), |error| error.to_string())
    );
}

/// The device has a name and at least one thread.
pub fn information_is_complete(device: &impl Device) {
    let info = device.info();
    assert!(!info.name.is_empty());
    assert!(!info.simd.is_empty());
    assert!(info.threads >= 1);
    assert_eq!(super::parse(&info.id().to_string()), Ok(info.id()));
}

/// Zeros are zeros, and written values are read back, for every element type and awkward lengths.
pub fn values_survive_the_round_trip(device: &impl Device) {
    for len in [0, 1, 63, 64, 65, 1000, 600_001] {
        round_trip(device, len, |i| i as f64 - 0.5);
        round_trip(device, len, |i| i as f32 - 0.5);
        round_trip(device, len, |i| i as i32 - 7);
        round_trip(device, len, |i| u32::MAX - i as u32);
        round_trip(device, len, |i| u16::MAX - i as u16);
    }
    // 48 MiB and a little, which CUDA stages.
    round_trip(device, (12 << 20) + 5, |i| u32::MAX - i as u32);
}

fn round_trip<D: Device, T: Element + Debug>(device: &D, len: usize, value: impl Fn(usize) -> T) {
    let check = |buffer: &D::Buffer<T>, wanted: &[T]| {
        assert_eq!(buffer.len(), len);
        assert_eq!(buffer.is_empty(), len == 0);
        let mut found = vec![value(3); len];
        device.read(buffer, &mut found).unwrap();
        device.synchronize().unwrap();
        if device.info().executes {
            assert!(found == wanted, "{len} values changed on the way");
        }
    };
    let values: Vec<T> = (0..len).map(&value).collect();
    let zeros = vec![T::default(); len];
    let mut buffer = device.zeros::<T>(len).unwrap();
    check(&buffer, &zeros);
    device.write(&values, &mut buffer).unwrap();
    check(&buffer, &values);
    check(&device.upload(&values).unwrap(), &values);
}

/// Lengths that do not match are refused with both lengths.
pub fn wrong_lengths_are_errors(device: &impl Device) {
    let mut buffer = device.zeros::<f64>(5).unwrap();
    for found in [0, 4, 6] {
        let mut values = vec![0.0; found];
        for error in [
            device.write(&values, &mut buffer).unwrap_err(),
            device.read(&buffer, &mut values).unwrap_err(),
        ] {
            let DeviceError::LengthMismatch {
                found: f,
                expected: e,
                ..
            } = error
            else {
                panic!("{error} instead of a length mismatch");
            };
            assert_eq!((f, e), (found, 5));
        }
    }
}

/// More memory than can exist is an error, not a crash.
pub fn too_much_memory_is_an_error(device: &impl Device) {
    let len = usize::MAX / 4;
    let error = device.zeros::<f64>(len).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { len: l, bytes_each: 8, .. } if l == len));
}

/// `enter` runs its body once, also when nested.
pub fn entering_returns_what_the_body_returns(device: &impl Device) {
    assert_eq!(device.enter(|| device.enter(|| 6) * 7), 42);
}
