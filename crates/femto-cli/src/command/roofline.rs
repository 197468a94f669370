//! `femto roofline`

use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::Host;
use femto::bench::roofline::{self, Origin};
use femto::platform::device::host::limit_global_threads;
use serde_json::{Value, json};
use std::fmt::{Display, Formatter};

/// Measure the rates that bound every operator, and keep them for `explain` and the solver's last
/// lines.
///
/// Takes about two seconds per number of threads.
#[derive(Debug, Args)]
pub(super) struct Roofline {
    /// Numbers of threads to measure with, such as `1,2,8`; one and all if left out.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Show what is kept from an earlier run, and measure only where there is nothing.
    #[arg(long)]
    kept: bool,
}

impl Roofline {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let mut progress = Progress::new(!console.is_json());
        let mut table = Table(Vec::new());
        if let Some(&most) = self.threads.iter().max() {
            limit_global_threads(most);
        }
        for threads in self.thread_counts()? {
            progress.stage(format!("measuring with {threads} threads"));
            let host = Host::with_threads(threads)?;
            let found = match self.kept {
                true => roofline::ceilings(&host)?,
                false => roofline::measure_and_keep(&host)?,
            };
            table.0.push((threads, found));
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

/// Ceilings by number of threads.
struct Table(Vec<(usize, roofline::Roofline)>);

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let units = ["", "GB/s", "GB/s", "GB/s", "Gflop/s", "Gflop/s"];
        row(
            f,
            ["threads", "copy", "read", "write", "fma fp64", "fma fp32"],
        )?;
        row(f, units)?;
        for (threads, roofline) in &self.0 {
            let c = &roofline.ceilings;
            let rates = [c.copy, c.read, c.write, c.fma_fp64, c.fma_fp32];
            let [copy, read, write, fp64, fp32] = rates.map(|rate| format!("{:.1}", rate / 1e9));
            row(
                f,
                [&threads.to_string(), &copy, &read, &write, &fp64, &fp32],
            )?;
        }
        let origins = self
            .0
            .iter()
            .map(|(_, roofline)| describe(&roofline.origin));
        f.write_str(&origins.collect::<Vec<_>>().join("\n"))
    }
}

/// One line, the columns to the right.
fn row(f: &mut Formatter<'_>, [first, rest @ ..]: [&str; 6]) -> std::fmt::Result {
    write!(f, "{first:>7}")?;
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
        let entry = |(threads, roofline): &(usize, roofline::Roofline)| {
            let ceilings = &roofline.ceilings;
            json!({
                "threads": threads,
                "copy": ceilings.copy,
                "read": ceilings.read,
                "write": ceilings.write,
                "fma_fp64": ceilings.fma_fp64,
                "fma_fp32": ceilings.fma_fp32,
                "measured_now": !matches!(roofline.origin, Origin::Loaded(_)),
            })
        };
        self.0.iter().map(entry).collect()
    }
}
