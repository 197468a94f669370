//! Text output: a line for each kernel, then the better route of each problem.

use super::Stored;
use crate::Record;
use crate::report::View;
use crate::table::{self, Column};
use crate::view::{bound, error};
use serde_json::Value;

pub(super) const TET: View = View {
    tables: |records, f| {
        table::write(f, COLUMNS, records)?;
        let answers = answers(records);
        if !answers.is_empty() {
            writeln!(f)?;
            table::write(f, ANSWER_COLUMNS, &answers)?;
        }
        Ok(())
    },
    legend: "stored: factors of the reference cell's matrices, or a matrix of each element; step: of the published \
             ladder, - for femto's own; sides: right-hand sides; elements of a thread, and side by side in a block; rate: \
             nodes of all right-hand sides; time: median of device times; work: flops of all matrices, bytes that must \
             move; bound: the shortest time that the ceilings allow; error: largest difference from the oracle on some \
             elements, relative. Then the fastest kernel of both routes, with the memory of the operator",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("stored", |it| it.text("stored")),
    Column::words("step", |it| it.text("step")),
    Column::numbers("degree", "", |it| it.text("degree")),
    Column::numbers("", "", |it| it.text("precision")),
    Column::numbers("elements", "", |it| it.text("elements")),
    Column::numbers("", "GB", |it| it.fixed("gigabytes", 1.0, 2)),
    Column::numbers("sides", "", |it| it.text("sides")),
    Column::numbers("a thread", "", |it| it.text("per_thread")),
    Column::numbers("aside", "", |it| it.text("aside")),
    Column::numbers("unroll", "", |it| it.text("unroll")),
    Column::numbers("time", "us", |it| it.fixed("seconds", 1e6, 2)),
    Column::numbers("rate", "Gnodes/s", |it| it.fixed("rate", 1e-9, 3)),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("bound", "ms", bound),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("regs", "", |it| it.fixed("registers", 1.0, 0)),
    Column::numbers("spilled", "B", |it| it.fixed("local_bytes", 1.0, 0)),
    Column::numbers("error", "", error),
];

/// The fastest kernels of one problem: with factors, and with matrices.
struct Answer {
    factors: Record,
    matrices: Record,
}

impl Answer {
    /// How often faster factors are.
    fn gain(&self) -> f64 {
        self.matrices.seconds() / self.factors.seconds()
    }
}

const ANSWER_COLUMNS: &[Column<Answer>] = &[
    Column::numbers("degree", "", |it| it.factors.text("degree")),
    Column::numbers("", "", |it| it.factors.text("precision")),
    Column::numbers("elements", "", |it| it.factors.text("elements")),
    Column::numbers("sides", "", |it| it.factors.text("sides")),
    Column::numbers("factors", "Gnodes/s", |it| {
        it.factors.fixed("rate", 1e-9, 2)
    }),
    Column::numbers("of bound", "%", |it| it.factors.fixed("fraction", 100.0, 0)),
    Column::numbers("", "GB", |it| it.factors.fixed("gigabytes", 1.0, 3)),
    Column::numbers("matrices", "Gnodes/s", |it| {
        it.matrices.fixed("rate", 1e-9, 2)
    }),
    Column::numbers("of bound", "%", |it| {
        it.matrices.fixed("fraction", 100.0, 0)
    }),
    Column::numbers("", "GB", |it| it.matrices.fixed("gigabytes", 1.0, 3)),
    Column::words("", |it| it.matrices.text("stored")),
    Column::words("faster", |it| match it.gain() {
        gain if gain >= 1.0 => format!("factors, {gain:.2} times"),
        gain => format!("matrices, {:.2} times", 1.0 / gain),
    }),
];

/// Of each problem that both routes were measured on, in the order of the records.
fn answers(records: &[Record]) -> Vec<Answer> {
    // The fastest with factors, and with matrices.
    let mut problems: Vec<([Value; 4], [Option<&Record>; 2])> = Vec::new();
    for record in records {
        let problem = ["degree", "elements", "sides", "precision"].map(|name| record.get(name));
        let known = problems.iter().position(|(other, _)| *other == problem);
        let at = known.unwrap_or_else(|| {
            problems.push((problem, [None; 2]));
            problems.len() - 1
        });
        let has_matrices = record.get("stored") != Stored::Factors.name();
        let fastest = &mut problems[at].1[usize::from(has_matrices)];
        if fastest.is_none_or(|other| record.seconds() < other.seconds()) {
            *fastest = Some(record);
        }
    }
    let answer = |(_, [factors, matrices]): ([Value; 4], [Option<&Record>; 2])| {
        Some(Answer {
            factors: factors?.clone(),
            matrices: matrices?.clone(),
        })
    };
    problems.into_iter().filter_map(answer).collect()
}
