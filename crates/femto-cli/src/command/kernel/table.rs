//! The table of kernel resources, as text and JSON.

use super::text::{Request, Text};
use femto::kernel::scalar::Precision;
use femto::platform::device::DeviceError;
use femto::platform::device::accelerator::Usage;
use femto_bench::BenchError;
use femto_bench::table::{self, Column};
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
    mesh: Option<&'static str>,
    vectors: Option<&'static str>,
    data_level: Option<&'static str>,
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
        let of_mesh = |word: &'static str| kernel.is_of_mesh().then_some(word);
        Self {
            kernel: kernel.to_string(),
            entry: entry.to_owned(),
            degree: kernel.has_degree().then_some(request.degree),
            precision: request.precision,
            mesh: of_mesh(request.mesh.name()),
            vectors: of_mesh(request.vectors.name()),
            data_level: of_mesh(request.data_level.name()),
            schedule: text.schedule.clone(),
            threads: text.block.threads,
            shared_bytes: text.shared_bytes.max(usage.shared_bytes.unwrap_or(0)),
            registers: usage.registers,
            local_bytes: usage.local_bytes,
            milliseconds,
        }
    }
}

impl Request {
    /// Name, sizes and data, such as `operators/bp5, degree 7, fp64, sine, nodal vectors, on_the_fly`.
    pub(super) fn describe(&self) -> String {
        let mut words = vec![self.kernel.to_string()];
        if self.kernel.has_degree() {
            words.push(format!("degree {}", self.degree));
        }
        words.push(self.precision.to_string());
        if self.kernel.is_of_mesh() {
            words.push(self.mesh.name().to_owned());
            words.push(format!("{} vectors", self.vectors.name()));
            words.push(self.data_level.name().to_owned());
        }
        words.join(", ")
    }
}

/// The results of `femto kernel check`.
pub(super) struct Table {
    target: String,
    pub(super) rows: Vec<Row>,
    /// Texts that the device cannot run, and the rule that each breaks.
    pub(super) illegal: Vec<(String, BenchError)>,
    /// Texts that do not compile.
    pub(super) failures: Vec<(String, DeviceError)>,
    pub(super) warnings: Vec<String>,
}

const COLUMNS: &[Column<Row>] = &[
    Column::words("kernel", |it| it.kernel.clone()),
    Column::numbers("degree", "", |it| or_dash(it.degree)),
    Column::words("numbers", |it| it.precision.to_string()),
    Column::words("data", |it| {
        let data = [it.mesh, it.vectors, it.data_level];
        let words: Option<Vec<_>> = data.into_iter().collect();
        or_dash(words.map(|words| words.join(", ")))
    }),
    Column::words("entry", |it| it.entry.clone()),
    Column::numbers("registers", "", |it| or_dash(it.registers)),
    Column::numbers("spilled", "B", |it| or_dash(it.local_bytes)),
    Column::numbers("shared", "B", |it| it.shared_bytes.to_string()),
    Column::numbers("threads", "", |it| {
        it.threads.iter().product::<u32>().to_string()
    }),
    Column::numbers("ms", "", |it| format!("{:.1}", it.milliseconds)),
];

fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

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
        let illegal =
            |(what, rule): &(String, BenchError)| json!({ "what": what, "rule": rule.to_string() });
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
        if !self.rows.is_empty() {
            table::write(f, COLUMNS, &self.rows)?;
        }
        for (what, rule) in self.illegal.iter().take(SHOWN) {
            writeln!(f, "not legal: {what}: {rule}")?;
        }
        if let Some(more @ 1..) = self.illegal.len().checked_sub(SHOWN) {
            writeln!(f, "not legal: {more} more")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        f.write_str(&self.target)
    }
}
