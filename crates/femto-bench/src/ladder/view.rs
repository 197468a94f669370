//! Text output of ladder records.

use crate::Record;
use crate::report::View;
use crate::table::{self, Column};
use crate::view::error;

pub(super) const LADDER: View = View {
    tables: |records, f| table::write(f, COLUMNS, records),
    legend: "time: median of device times; work: nominal flops, bytes that must move; copy, shared: \
             what a copy of as many bytes and shared memory allow (Świrydowicz et al. 2019, eqs. 12, \
             13); error: largest difference from the oracle on some elements, relative",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("step", |it| it.text("step")),
    Column::numbers("degree", "", |it| it.text("degree")),
    Column::numbers("", "", |it| it.text("precision")),
    Column::numbers("elements", "", |it| it.text("elements")),
    Column::numbers("time", "us", |it| it.fixed("seconds", 1e6, 2)),
    Column::numbers("rate", "Gnodes/s", |it| it.fixed("rate", 1e-9, 3)),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("copy", "GFLOP/s", |it| it.fixed("roofline_copy", 1e-9, 1)),
    Column::numbers("shared", "GFLOP/s", |it| {
        it.fixed("roofline_shared", 1e-9, 1)
    }),
    Column::numbers("of copy", "%", |it| it.fixed("copy_fraction", 100.0, 0)),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("regs", "", |it| it.fixed("registers", 1.0, 0)),
    Column::numbers("spilled", "B", |it| it.fixed("local_bytes", 1.0, 0)),
    Column::numbers("error", "", error),
];
