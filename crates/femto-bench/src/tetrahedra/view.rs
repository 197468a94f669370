//! Text output of the ladder on tetrahedra.

use crate::Record;
use crate::report::View;
use crate::table::{self, Column};
use crate::view::{bound, error};

pub(super) const TETRAHEDRA: View = View {
    tables: |records, f| table::write(f, COLUMNS, records),
    legend: "step: of the published ladder, - for femto's own; elements of a thread, and side by side in a block; time: \
             median of device times; work: flops of all matrices, bytes that must move; bound: the shortest time that \
             the ceilings allow; error: largest difference from the oracle on some elements, relative",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("step", |it| it.text("step")),
    Column::numbers("degree", "", |it| it.text("degree")),
    Column::numbers("", "", |it| it.text("precision")),
    Column::numbers("elements", "", |it| it.text("elements")),
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
