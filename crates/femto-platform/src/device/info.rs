//! What a device says about itself.

use super::{Device, DeviceError, host::Host, null::Null};
use std::fmt;

/// The devices that this build knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The processor: SIMD over elements, threads over batches.
    Host,
    /// Executes nothing, counts everything.
    Null,
}

impl DeviceKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Host, Self::Null];

    /// The name on the command line and in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Null => "null",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One level of cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// 1 is nearest to the core. Instruction caches are left out.
    pub level: u32,
    /// Bytes of one instance.
    pub bytes: u64,
}

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Which of the kinds.
    pub kind: DeviceKind,
    /// The maker's name of the processor.
    pub name: String,
    /// Threads that work at the same time.
    pub threads: usize,
    /// The widest vector instructions that are used, such as `AVX-512`; `scalar` where none are.
    pub simd: &'static str,
    /// Bytes of memory that this process may use, where the system tells.
    pub memory_bytes: Option<u64>,
    /// Data caches, nearest first; empty where the system does not tell.
    pub caches: Vec<Cache>,
    /// Whether values are stored and work is done; false for a device that only counts.
    pub executes: bool,
}

/// What this machine has, for `femto devices`.
///
/// # Errors
/// [`DeviceError::ThreadStart`] where the host's threads do not start.
pub fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    Ok(vec![Host::new()?.info(), Null::new().info()])
}

/// The device with this name.
///
/// # Errors
/// [`DeviceError::UnknownDevice`], which names what exists.
pub fn parse(name: &str) -> Result<DeviceKind, DeviceError> {
    DeviceKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| DeviceError::UnknownDevice {
            name: name.to_owned(),
            known: DeviceKind::ALL.map(DeviceKind::name).join(", "),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in DeviceKind::ALL {
            assert_eq!(parse(kind.name()), Ok(kind));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_exist() {
        let message = parse("hsot").unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no device \"hsot\"; these exist: host, null"
        );
    }

    #[test]
    fn the_list_has_every_kind_once() {
        let kinds: Vec<_> = list().unwrap().into_iter().map(|info| info.kind).collect();
        assert_eq!(kinds, DeviceKind::ALL);
    }
}
