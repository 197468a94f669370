//! Text output of the benchmark on simplices.

use crate::Record;
use crate::report::View;
use crate::table::{self, Column};
use crate::view::{bound, error};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

pub(super) const SIMPLICES: View = View {
    tables: |records, f| table::write(f, COLUMNS, fastest(records)),
    legend: LEGEND,
};

pub(super) const TABLE2: View = View {
    tables: write_table2,
    legend: LEGEND,
};

pub(super) const HOST: View = View {
    tables: |records, f| table::write(f, HOST_COLUMNS, records),
    legend: "operators on L-vectors; time: median; bound: the shortest time that the ceilings allow, m \
             for memory, a for arithmetic; to CSR: speed against what they allow a product with the \
             assembled matrix; error: largest difference from the oracle at some nodes, relative",
};

const LEGEND: &str = "time: median of device times; eq. 6, 7: bytes and flops by Knepley, Rupp, \
    Terrel 2016, and their bytes at the rate of a copy; moved, of bound: all bytes that must move, by \
    the ceilings; to model: how much longer than those at the rate of a copy; to CSR: speed against \
    what the ceilings allow an assembled matrix; error: largest difference from the oracle, relative";

const COLUMNS: &[Column<Record>] = &[
    Column::words("case", case),
    Column::words("kernel", kernel),
    Column::numbers("time", "us", |it| it.fixed("seconds", 1e6, 1)),
    Column::numbers("rate", "Gcells/s", |it| it.fixed("cell_rate", 1e-9, 3)),
    Column::numbers("rate", "GDOF/s", |it| it.fixed("dof_rate", 1e-9, 3)),
    Column::numbers("eq. 7", "GFLOP/s", |it| {
        it.fixed("knepley_flop_rate", 1e-9, 1)
    }),
    Column::numbers("eq. 6", "GB/s", |it| it.fixed("knepley_byte_rate", 1e-9, 1)),
    Column::numbers("of copy", "%", |it| it.fixed("knepley_fraction", 100.0, 0)),
    Column::numbers("moved", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("to model", "%", |it| it.fixed("deviation", 100.0, 0)),
    Column::numbers("to CSR", "times", |it| it.fixed("csr_fraction", 1.0, 2)),
    Column::numbers("regs", "", |it| it.fixed("registers", 1.0, 0)),
    Column::numbers("error", "", error),
    Column::words("schedule", schedule),
];

const HOST_COLUMNS: &[Column<Record>] = &[
    Column::words("case", case),
    Column::numbers("threads", "", |it| it.text("threads")),
    Column::numbers("time", "ms", |it| it.fixed("seconds", 1e3, 3)),
    Column::numbers("spread", "%", |it| it.fixed("spread", 100.0, 0)),
    Column::numbers("rate", "Mcells/s", |it| it.fixed("cell_rate", 1e-6, 1)),
    Column::numbers("rate", "MDOF/s", |it| it.fixed("dof_rate", 1e-6, 1)),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("moved", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("bound", "ms", bound),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("to CSR", "times", |it| it.fixed("csr_fraction", 1.0, 2)),
    Column::numbers("error", "", error),
];

fn case(record: &Record) -> String {
    let [form, dim, precision] = ["form", "dim", "precision"].map(|name| record.text(name));
    format!("{form} {dim}-D {precision}")
}

fn kernel(record: &Record) -> String {
    let best = match record.get("best") == json!(true) {
        true => " *",
        false => "",
    };
    format!("{} {}{best}", record.text("vectors"), record.text("kernel"))
}

fn schedule(record: &Record) -> String {
    let together = ["data_together", "vectors_together"].map(|name| record.text(name));
    match together.each_ref().map(String::as_str) {
        ["1", "1"] => record.schedule.clone(),
        [data, vectors] => format!("{}, {data} and {vectors} cells together", record.schedule),
    }
}

/// The fastest record of each case and kernel, in order of first appearance.
fn fastest(records: &[Record]) -> Vec<&Record> {
    let mut fastest: Vec<([String; 3], &Record)> = Vec::new();
    for record in records {
        let key = [case(record), record.text("vectors"), record.text("kernel")];
        match fastest.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) if known.seconds() <= record.seconds() => {}
            Some((_, known)) => *known = record,
            None => fastest.push((key, record)),
        }
    }
    fastest.into_iter().map(|(_, record)| record).collect()
}

/// Table 2 of Knepley et al.: GFLOP/s by equation 7, blocks per batch down, batches per chunk across.
fn write_table2(records: &[Record], f: &mut Formatter<'_>) -> fmt::Result {
    let mut tables: BTreeMap<String, BTreeMap<(u64, u64), f64>> = BTreeMap::new();
    for record in records {
        let count = |column| record.get(column).as_u64();
        let at = count("blocks_per_batch").zip(count("batches_per_chunk"));
        if let Some((at, rate)) = at.zip(record.number("knepley_flop_rate")) {
            tables.entry(case(record)).or_default().insert(at, rate);
        }
    }
    for (case, table) in &tables {
        let mut batches: Vec<u64> = table.keys().map(|&(_, batches)| batches).collect();
        batches.sort_unstable();
        batches.dedup();
        writeln!(
            f,
            "{case}: GFLOP/s (eq. 7); blocks a batch, batches a chunk"
        )?;
        let head = batches.iter().map(|it| format!("{it:>7}"));
        write!(f, "      {}", head.collect::<String>())?;
        let mut line = None;
        for (&(blocks, _), rate) in table {
            if line != Some(blocks) {
                write!(f, "\n{blocks:>6}")?;
                line = Some(blocks);
            }
            write!(f, "{:>7.0}", rate * 1e-9)?;
        }
        writeln!(f)?;
    }
    Ok(())
}
