//! Ceilings as a small JSON file.

use femto_kernel::roofline::Ceilings;
use femto_platform::device::DeviceInfo;
use femto_platform::files::{FileError, read_small, write_atomic};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Larger than any such file.
const LARGEST_FILE: u64 = 64 << 10;

/// The configuration that ceilings belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    femto: String,
    device: String,
    processor: String,
    driver: Option<String>,
    simd: String,
    threads: usize,
}

#[derive(Serialize, Deserialize)]
struct Record {
    key: Key,
    /// In bytes and flops per second.
    ceilings: Ceilings,
}

impl Key {
    pub(super) fn of(info: &DeviceInfo) -> Self {
        Self {
            femto: env!("CARGO_PKG_VERSION").to_owned(),
            device: info.kind.name().to_owned(),
            processor: info.name.clone(),
            driver: info.driver.clone(),
            simd: info.simd.to_owned(),
            threads: info.threads,
        }
    }

    /// A readable name; if two keys share it, the key inside the file distinguishes them.
    pub(super) fn file_name(&self) -> String {
        let words = self.processor.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let processor = words.join("-").to_ascii_lowercase();
        let processor: String = processor.chars().take(80).collect();
        format!(
            "roofline-{}-{processor}-{}t.json",
            self.device, self.threads
        )
    }
}

/// The ceilings in this file, if it exists and matches `key`.
pub(super) fn load(path: &Path, key: &Key) -> Option<Ceilings> {
    let bytes = read_small(path, LARGEST_FILE).ok()?;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    (record.key == *key && record.ceilings.are_valid()).then_some(record.ceilings)
}

pub(super) fn save(path: &Path, key: Key, ceilings: Ceilings) -> Result<(), FileError> {
    // Strings and numbers can always be represented in JSON; otherwise there is nothing to store.
    let json = serde_json::to_string_pretty(&Record { key, ceilings }).unwrap_or_default();
    write_atomic(path, json.as_bytes())
}
