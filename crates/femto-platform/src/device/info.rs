//! Kinds, names and descriptions of devices.

use super::accelerator::{Features, LanguageKind};
use super::{Device, DeviceError, cuda, host::Host, null::Null, opencl};
use std::fmt;

/// The kinds of devices in this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The processor: SIMD over elements, threads over batches.
    Host,
    /// NVIDIA's GPUs through their own driver.
    Cuda,
    /// Any device with an OpenCL 1.2 driver.
    OpenCl,
    /// Executes nothing, counts everything.
    Null,
}

impl DeviceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Host, Self::Cuda, Self::OpenCl, Self::Null];

    /// The name on the command line and in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
            Self::Null => "null",
        }
    }

    /// Whether kernels are compiled for it; a machine may have several such devices.
    pub const fn is_accelerator(self) -> bool {
        matches!(self, Self::Cuda | Self::OpenCl)
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One device of a machine: `host`, `null`, `cuda:0`, `opencl:1`, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId {
    /// The kind.
    pub kind: DeviceKind,
    /// The index within the kind, from 0.
    pub index: usize,
}

impl DeviceId {
    /// The host.
    pub const HOST: Self = Self::first(DeviceKind::Host);

    /// The first device of a kind.
    pub const fn first(kind: DeviceKind) -> Self {
        Self { kind, index: 0 }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.kind.is_accelerator() {
            write!(f, ":{}", self.index)?;
        }
        Ok(())
    }
}

/// One level of cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// 1 is closest to the core. Instruction caches are omitted.
    pub level: u32,
    /// Bytes of one instance.
    pub bytes: u64,
}

/// The description of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The kind.
    pub kind: DeviceKind,
    /// The index within the kind, from 0.
    pub index: usize,
    /// The maker's name of the processor.
    pub name: String,
    /// The compiler's target, such as `sm_90`, if kernels are compiled at run time.
    pub architecture: Option<String>,
    /// Version of the driver, if there is one.
    pub driver: Option<String>,
    /// Threads that run concurrently; for an accelerator, those resident on its compute units, or the
    /// number of compute units if the driver does not report more.
    pub threads: usize,
    /// The widest vector instructions used, such as `AVX-512`; `scalar` if there are none. For an
    /// accelerator, the language of its kernels.
    pub simd: &'static str,
    /// Bytes of memory that this process may use, if the system reports it.
    pub memory_bytes: Option<u64>,
    /// Data caches, closest first; empty if the system does not report them.
    pub caches: Vec<Cache>,
    /// Whether values are stored and work is done; false for the null device, which only counts.
    pub executes: bool,
}

impl DeviceInfo {
    /// The device's identifier.
    pub fn id(&self) -> DeviceId {
        let (kind, index) = (self.kind, self.index);
        DeviceId { kind, index }
    }

    pub(super) fn of_accelerator(id: DeviceId, name: String, features: &Features) -> Self {
        let units = features.compute_units as usize;
        let level = 2;
        let cache = Cache {
            level,
            bytes: features.cache_bytes,
        };
        Self {
            kind: id.kind,
            index: id.index,
            name,
            architecture: Some(features.architecture.clone()),
            driver: Some(features.driver.clone()),
            threads: units * features.threads_per_unit.unwrap_or(1) as usize,
            simd: match features.language {
                LanguageKind::Cuda => "CUDA C++",
                LanguageKind::OpenCl => "OpenCL C",
            },
            memory_bytes: Some(features.memory_bytes),
            caches: Some(cache)
                .filter(|cache| cache.bytes > 0)
                .into_iter()
                .collect(),
            executes: true,
        }
    }
}

/// The devices of a machine, and the reasons for missing kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The devices, in the order of [`DeviceKind::ALL`].
    pub devices: Vec<DeviceInfo>,
    /// The missing kinds.
    pub missing: Vec<Missing>,
}

/// A kind of device that a machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The kind.
    pub kind: DeviceKind,
    /// Why, and what to install.
    pub reason: DeviceError,
}

/// The devices of this machine, for `femto devices`.
///
/// # Errors
/// [`DeviceError::ThreadStart`] if the host's threads cannot be started.
pub fn list() -> Result<Listing, DeviceError> {
    let mut devices = vec![Host::new()?.info()];
    let mut missing = Vec::new();
    let kinds = [
        (DeviceKind::Cuda, cuda::list()),
        (DeviceKind::OpenCl, opencl::list()),
    ];
    for (kind, found) in kinds {
        match found {
            Ok(found) => devices.extend(found),
            Err(reason) => missing.push(Missing { kind, reason }),
        }
    }
    missing.extend(cuda::missing_compiler().map(|reason| Missing {
        kind: DeviceKind::Cuda,
        reason,
    }));
    devices.push(Null::new().info());
    Ok(Listing { devices, missing })
}

/// The device with this name: its kind, followed by a colon and an index if a machine may have several; the
/// index defaults to 0.
///
/// # Errors
/// [`DeviceError::UnknownDevice`], which lists the existing names.
pub fn parse(name: &str) -> Result<DeviceId, DeviceError> {
    let unknown = || DeviceError::UnknownDevice {
        name: name.to_owned(),
        known: "host, cuda, cuda:0, cuda:1, ..., opencl, opencl:0, opencl:1, ..., null".to_owned(),
    };
    let (word, index) = match name.split_once(':') {
        Some((word, index)) => (word, Some(index)),
        None => (name, None),
    };
    let kind = DeviceKind::ALL.into_iter().find(|kind| kind.name() == word);
    let kind = kind.ok_or_else(unknown)?;
    let index = match index {
        None => 0,
        // Digits only: `parse` also takes a sign.
        Some(index) if kind.is_accelerator() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
            index.parse().map_err(|_| unknown())?
        }
        Some(_) => return Err(unknown()),
    };
    Ok(DeviceId { kind, index })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_found_by_its_name() {
        for kind in DeviceKind::ALL {
            assert_eq!(parse(kind.name()), Ok(DeviceId::first(kind)));
            let id = DeviceId::first(kind);
            assert_eq!(parse(&id.to_string()), Ok(id));
        }
        let second = DeviceId {
            kind: DeviceKind::Cuda,
            index: 12,
        };
        assert_eq!(second.to_string(), "cuda:12");
        assert_eq!(parse("cuda:12"), Ok(second));
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_exist() {
        let message = parse("hsot").unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no device \"hsot\"; these exist: host, cuda, cuda:0, cuda:1, ..., opencl, \
             opencl:0, opencl:1, ..., null"
        );
        for name in [
            "", ":", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "host:0", "null:0", "cuda:0:0",
        ] {
            let error = parse(name).unwrap_err();
            assert!(matches!(error, DeviceError::UnknownDevice { name: n, .. } if n == name));
        }
        assert!(parse("cuda:99999999999999999999").is_err());
    }

    #[test]
    fn every_kind_is_listed_or_missing() {
        let listing = list().unwrap();
        for kind in DeviceKind::ALL {
            let listed = listing.devices.iter().filter(|info| info.kind == kind);
            let indices: Vec<_> = listed.map(|info| info.index).collect();
            let wanted: Vec<_> = (0..indices.len()).collect();
            assert_eq!(indices, wanted);
            let missing = listing.missing.iter().any(|missing| missing.kind == kind);
            assert!(missing || !indices.is_empty(), "{kind}");
        }
        assert_eq!(listing.devices[0].id(), DeviceId::HOST);
        let null = DeviceId::first(DeviceKind::Null);
        assert_eq!(listing.devices.last().unwrap().id(), null);
    }
}
