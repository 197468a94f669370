//! Rows of the benchmark on simplices for people.

use super::simplices::Outcome;
use femto::bench::simplices::SimplexRow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

const COLUMNS: usize = 15;

const TITLES: [&str; COLUMNS] = [
    "case", "kernel", "time", "rate", "rate", "eq. 7", "eq. 6", "of copy", "moved", "of bound",
    "to model", "to CSR", "regs", "error", "schedule",
];

const UNITS: [&str; COLUMNS] = [
    "", "", "us", "Gcells/s", "GDOF/s", "GFLOP/s", "GB/s", "%", "GB/s", "%", "%", "times", "", "",
    "",
];

impl Display for Outcome {
    /// The fastest of each kernel, or Table 2 of Knepley et al.; all rows are in the CSV file.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.table2 {
            true => self.write_table2(f)?,
            false => self.write_fastest(f)?,
        }
        for (what, rule) in &self.illegal {
            writeln!(f, "illegal: {what}: {rule}")?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        write!(
            f,
            "{}; {} rows; time: median of device times; eq. 6, 7: bytes and flops by Knepley, Rupp, Terrel 2016, and their \
             bytes at the rate of a copy; moved, of bound: all bytes that must move, by the ceilings; to \
             model: how much longer than those at the rate of a copy; to CSR: speed against what the \
             ceilings allow an assembled matrix; error: largest difference from the oracle, relative",
            self.device,
            self.rows.len()
        )
    }
}

fn case(row: &SimplexRow) -> String {
    let SimplexRow {
        form,
        dim,
        precision,
        ..
    } = row;
    format!("{form} {dim}-D {precision}")
}

impl Outcome {
    fn write_fastest(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut fastest: Vec<&SimplexRow> = Vec::new();
        for row in &self.rows {
            let key = |it: &SimplexRow| (case(it), it.vectors, it.kernel);
            match fastest.iter_mut().find(|it| key(it) == key(row)) {
                Some(known) if known.seconds <= row.seconds => {}
                Some(known) => *known = row,
                None => fastest.push(row),
            }
        }
        let head = [TITLES, UNITS].map(|line| line.map(str::to_owned));
        let lines = fastest.into_iter().map(cells);
        let lines: Vec<_> = head.into_iter().chain(lines).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            let mut columns = line.iter().zip(widths).enumerate();
            columns.try_for_each(|(n, (text, width))| match n {
                0 | 1 => write!(f, "{text:<width$}  "),
                14 => writeln!(f, "{text}"),
                _ => write!(f, "{text:>width$}  "),
            })?;
        }
        Ok(())
    }

    /// GFLOP/s by equation 7, blocks per batch down, batches per chunk across.
    fn write_table2(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut tables: BTreeMap<String, BTreeMap<(u32, u32), f64>> = BTreeMap::new();
        for row in &self.rows {
            if let (Some(blocks), Some(batches)) = (row.blocks_per_batch, row.batches_per_chunk) {
                let table = tables.entry(case(row)).or_default();
                table.insert((blocks, batches), row.knepley_flop_rate);
            }
        }
        for (case, table) in &tables {
            let mut batches: Vec<u32> = table.keys().map(|&(_, batches)| batches).collect();
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
}

fn cells(row: &SimplexRow) -> [String; COLUMNS] {
    let giga = |value: f64| format!("{:.1}", value * 1e-9);
    let percent = |fraction: f64| format!("{:.0}", fraction * 100.0);
    let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let together = match (row.data_together, row.vectors_together) {
        (1, 1) => String::new(),
        (data, vectors) => format!(", {data} and {vectors} cells together"),
    };
    [
        case(row),
        format!(
            "{} {}{}",
            row.vectors,
            row.kernel,
            if row.best { " *" } else { "" }
        ),
        format!("{:.1}", row.seconds * 1e6),
        format!("{:.3}", row.cell_rate * 1e-9),
        known(row.dof_rate.map(|it| format!("{:.3}", it * 1e-9))),
        giga(row.knepley_flop_rate),
        known(row.knepley_byte_rate.map(giga)),
        known(row.knepley_fraction.map(percent)),
        giga(row.byte_rate),
        percent(row.fraction),
        percent(row.deviation),
        known(row.csr_ratio.map(|it| format!("{it:.2}"))),
        known(row.registers.map(|it| it.to_string())),
        format!("{:.0e}", row.error),
        format!("{}{together}", row.schedule),
    ]
}
