//! `femto devices`

use crate::console::Console;
use crate::failure::Failure;
use clap::Args;
use femto::platform::device::{self, DeviceInfo};
use serde_json::{Value, json};

/// List the devices that can run operators.
#[derive(Debug, Args)]
pub(super) struct Devices {}

impl Devices {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let devices = device::list()?;
        let lines: Vec<String> = devices.iter().map(describe).collect();
        console.report(lines.join("\n"), || devices.iter().map(to_json).collect())
    }
}

/// Two lines: what the device is, and what it has.
fn describe(device: &DeviceInfo) -> String {
    const GIB: f64 = (1u64 << 30) as f64;
    let mut parts = vec![
        format!("{} threads", device.threads),
        device.simd.to_owned(),
    ];
    parts.extend(
        device
            .memory_bytes
            .map(|b| format!("{:.1} GiB memory", b as f64 / GIB)),
    );
    parts.extend(
        device
            .caches
            .iter()
            .map(|c| format!("L{} {} KiB", c.level, c.bytes / 1024)),
    );
    let (kind, name) = (device.kind.name(), &device.name);
    format!("{kind:<8}{name}\n        {}", parts.join(", "))
}

fn to_json(device: &DeviceInfo) -> Value {
    let cache = |cache: &device::Cache| json!({ "level": cache.level, "bytes": cache.bytes });
    json!({
        "kind": device.kind.name(),
        "name": device.name,
        "threads": device.threads,
        "simd": device.simd,
        "memory_bytes": device.memory_bytes,
        "caches": device.caches.iter().map(cache).collect::<Value>(),
        "executes": device.executes,
    })
}
