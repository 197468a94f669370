//! The suite that every device passes, written once.
//!
//! Run by one line per device in this crate's tests: `device_conformance!(host, Host::new())`.

#![allow(clippy::unwrap_used)] // a suite of tests, though compiled with the library

use super::{Buffer, Device, DeviceError, Element};
use std::fmt::Debug;

/// Instantiates the suite for one device as a module of tests; `$make` gives a `Result<impl Device>`.
#[macro_export]
macro_rules! device_conformance {
    ($name:ident, $make:expr) => {
        mod $name {
            use super::*;
            use $crate::device::conformance;

            #[test]
            fn information_is_complete() {
                conformance::information_is_complete(&$make.unwrap());
            }
            #[test]
            fn values_survive_the_round_trip() {
                conformance::values_survive_the_round_trip(&$make.unwrap());
            }
            #[test]
            fn wrong_lengths_are_errors() {
                conformance::wrong_lengths_are_errors(&$make.unwrap());
            }
            #[test]
            fn too_much_memory_is_an_error() {
                conformance::too_much_memory_is_an_error(&$make.unwrap());
            }
            #[test]
            fn entering_returns_what_the_body_returns() {
                conformance::entering_returns_what_the_body_returns(&$make.unwrap());
            }
        }
    };
}

/// The device has a name and at least one thread.
pub fn information_is_complete(device: &impl Device) {
    let info = device.info();
    assert!(!info.name.is_empty());
    assert!(!info.simd.is_empty());
    assert!(info.threads >= 1);
    assert_eq!(super::parse(info.kind.name()), Ok(info.kind));
}

/// Zeros are zeros, and what is written is read, for every element type and awkward lengths.
pub fn values_survive_the_round_trip(device: &impl Device) {
    for len in [0, 1, 63, 64, 65, 1000, 600_001] {
        round_trip(device, len, |i| i as f64 - 0.5);
        round_trip(device, len, |i| i as f32 - 0.5);
        round_trip(device, len, |i| i as i32 - 7);
        round_trip(device, len, |i| u32::MAX - i as u32);
    }
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

/// More memory than can exist is refused, not died of.
pub fn too_much_memory_is_an_error(device: &impl Device) {
    let len = usize::MAX / 4;
    let error = device.zeros::<f64>(len).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { len: l, bytes_each: 8, .. } if l == len));
}

/// `enter` runs its body once, also when nested.
pub fn entering_returns_what_the_body_returns(device: &impl Device) {
    assert_eq!(device.enter(|| device.enter(|| 6) * 7), 42);
}
