//! Text output of the bake-off problems and kernels.

use crate::report::View;
use crate::table::{self, Column};
use crate::{Measured, Record, VectorKind};
use femto::{FactorPrecision, Scatter};
use serde_json::json;

pub(crate) const BAKEOFF: View = View {
    tables: |records, f| table::write(f, COLUMNS, records),
    legend: "time: median; spread: (slowest - fastest) / median; bound: the shortest time that the \
             ceilings allow, m for memory, a for arithmetic, s for shared memory, L for wavefronts of L1; \
             error: largest difference from the host, relative, of small problems on other devices",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("", name),
    Column::numbers("degree", "", degree),
    Column::words("mesh", |it| it.text("mesh")),
    Column::words("data", data),
    Column::words("", |it| it.text("precision")),
    Column::words("device", |it| it.text("device")),
    Column::numbers("threads", "", |it| it.text("threads")),
    Column::numbers("size", "", |it| it.text("dofs")),
    Column::numbers("time", "ms", |it| it.fixed("seconds", 1e3, 3)),
    Column::numbers("spread", "%", |it| it.fixed("spread", 100.0, 0)),
    Column::numbers("rate", "", |it| rate(it).0),
    Column::words("", |it| rate(it).1.to_owned()),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("bound", "ms", bound),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("of FMA", "%", |it| it.fixed("fma_fraction", 100.0, 0)),
    Column::numbers("of copy", "%", |it| it.fixed("copy_fraction", 100.0, 0)),
    Column::numbers("error", "", error),
    Column::numbers("set-up", "s", set_up),
    Column::numbers("memory", "B/dof", |it| {
        it.fixed("operator_bytes_per_dof", 1.0, 0)
    }),
];

/// The degree, with that upwards if it is another one.
fn degree(record: &Record) -> String {
    let both = ["degree", "vertical_degree"].map(|name| record.text(name));
    match &both {
        [horizontal, vertical] if horizontal == vertical => horizontal.clone(),
        _ => both.join("×"),
    }
}

fn name(record: &Record) -> String {
    match record.text("measured").as_str() {
        "cg_iteration" => format!("{} CG", record.benchmark),
        _ => record.benchmark.to_owned(),
    }
}

/// The stored data with any unusual format, and how shared nodes are summed.
fn data(record: &Record) -> String {
    let mut words = record.text("data_level");
    let factors = record.text("factors");
    if factors != FactorPrecision::Same.name() {
        words += &format!(", factors {factors}");
    }
    if let Some(change) = record.number("perturbation") {
        words += &format!(" (perturbed by {change:.0e})");
    }
    if record.get("fold_coefficients") == json!(false) {
        words += ", coefficients not folded";
    }
    let deterministic = record.text("scatter") == Scatter::Deterministic.name();
    if deterministic && record.device.kind.is_accelerator() {
        words += ", deterministic";
    }
    words
}

/// The rate in the field's unit, with the kind of vectors.
fn rate(record: &Record) -> (String, &'static str) {
    let kinds = [
        (VectorKind::L, 1e-6, 1, "MDOF/s (L)"),
        (VectorKind::E, 1e-9, 4, "Gnodes/s (E)"),
    ];
    if record.get("measured") == json!(Measured::CgIteration) {
        return (record.fixed("rate", 1e-6, 1), "MDOF/s (CG)");
    }
    let vector = record.get("vector");
    let found = kinds.into_iter().find(|(kind, ..)| json!(kind) == vector);
    let (_, scale, digits, unit) = found.unwrap_or(kinds[0]);
    (record.fixed("rate", scale, digits), unit)
}

/// The first bound, and its resource: the first letter of its name.
pub(crate) fn bound(record: &Record) -> String {
    let limit = record.limit.to_string();
    format!("{} {}", record.fixed("bound_seconds", 1e3, 3), &limit[..1])
}

/// The error in one digit.
pub(crate) fn error(record: &Record) -> String {
    let error = record.error.map(|error| format!("{error:.0e}"));
    error.unwrap_or_else(|| "-".to_owned())
}

fn set_up(record: &Record) -> String {
    let parts = ["geometry", "space", "compile", "operator"];
    let seconds = parts.map(|part| record.number(&format!("{part}_seconds")));
    format!("{:.2}", seconds.into_iter().flatten().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{CEILINGS, SAMPLING};
    use crate::{Benchmark, Params, Size, run};
    use femto::{AnyDevice, Host};

    #[test]
    fn only_factors_that_change_are_called_perturbed() {
        let host = AnyDevice::from(Host::with_threads(1).unwrap());
        let params = Params {
            size: Size::Elements(8),
            sampling: SAMPLING,
            ..Params::new(Benchmark::Bp1)
        };
        let mut row = run(&host, &params, &CEILINGS).unwrap();
        assert_eq!(row.get("perturbation"), json!(null));
        row.set("factors", json!("single"));
        assert_eq!(data(&row), "on_the_fly, factors single");
        row.set("perturbation", json!(FactorPrecision::SINGLE_CHANGE));
        assert_eq!(data(&row), "on_the_fly, factors single (perturbed by 6e-8)");
    }
}
