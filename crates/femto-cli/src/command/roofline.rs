//! `femto roofline`

use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::Host;
use femto::bench::roofline::{self, Measure, Origin};
use femto::platform::device::host::limit_global_threads;
use femto::platform::device::{self, Accelerator, DeviceError, DeviceId, DeviceKind};
use serde_json::{Value, json};
use std::fmt::{Display, Formatter};

/// Measure the rates that bound every operator, and keep them for `explain` and the solver's last
/// lines.
///
/// Takes about two seconds per number of threads.
#[derive(Debug, Args)]
pub(super) struct Roofline {
    /// The device: `host`, `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "host", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of threads of the host, such as `1,2,8`; one and all if left out.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Show what is kept from an earlier run, and measure only where there is nothing.
    #[arg(long)]
    kept: bool,
}

impl Roofline {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        if let Some(&most) = self.threads.iter().max() {
            limit_global_threads(most);
        }
        match self.device.kind {
            DeviceKind::Host => {
                let hosts = self.thread_counts()?.into_iter().map(Host::with_threads);
                self.run_on(&hosts.collect::<Result<Vec<_>, _>>()?, console)
            }
            DeviceKind::Null => {
                let (device, what) = (self.device.kind.name(), "be timed: it does nothing");
                Err(DeviceError::Unsupported { device, what }.into())
            }
            DeviceKind::Cuda | DeviceKind::OpenCl => {
                self.run_on(&[Accelerator::open(self.device)?], console)
            }
        }
    }

    fn run_on<D: Measure>(&self, devices: &[D], console: Console) -> Result<(), Failure> {
        let mut progress = Progress::new(!console.is_json());
        let mut table = Table(Vec::new());
        for device in devices {
            let info = device.info();
            let (id, threads) = (info.id(), info.threads);
            progress.stage(format!("measuring {id} with {threads} threads"));
            let found = match self.kept {
                true => roofline::ceilings(device)?,
                false => roofline::measure_and_keep(device)?,
            };
            table.0.push((id, threads, found));
        }
        progress.finish();
        console.report(&table, || table.to_json())
    }

    fn thread_counts(&self) -> Result<Vec<usize>, Failure> {
        let mut counts = self.threads.clone();
        if counts.is_empty() {
            counts = vec![1, Host::new()?.threads()];
        }
        counts.sort_unstable();
        counts.dedup();
        Ok(counts)
    }
}

/// Ceilings by device and number of threads.
struct Table(Vec<(DeviceId, usize, roofline::Roofline)>);

const COLUMNS: usize = 8;

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let titles = [
            "device", "threads", "copy", "read", "write", "fma fp64", "fma fp32", "shared",
        ];
        let units = ["", "", "GB/s", "GB/s", "GB/s", "Gflop/s", "Gflop/s", "GB/s"];
        for line in [titles, units] {
            row(f, &line.map(str::to_owned))?;
        }
        for (id, threads, roofline) in &self.0 {
            let c = &roofline.ceilings;
            let giga = |rate: f64| format!("{:.1}", rate / 1e9);
            let [copy, read, write, fp64, fp32] =
                [c.copy, c.read, c.write, c.fma_fp64, c.fma_fp32].map(giga);
            let shared = c.shared.map_or_else(|| "-".to_owned(), giga);
            let (id, threads) = (id.to_string(), threads.to_string());
            row(f, &[id, threads, copy, read, write, fp64, fp32, shared])?;
        }
        let origins = self
            .0
            .iter()
            .map(|(_, _, roofline)| describe(&roofline.origin));
        f.write_str(&origins.collect::<Vec<_>>().join("\n"))
    }
}

/// One line, the columns to the right.
fn row(f: &mut Formatter<'_>, [first, rest @ ..]: &[String; COLUMNS]) -> std::fmt::Result {
    write!(f, "{first:>8}")?;
    rest.iter()
        .try_for_each(|column| write!(f, " {column:>9}"))?;
    writeln!(f)
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
        let entry = |(id, threads, roofline): &(DeviceId, usize, roofline::Roofline)| {
            let ceilings = &roofline.ceilings;
            json!({
                "device": id.to_string(),
                "threads": threads,
                "copy": ceilings.copy,
                "read": ceilings.read,
                "write": ceilings.write,
                "fma_fp64": ceilings.fma_fp64,
                "fma_fp32": ceilings.fma_fp32,
                "shared": ceilings.shared,
                "measured_now": !matches!(roofline.origin, Origin::Loaded(_)),
            })
        };
        self.0.iter().map(entry).collect()
    }
}
