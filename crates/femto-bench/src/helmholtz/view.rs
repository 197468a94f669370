//! Text output: a line for each stage of a step, then the report's table, a line for each step.

use super::record::TOGETHER;
use crate::Record;
use crate::report::View;
use crate::table::{self, Column};
use crate::view::{bound, error};

pub(super) const HELMHOLTZ: View = View {
    tables: |records, f| {
        table::write(f, COLUMNS, records)?;
        writeln!(f)?;
        table::write(f, STEP_COLUMNS, &steps(records))
    },
    legend: "step: of the published ladder, or loops on the host; time: median, on accelerators of device times; nominal: \
             flops of the expressions as the authors write them; work: flops with common subexpressions evaluated once, \
             bytes that must move; bound: the shortest time that the ceilings allow; regs, local: registers, and bytes of \
             slow memory, of a thread; error: largest difference from the closed forms, relative to the largest row of \
             absolute terms. Then milliseconds of the stages by step; together: the Challenge's stages, without action",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("step", |it| it.text("step")),
    Column::words("stage", |it| it.text("stage")),
    Column::numbers("threads", "", |it| it.text("threads")),
    Column::numbers("cells", "", |it| it.text("cells")),
    Column::numbers("time", "ms", |it| it.fixed("seconds", 1e3, 3)),
    Column::numbers("spread", "%", |it| it.fixed("spread", 100.0, 0)),
    Column::numbers("rate", "Mcells/s", |it| it.fixed("cell_rate", 1e-6, 1)),
    Column::numbers("nominal", "GFLOP/s", |it| {
        it.fixed("nominal_flop_rate", 1e-9, 1)
    }),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("bound", "ms", bound),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("regs", "", |it| it.fixed("registers", 1.0, 0)),
    Column::numbers("local", "B", |it| it.fixed("local_bytes", 1.0, 0)),
    Column::numbers("error", "", error),
];

/// The records of a step or a variant.
struct OfStep(Vec<Record>);

impl OfStep {
    /// Milliseconds of a stage.
    fn time(&self, stage: &str) -> String {
        let found = self.0.iter().find(|it| it.get("stage") == stage);
        found.map_or_else(|| "-".to_owned(), |it| it.fixed("seconds", 1e3, 3))
    }

    fn text(&self, column: &str) -> String {
        self.0
            .first()
            .map_or_else(String::new, |it| it.text(column))
    }
}

const STEP_COLUMNS: &[Column<OfStep>] = &[
    Column::words("step", |it| it.text("step")),
    Column::numbers("zero", "ms", |it| it.time("zero")),
    Column::numbers("expression_1", "ms", |it| it.time("expression_1")),
    Column::numbers("rhs_1", "ms", |it| it.time("rhs_1")),
    Column::numbers("expression_2", "ms", |it| it.time("expression_2")),
    Column::numbers("rhs", "ms", |it| it.time("rhs")),
    Column::numbers("lhs", "ms", |it| it.time("lhs")),
    Column::numbers(TOGETHER, "ms", |it| it.time(TOGETHER)),
    Column::numbers("action", "ms", |it| it.time("action")),
    Column::words("change", |it| it.text("change")),
];

/// Records of one step follow one another.
fn steps(records: &[Record]) -> Vec<OfStep> {
    let same = |a: &Record, b: &Record| {
        ["step", "threads"]
            .iter()
            .all(|column| a.get(column) == b.get(column))
    };
    let groups = records.chunk_by(same);
    groups.map(|group| OfStep(group.to_vec())).collect()
}
