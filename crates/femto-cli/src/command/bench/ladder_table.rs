//! Rows of ladders for people.

use super::ladder::Outcome;
use femto::bench::ladder::LadderRow;
use std::fmt::{self, Display, Formatter};

const COLUMNS: usize = 15;

const TITLES: [&str; COLUMNS] = [
    "step", "degree", "", "elements", "time", "rate", "work", "", "copy", "shared", "of copy",
    "of bound", "regs", "spilled", "error",
];

const UNITS: [&str; COLUMNS] = [
    "", "", "", "", "us", "Gnodes/s", "GFLOP/s", "GB/s", "GFLOP/s", "GFLOP/s", "%", "%", "", "B",
    "",
];

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head = [TITLES, UNITS].map(|line| line.map(str::to_owned));
        let lines: Vec<_> = head
            .into_iter()
            .chain(self.rows.iter().map(cells))
            .collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            let [step, rest @ ..] = line;
            write!(f, "{step:<width$}", width = widths[0])?;
            for (text, width) in rest.iter().zip(&widths[1..]) {
                write!(f, "  {text:>width$}")?;
            }
            writeln!(f)?;
        }
        for (what, rule) in &self.illegal {
            writeln!(f, "illegal: {what}: {rule}")?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        write!(
            f,
            "{}; time: median of device times; work: nominal flops, bytes that must move; copy, \
             shared: what a copy of as many bytes and shared memory allow (Świrydowicz et al. 2019, eqs. 12, 13); \
             error: largest difference from the oracle on some elements, relative",
            self.device
        )
    }
}

fn cells(row: &LadderRow) -> [String; COLUMNS] {
    let giga = |value: f64| format!("{:.1}", value * 1e-9);
    let percent = |fraction: f64| format!("{:.0}", fraction * 100.0);
    let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    [
        row.step.clone(),
        row.degree.to_string(),
        row.precision.to_string(),
        row.elements.to_string(),
        format!("{:.2}", row.seconds * 1e6),
        format!("{:.3}", row.rate * 1e-9),
        giga(row.flop_rate),
        giga(row.byte_rate),
        giga(row.roofline_copy),
        known(row.roofline_shared.map(giga)),
        percent(row.copy_seconds / row.seconds),
        percent(row.fraction),
        known(row.registers.map(|it| it.to_string())),
        known(row.local_bytes.map(|it| it.to_string())),
        format!("{:.0e}", row.error),
    ]
}
