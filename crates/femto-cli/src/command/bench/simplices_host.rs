//! Rows of the benchmark on simplices on the host, for people.

use femto::bench::BenchError;
use femto::bench::simplices::HostRow;
use femto::kernel::roofline::Ceilings;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};

/// What was measured on the host.
#[derive(Default)]
pub(super) struct HostOutcome {
    pub(super) rows: Vec<HostRow>,
    /// What could not be measured, and why.
    pub(super) failures: Vec<(String, BenchError)>,
    /// By number of threads.
    pub(super) ceilings: Vec<(String, Ceilings)>,
}

const COLUMNS: usize = 12;

const TITLES: [&str; COLUMNS] = [
    "case", "threads", "time", "spread", "rate", "rate", "work", "moved", "bound", "of bound",
    "to CSR", "error",
];

const UNITS: [&str; COLUMNS] = [
    "", "", "ms", "%", "Mcells/s", "MDOF/s", "GFLOP/s", "GB/s", "ms", "%", "times", "",
];

impl HostOutcome {
    pub(super) fn to_json(&self) -> Value {
        let failure = |(what, error): &(String, BenchError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "ceilings": self.ceilings.iter().map(|(_, ceilings)| ceilings).collect::<Vec<_>>(),
            "rows": self.rows,
            "failures": self.failures.iter().map(failure).collect::<Value>(),
        })
    }
}

impl Display for HostOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head = [TITLES, UNITS].map(|line| line.map(str::to_owned));
        let lines = self.rows.iter().map(cells);
        let lines: Vec<_> = head.into_iter().chain(lines).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            let (case, numbers) = (&line[0], &line[1..]);
            write!(f, "{case:<width$}", width = widths[0])?;
            for (text, width) in numbers.iter().zip(&widths[1..]) {
                write!(f, "  {text:>width$}")?;
            }
            writeln!(f)?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        f.write_str(
            "operators on L-vectors; time: median; bound: the shortest time that the ceilings allow, m for \
             memory, a for arithmetic; to CSR: speed against what they allow a product with the assembled \
             matrix; error: largest difference from the oracle at some nodes, relative",
        )
    }
}

fn cells(row: &HostRow) -> [String; COLUMNS] {
    let HostRow {
        form,
        dim,
        precision,
        ..
    } = row;
    let per_second = |rate: f64, unit: f64| format!("{:.1}", rate * unit);
    let percent = |fraction: f64| format!("{:.0}", fraction * 100.0);
    [
        format!("{form} {dim}-D {precision}"),
        row.threads.to_string(),
        format!("{:.3}", row.seconds * 1e3),
        percent((row.seconds_max - row.seconds_min) / row.seconds),
        per_second(row.cell_rate, 1e-6),
        per_second(row.dof_rate, 1e-6),
        per_second(row.flop_rate, 1e-9),
        per_second(row.byte_rate, 1e-9),
        format!("{:.3} {}", row.bound_seconds * 1e3, &row.limit[..1]),
        percent(row.fraction),
        format!("{:.2}", row.csr_ratio),
        format!("{:.0e}", row.error),
    ]
}
