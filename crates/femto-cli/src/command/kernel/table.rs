//! The table of kernel resources, as text and JSON.

use super::text::{Request, Text};
use femto::kernel::scalar::Precision;
use femto::operator::OperatorError;
use femto::platform::device::DeviceError;
use femto::platform::device::accelerator::Usage;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};

/// One kernel in a text.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    kernel: String,
    /// Its name in the text.
    entry: String,
    degree: Option<usize>,
    precision: Precision,
    vectors: Option<&'static str>,
    storage: Option<&'static str>,
    schedule: Option<String>,
    /// Threads of a block along x, y and z.
    threads: [u32; 3],
    /// Shared memory of a block.
    shared_bytes: u32,
    /// 32-bit registers per thread.
    registers: Option<u32>,
    /// Bytes of slow memory per thread: spilled registers, arrays.
    local_bytes: Option<u32>,
    /// Milliseconds to compile the whole text, or to fetch it from the cache.
    milliseconds: f64,
}

impl Row {
    pub(super) fn new(
        request: &Request,
        text: &Text,
        (entry, usage): (&str, &Usage),
        milliseconds: f64,
    ) -> Self {
        let kernel = request.kernel;
        let has_data = kernel.has_data();
        Self {
            kernel: kernel.to_string(),
            entry: entry.to_owned(),
            degree: kernel.has_degree().then_some(request.degree),
            precision: request.precision,
            vectors: has_data.then_some(request.vectors.name()),
            storage: has_data.then_some(request.stored.name()),
            schedule: text.schedule.clone(),
            threads: text.block.threads,
            shared_bytes: text.shared_bytes.max(usage.shared_bytes.unwrap_or(0)),
            registers: usage.registers,
            local_bytes: usage.local_bytes,
            milliseconds,
        }
    }

    /// The columns, as text.
    fn cells(&self) -> [String; COLUMNS] {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let data = self.vectors.zip(self.storage);
        [
            self.kernel.clone(),
            or_dash(self.degree.map(|degree| degree.to_string())),
            self.precision.to_string(),
            or_dash(data.map(|(vectors, storage)| format!("{vectors}, {storage}"))),
            self.entry.clone(),
            or_dash(self.registers.map(|count| count.to_string())),
            or_dash(self.local_bytes.map(|bytes| bytes.to_string())),
            self.shared_bytes.to_string(),
            self.threads.iter().product::<u32>().to_string(),
            format!("{:.1}", self.milliseconds),
        ]
    }
}

impl Request {
    /// Name, sizes and data, such as `pencils/bk5, degree 7, fp64, nodal vectors, multilinear`.
    pub(super) fn describe(&self) -> String {
        let mut words = vec![self.kernel.to_string()];
        if self.kernel.has_degree() {
            words.push(format!("degree {}", self.degree));
        }
        words.push(self.precision.to_string());
        if self.kernel.has_data() {
            words.push(format!("{} vectors", self.vectors.name()));
            words.push(self.stored.name().to_owned());
        }
        words.join(", ")
    }
}

/// The results of `femto kernel check`.
pub(super) struct Table {
    target: String,
    pub(super) rows: Vec<Row>,
    /// Texts that the device cannot run, and the rule that each breaks.
    pub(super) illegal: Vec<(String, OperatorError)>,
    /// Texts that do not compile.
    pub(super) failures: Vec<(String, DeviceError)>,
    pub(super) warnings: Vec<String>,
}

const COLUMNS: usize = 10;

const TITLES: [&str; COLUMNS] = [
    "kernel",
    "degree",
    "numbers",
    "data",
    "entry",
    "registers",
    "spilled",
    "shared",
    "threads",
    "ms",
];

/// Columns of words, which are left-aligned.
const WORDS: [bool; COLUMNS] = [
    true, false, true, true, true, false, false, false, false, false,
];

/// Maximum number of lines shown of each kind of message.
const SHOWN: usize = 5;

impl Table {
    pub(super) fn new(target: String) -> Self {
        Self {
            target,
            rows: Vec::new(),
            illegal: Vec::new(),
            failures: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let illegal = |(what, rule): &(String, OperatorError)| json!({ "what": what, "rule": rule.to_string() });
        let failure = |(what, error): &(String, DeviceError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "target": self.target,
            "rows": self.rows,
            "illegal": self.illegal.iter().map(illegal).collect::<Value>(),
            "failures": self.failures.iter().map(failure).collect::<Value>(),
            "warnings": self.warnings,
        })
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)?;
        if !self.rows.is_empty() {
            let lines = [TITLES.map(str::to_owned)].into_iter();
            let lines: Vec<_> = lines.chain(self.rows.iter().map(Row::cells)).collect();
            let width = |column: usize| lines.iter().map(|cells| cells[column].len()).max();
            let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).unwrap_or(0));
            for cells in &lines {
                line(f, cells, &widths)?;
            }
        }
        for (what, rule) in self.illegal.iter().take(SHOWN) {
            write!(f, "\nnot legal: {what}: {rule}")?;
        }
        if let Some(more @ 1..) = self.illegal.len().checked_sub(SHOWN) {
            write!(f, "\nnot legal: {more} more")?;
        }
        for warning in &self.warnings {
            write!(f, "\nwarning: {warning}")?;
        }
        for (what, error) in &self.failures {
            write!(f, "\nfailed: {what}: {error}")?;
        }
        Ok(())
    }
}

fn line(f: &mut Formatter<'_>, cells: &[String], widths: &[usize]) -> fmt::Result {
    let columns = cells.iter().zip(widths).zip(WORDS);
    let columns = columns.map(|((cell, &width), is_word)| match is_word {
        true => format!("{cell:<width$}"),
        false => format!("{cell:>width$}"),
    });
    let line = columns.collect::<Vec<_>>().join("  ");
    write!(f, "\n{}", line.trim_end())
}
