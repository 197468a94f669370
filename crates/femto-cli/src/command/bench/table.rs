//! Rows for people.

use femto::bench::{BenchError, Measured, Row, VectorKind};
use femto::kernel::roofline::Ceilings;
use femto::platform::device::DeviceInfo;
use femto::{FactorPrecision, Scatter};
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};

/// Rows and the ceilings that they refer to.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    /// What could not be measured, and why.
    pub(super) failures: Vec<(String, BenchError)>,
    /// By device, or number of threads.
    pub(super) ceilings: Vec<(String, Ceilings)>,
}

impl Table {
    pub(super) fn to_json(&self, device: Option<&DeviceInfo>) -> Value {
        let failure = |(what, error): &(String, BenchError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "processor": device.map(|info| &info.name),
            "simd": device.map(|info| info.simd),
            "rows": self.rows,
            "failures": self.failures.iter().map(failure).collect::<Value>(),
        })
    }
}

const COLUMNS: usize = 21;

const TITLES: [&str; COLUMNS] = [
    "", "degree", "mesh", "data", "", "device", "threads", "size", "time", "spread", "rate", "",
    "work", "", "bound", "of bound", "of FMA", "of copy", "error", "set-up", "memory",
];

const UNITS: [&str; COLUMNS] = [
    "", "", "", "", "", "", "", "", "ms", "%", "", "", "GFLOP/s", "GB/s", "ms", "%", "%", "%", "",
    "s", "B/dof",
];

/// Columns of words, to the left.
const WORDS: [usize; 5] = [2, 3, 4, 5, 11];

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head = [TITLES, UNITS].map(|line| line.map(str::to_owned));
        let lines: Vec<_> = head
            .into_iter()
            .chain(self.rows.iter().map(cells))
            .collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            writeln!(f, "{}", aligned(line, &widths).trim_end())?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        for (place, ceilings) in &self.ceilings {
            let Ceilings {
                copy,
                read,
                write,
                fma_fp64,
                fma_fp32,
                ..
            } = ceilings;
            let [copy, read, write, fp64, fp32] =
                [copy, read, write, fma_fp64, fma_fp32].map(|rate| rate * 1e-9);
            writeln!(
                f,
                "ceilings, {place}: copy {copy:.1}, read {read:.1}, write {write:.1} GB/s; \
                 FMA {fp64:.1} fp64, {fp32:.1} fp32 GFLOP/s"
            )?;
        }
        f.write_str(
            "time: median; spread: (slowest - fastest) / median; bound: the shortest time that the \
             ceilings allow, m for memory, a for arithmetic; error: largest difference from the host, \
             relative, of small problems on other devices",
        )
    }
}

fn aligned(line: &[String; COLUMNS], widths: &[usize; COLUMNS]) -> String {
    let cell = |column: usize| {
        let (text, width) = (&line[column], widths[column]);
        match WORDS.contains(&column) || column == 0 {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        }
    };
    (0..COLUMNS).map(cell).collect::<Vec<_>>().join("  ")
}

fn cells(row: &Row) -> [String; COLUMNS] {
    let percent = |fraction: f64| format!("{:.0}", fraction * 100.0);
    let (rate, unit) = rate(row);
    let set_up =
        row.geometry_seconds + row.space_seconds + row.compile_seconds + row.operator_seconds;
    [
        match row.measured {
            Measured::Application => row.benchmark.to_string(),
            Measured::CgIteration => format!("{} CG", row.benchmark),
        },
        row.degree.to_string(),
        row.mesh.name().to_owned(),
        data(row),
        row.precision.to_string(),
        row.device.clone(),
        row.threads.to_string(),
        row.dofs.to_string(),
        format!("{:.3}", row.seconds * 1e3),
        percent(row.spread),
        rate,
        unit.to_owned(),
        format!("{:.1}", row.flop_rate * 1e-9),
        format!("{:.1}", row.byte_rate * 1e-9),
        format!("{:.3} {}", row.bound_seconds * 1e3, &row.limit[..1]),
        percent(row.fraction),
        percent(row.fma_fraction),
        percent(row.copy_fraction),
        row.error
            .map_or_else(|| "-".to_owned(), |error| format!("{error:.0e}")),
        format!("{set_up:.2}"),
        format!("{:.0}", row.operator_bytes_per_dof),
    ]
}

/// What is stored, and where it is not as usual how, and how shared nodes are summed.
fn data(row: &Row) -> String {
    let mut words = row.data_level.to_owned();
    if row.factors != FactorPrecision::Same.name() {
        let change = FactorPrecision::SINGLE_CHANGE;
        words += &format!(", factors {} (perturbed by {change:.0e})", row.factors);
    }
    if !row.fold_coefficients {
        words += ", coefficients not folded";
    }
    if row.scatter == Scatter::Deterministic.name() && row.device != "host" {
        words += ", deterministic";
    }
    words
}

/// The rate in the field's unit, with the vectors that it counts.
fn rate(row: &Row) -> (String, &'static str) {
    match row.vector {
        VectorKind::L => (format!("{:.1}", row.rate * 1e-6), "MDOF/s (L)"),
        VectorKind::E => (format!("{:.4}", row.rate * 1e-9), "Gnodes/s (E)"),
        VectorKind::T => (format!("{:.1}", row.rate * 1e-6), "MDOF/s (T)"),
    }
}
