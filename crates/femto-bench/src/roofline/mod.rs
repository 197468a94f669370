//! The ceilings of devices: measured once, then kept in the user's cache folder.

mod accelerator;
mod copies;
mod host;
mod store;

pub(crate) use copies::Copies;

use crate::report::CeilingsFrom;
use femto::AnyDevice;
use femto_kernel::roofline::Ceilings;
use femto_platform::device::{Device, DeviceError};
use femto_platform::files::{FileError, cache_dir};
use std::path::{Path, PathBuf};
use store::Key;

/// A device whose ceilings can be measured.
pub(crate) trait Measure: Device {
    /// Measures the ceilings, in a few seconds.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or another device error.
    fn measure(&self) -> Result<Ceilings, DeviceError>;
}

/// Evaluates an expression with the device inside an [`AnyDevice`]; the null device cannot be timed, which
/// is the error that the function returns.
macro_rules! on_timed {
    ($any:expr, |$device:ident| $body:expr) => {
        match $any {
            femto::AnyDevice::Host($device) => $body,
            femto::AnyDevice::Accelerator($device) => $body,
            femto::AnyDevice::Null(_) => {
                let (device, what) = ("null", "be timed: it does nothing");
                return Err(
                    femto_platform::device::DeviceError::Unsupported { device, what }.into(),
                );
            }
        }
    };
}
pub(crate) use on_timed;

/// Ceilings and their origin.
#[derive(Debug)]
pub struct Roofline {
    /// The rates.
    pub ceilings: Ceilings,
    /// The origin of the rates.
    pub origin: Origin,
}

/// The origin of ceilings.
#[derive(Debug)]
pub enum Origin {
    /// An earlier measurement, stored in this file.
    Loaded(PathBuf),
    /// Measured now and stored in this file.
    Measured(PathBuf),
    /// Measured now; they could not be stored.
    NotKept(FileError),
}

/// The ceilings of a device, measured if they are not known yet.
///
/// Stored ceilings belong to a processor, a number of threads, an instruction set, a driver and a version
/// of femto; if any differs, or the file cannot be read, they are measured again, in about two seconds.
///
/// # Errors
/// [`DeviceError::OutOfMemory`], or another device error.
pub fn ceilings(device: &AnyDevice) -> Result<Roofline, DeviceError> {
    match cache_dir() {
        Ok(folder) => ceilings_in(&folder, device, measure),
        Err(error) => Ok(Roofline {
            ceilings: measure(device)?,
            origin: Origin::NotKept(error),
        }),
    }
}

/// Measures the ceilings in any case, and stores them.
///
/// # Errors
/// [`DeviceError::OutOfMemory`], or another device error.
pub fn measure_and_keep(device: &AnyDevice) -> Result<Roofline, DeviceError> {
    let ceilings = measure(device)?;
    let origin = match cache_dir() {
        Ok(folder) => keep(&folder, device, ceilings),
        Err(error) => Origin::NotKept(error),
    };
    Ok(Roofline { ceilings, origin })
}

/// The ceilings of a run; those measured for it are not stored.
pub(crate) fn of(device: &AnyDevice, from: CeilingsFrom) -> Result<Ceilings, DeviceError> {
    match from {
        CeilingsFrom::Kept => Ok(ceilings(device)?.ceilings),
        CeilingsFrom::Measurement => measure(device),
        CeilingsFrom::Run(ceilings) => Ok(ceilings),
    }
}

fn measure(device: &AnyDevice) -> Result<Ceilings, DeviceError> {
    Ok(on_timed!(device, |device| device.measure())?)
}

fn ceilings_in(
    folder: &Path,
    device: &AnyDevice,
    measure: impl Fn(&AnyDevice) -> Result<Ceilings, DeviceError>,
) -> Result<Roofline, DeviceError> {
    let key = Key::of(&device.info());
    let path = folder.join(key.file_name());
    if let Some(ceilings) = store::load(&path, &key) {
        let origin = Origin::Loaded(path);
        return Ok(Roofline { ceilings, origin });
    }
    let ceilings = measure(device)?;
    let origin = keep(folder, device, ceilings);
    Ok(Roofline { ceilings, origin })
}

fn keep(folder: &Path, device: &AnyDevice, ceilings: Ceilings) -> Origin {
    let key = Key::of(&device.info());
    let path = folder.join(key.file_name());
    match store::save(&path, key, ceilings) {
        Ok(()) => Origin::Measured(path),
        Err(error) => Origin::NotKept(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::host::Host;
    use std::fs;

    const SOME: Ceilings = Ceilings {
        copy: 1e10,
        read: 2e10,
        write: 3e10,
        fma_fp64: 1.0 / 3.0,
        fma_fp32: 5e10,
        shared: None,
    };

    fn scratch(name: &str) -> PathBuf {
        let folder = format!("femto-roofline-{}-{name}", std::process::id());
        std::env::temp_dir().join(folder)
    }

    fn host(threads: usize) -> AnyDevice {
        Host::with_threads(threads).unwrap().into()
    }

    fn must_not_measure(_: &AnyDevice) -> Result<Ceilings, DeviceError> {
        panic!("measured although it was kept")
    }

    #[test]
    fn ceilings_are_measured_once_per_number_of_threads() {
        let folder = scratch("once");
        let [one, two] = [1, 2].map(host);
        let first = ceilings_in(&folder, &one, |_| Ok(SOME)).unwrap();
        assert!(matches!(first.origin, Origin::Measured(_)));
        let second = ceilings_in(&folder, &one, must_not_measure).unwrap();
        assert!(matches!(second.origin, Origin::Loaded(_)));
        assert_eq!(second.ceilings, SOME);
        let other = ceilings_in(&folder, &two, |_| Ok(SOME)).unwrap();
        assert!(matches!(other.origin, Origin::Measured(_)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_spoilt_file_is_measured_anew() {
        let folder = scratch("spoilt");
        let host = host(1);
        let first = ceilings_in(&folder, &host, |_| Ok(SOME)).unwrap();
        let Origin::Measured(path) = first.origin else {
            panic!("not kept");
        };
        let good = fs::read_to_string(&path).unwrap();
        let negative = good.replace("10000000000.0", "-1.0");
        let other = good.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        for bad in ["", "{}", &good[..good.len() / 2], &negative, &other] {
            assert_ne!(bad, good);
            fs::write(&path, bad).unwrap();
            let again = ceilings_in(&folder, &host, |_| Ok(SOME)).unwrap();
            assert!(matches!(again.origin, Origin::Measured(_)), "{bad}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn ceilings_that_cannot_be_kept_are_still_ceilings() {
        let file = scratch("a-file");
        fs::write(&file, "").unwrap();
        let host = host(1);
        let found = ceilings_in(&file, &host, |_| Ok(SOME)).unwrap();
        assert!(matches!(found.origin, Origin::NotKept(_)));
        assert_eq!(found.ceilings, SOME);
        fs::remove_file(file).unwrap();
    }
}
