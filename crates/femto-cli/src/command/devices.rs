//! `femto devices`

use crate::console::Console;
use crate::failure::Failure;
use clap::Args;
use femto::platform::device::{self, DeviceInfo, Listing, Missing};
use serde_json::{Value, json};

/// List the devices that can run operators.
#[derive(Debug, Args)]
pub(super) struct Devices {}

impl Devices {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let Listing { devices, missing } = device::list()?;
        let lines = devices.iter().map(describe);
        let lines: Vec<String> = lines.chain(missing.iter().map(complain)).collect();
        console.report(lines.join("\n"), || {
            let devices = devices.iter().map(to_json);
            devices.chain(missing.iter().map(missing_to_json)).collect()
        })
    }
}

/// Two lines: the device's name and its features.
fn describe(device: &DeviceInfo) -> String {
    const GIB: f64 = (1u64 << 30) as f64;
    let mut parts = vec![
        format!("{} threads", device.threads),
        device.simd.to_owned(),
    ];
    parts.extend(device.architecture.clone().filter(|it| *it != device.name));
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
    parts.extend(device.driver.as_ref().map(|it| format!("driver {it}")));
    let (id, name) = (device.id().to_string(), &device.name);
    format!("{id:<10}{name}\n          {}", parts.join(", "))
}

/// Two lines: what is missing, and the remedy.
fn complain(missing: &Missing) -> String {
    format!("{:<10}none\n          {}", missing.kind, missing.reason)
}

fn to_json(device: &DeviceInfo) -> Value {
    let cache = |cache: &device::Cache| json!({ "level": cache.level, "bytes": cache.bytes });
    json!({
        "kind": device.kind.name(),
        "index": device.index,
        "name": device.name,
        "architecture": device.architecture,
        "driver": device.driver,
        "threads": device.threads,
        "simd": device.simd,
        "memory_bytes": device.memory_bytes,
        "caches": device.caches.iter().map(cache).collect::<Value>(),
        "executes": device.executes,
    })
}

fn missing_to_json(missing: &Missing) -> Value {
    json!({ "kind": missing.kind.name(), "missing": missing.reason.to_string() })
}
