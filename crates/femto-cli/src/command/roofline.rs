//! `femto roofline`

use super::open;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::Host;
use femto::platform::device::{self, DeviceId, DeviceKind};
use femto_bench::roofline::{self, Origin};
use femto_bench::table::{self, Column};
use serde_json::{Value, json};
use std::fmt::{Display, Formatter};

/// Measure the rates that bound every operator, and keep them for `femto solve` and `--kept`.
///
/// Takes seconds for each number of threads, more with a large last-level cache.
#[derive(Debug, Args)]
pub(super) struct Roofline {
    /// The device: `host`, `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "host", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of host threads, such as `1,2,8`; one and all if omitted.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Show saved results of an earlier run, and measure only if there are none.
    #[arg(long)]
    kept: bool,
}

impl Roofline {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let devices = open(self.device, &self.thread_counts()?)?;
        let mut progress = Progress::new(!console.is_json());
        let mut table = Table(Vec::new());
        for device in &devices {
            let info = device.info();
            let (id, threads) = (info.id(), info.threads);
            progress.stage(format!("measuring {id} with {threads} threads"));
            let found = match self.kept {
                true => roofline::ceilings(device)?,
                false => roofline::measure_and_keep(device)?,
            };
            table.0.push(Row {
                device: id,
                threads,
                found,
            });
        }
        progress.finish();
        console.report(&table, || table.to_json())
    }

    fn thread_counts(&self) -> Result<Vec<usize>, Failure> {
        let mut counts = self.threads.clone();
        if counts.is_empty() && self.device.kind == DeviceKind::Host {
            counts = vec![1, Host::new()?.threads()];
        }
        counts.sort_unstable();
        counts.dedup();
        Ok(counts)
    }
}

/// A device's ceilings for one number of threads.
struct Row {
    device: DeviceId,
    threads: usize,
    found: roofline::Roofline,
}

/// Ceilings by device and number of threads.
struct Table(Vec<Row>);

const COLUMNS: &[Column<Row>] = &[
    Column::words("device", |it| it.device.to_string()),
    Column::numbers("threads", "", |it| it.threads.to_string()),
    Column::numbers("copy", "GB/s", |it| giga(it.found.ceilings.copy)),
    Column::numbers("read", "GB/s", |it| giga(it.found.ceilings.read)),
    Column::numbers("write", "GB/s", |it| giga(it.found.ceilings.write)),
    Column::numbers("fma fp64", "Gflop/s", |it| giga(it.found.ceilings.fma_fp64)),
    Column::numbers("fma fp32", "Gflop/s", |it| giga(it.found.ceilings.fma_fp32)),
    Column::numbers("shared", "GB/s", |it| {
        let shared = it.found.ceilings.shared;
        shared.map_or_else(|| "-".to_owned(), giga)
    }),
];

fn giga(rate: f64) -> String {
    format!("{:.1}", rate * 1e-9)
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        table::write(f, COLUMNS, &self.0)?;
        let origins = self.0.iter().map(|row| describe(&row.found.origin));
        f.write_str(&origins.collect::<Vec<_>>().join("\n"))
    }
}

fn describe(origin: &Origin) -> String {
    match origin {
        Origin::Loaded(path) => format!("from {}", path.display()),
        Origin::Measured(path) => format!("kept in {}", path.display()),
        Origin::NotKept(error) => format!("not kept: {error}"),
    }
}

impl Table {
    /// Rates in bytes and flops per second.
    fn to_json(&self) -> Value {
        let entry = |row: &Row| {
            let mut entry = json!(row.found.ceilings);
            entry["device"] = json!(row.device.to_string());
            entry["threads"] = json!(row.threads);
            entry["measured_now"] = json!(!matches!(row.found.origin, Origin::Loaded(_)));
            entry
        };
        self.0.iter().map(entry).collect()
    }
}
