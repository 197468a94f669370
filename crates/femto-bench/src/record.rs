//! A measurement as a record: parameters, time, work, and bounds from the ceilings.

use crate::BenchError;
use crate::Timing;
use femto_kernel::roofline::{Ceilings, Limit, Work, bound};
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceInfo;
use femto_platform::device::accelerator::Usage;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

/// A named value specific to some benchmarks.
pub type Entry = (&'static str, Value);

/// The result of a measurement; serialised flat, as a line of a CSV file.
///
/// Seconds, bytes, flops and rates are plain numbers without prefixes.
#[derive(Clone, Debug)]
pub struct Record {
    /// The benchmark: `bp5`, `bk1`, `simplices`.
    pub benchmark: &'static str,
    /// Further parameters: sizes, mesh, form, storage.
    pub setting: Vec<Entry>,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// The kernel's schedule.
    pub schedule: String,
    /// The device.
    pub device: DeviceInfo,
    /// Seconds of one application or iteration.
    pub timing: Timing,
    /// Quantities for rates, by column name.
    pub counts: Vec<(&'static str, Option<usize>)>,
    /// The largest difference from the oracle, or the host, relative to the largest entry; `None` if
    /// nothing was compared.
    pub error: Option<f64>,
    /// Bytes that one application must move, and its flops.
    pub work: Work,
    /// The resource that sets the first bound.
    pub limit: Limit,
    /// The shortest seconds allowed by each model, by name: `bound` for the ceilings, `copy` for a copy of
    /// as many bytes, `fma` for the flops only, and those of the benchmark.
    pub bounds: Vec<(&'static str, Option<f64>)>,
    /// The ceilings of the device.
    pub ceilings: Ceilings,
    /// Further results.
    pub extras: Vec<Entry>,
}

/// The values measured by every benchmark.
pub(crate) struct Outcome {
    pub(crate) precision: Precision,
    pub(crate) device: DeviceInfo,
    pub(crate) timing: Timing,
    pub(crate) error: Option<f64>,
    pub(crate) work: Work,
    pub(crate) ceilings: Ceilings,
}

/// Columns of a compiled kernel: resources, bytes of shared memory of a block, and what it took to compile.
pub(crate) fn kernel_columns(usage: Usage, block_bytes: u32, compile_seconds: f64) -> [Entry; 4] {
    [
        ("registers", json!(usage.registers)),
        ("local_bytes", json!(usage.local_bytes)),
        ("block_shared_bytes", json!(block_bytes)),
        ("compile_seconds", json!(compile_seconds)),
    ]
}

impl Record {
    /// The record, unless its result is wrong. Factors rounded to single precision change results by 10⁻⁷.
    ///
    /// # Errors
    /// [`BenchError::Wrong`]
    pub(crate) fn checked(self, what: &str) -> Result<Self, BenchError> {
        let tolerance = match self.precision {
            Precision::Fp64 => 1e-5,
            Precision::Fp32 => 1e-3,
        };
        match self.error {
            Some(error) if error.is_nan() || error > tolerance => Err(BenchError::Wrong {
                what: what.to_owned(),
                error,
                tolerance,
            }),
            _ => Ok(self),
        }
    }

    pub(crate) fn new(benchmark: &'static str, outcome: Outcome) -> Self {
        let (work, ceilings) = (outcome.work, outcome.ceilings);
        let bound = bound(&work, &ceilings, outcome.precision);
        let counted = work.wavefronts.counted();
        Self {
            benchmark,
            setting: Vec::new(),
            precision: outcome.precision,
            schedule: String::new(),
            device: outcome.device,
            timing: outcome.timing,
            counts: Vec::new(),
            error: outcome.error,
            limit: bound.limit,
            bounds: vec![
                ("bound", Some(bound.seconds)),
                ("copy", Some(work.bytes() as f64 / ceilings.copy)),
                ("fma", Some(bound.flop_seconds)),
                ("wavefronts", counted.map(|_| bound.wavefront_seconds)),
            ],
            work,
            ceilings,
            extras: Vec::new(),
        }
    }

    /// Sets a column of the setting.
    pub(crate) fn set(&mut self, column: &str, value: Value) {
        if let Some(found) = self.setting.iter_mut().find(|(name, _)| *name == column) {
            found.1 = value;
        }
    }

    /// Sets a bound, or adds one.
    pub(crate) fn set_bound(&mut self, name: &'static str, seconds: Option<f64>) {
        self.bounds.retain(|(known, _)| *known != name);
        self.bounds.push((name, seconds));
    }

    /// Seconds of one application or iteration: the median of the samples.
    pub fn seconds(&self) -> f64 {
        self.timing.median
    }

    /// The shortest seconds allowed by a model.
    pub fn bound_seconds(&self, name: &str) -> Option<f64> {
        let mut bounds = self.bounds.iter();
        bounds.find(|(known, _)| *known == name)?.1
    }

    /// `bound_seconds / seconds`, never clamped.
    pub fn fraction(&self, name: &str) -> Option<f64> {
        Some(self.bound_seconds(name)? / self.seconds())
    }

    /// All columns, in the order of a CSV file.
    pub fn columns(&self) -> Vec<(String, Value)> {
        let (seconds, timing, work) = (self.seconds(), &self.timing, &self.work);
        let mut all = vec![("benchmark".to_owned(), json!(self.benchmark))];
        let mut put = |entries: &[Entry]| {
            let entries = entries.iter().cloned();
            all.extend(entries.map(|(name, value)| (name.to_owned(), value)));
        };
        put(&self.setting);
        put(&[
            ("precision", json!(self.precision)),
            ("schedule", json!(self.schedule)),
            ("device", json!(self.device.id().to_string())),
            ("device_name", json!(self.device.name)),
            ("samples", json!(timing.samples)),
            ("repeats", json!(timing.repeats)),
            ("seconds", json!(seconds)),
            ("seconds_min", json!(timing.min)),
            ("seconds_max", json!(timing.max)),
            ("spread", json!(timing.spread())),
        ]);
        for &(name, count) in &self.counts {
            put(&[(name, json!(count.map(|count| count as f64 / seconds)))]);
        }
        let counted = work.wavefronts.counted();
        put(&[
            ("error", json!(self.error)),
            ("bytes_read", json!(work.bytes_read)),
            ("bytes_written", json!(work.bytes_written)),
            ("shared_bytes", json!(work.shared_bytes)),
            ("wavefronts_shared", json!(counted.map(|it| it.shared))),
            ("wavefronts_global", json!(counted.map(|it| it.global))),
            (
                "wavefronts_reductions",
                json!(counted.map(|it| it.reductions)),
            ),
            ("flops", json!(work.flops)),
            ("flop_rate", json!(work.flops as f64 / seconds)),
            ("byte_rate", json!(work.bytes() as f64 / seconds)),
            ("limit", json!(self.limit.to_string())),
            ("bound_seconds", json!(self.bound_seconds("bound"))),
            ("fraction", json!(self.fraction("bound"))),
        ]);
        for &(name, seconds) in self.bounds.iter().filter(|(name, _)| *name != "bound") {
            all.push((format!("{name}_seconds"), json!(seconds)));
            all.push((format!("{name}_fraction"), json!(self.fraction(name))));
        }
        let ceilings = &self.ceilings;
        let rates = [
            ("copy", ceilings.copy),
            ("read", ceilings.read),
            ("write", ceilings.write),
            ("fma", ceilings.fma(self.precision)),
        ];
        all.extend(rates.map(|(name, rate)| (format!("ceiling_{name}"), json!(rate))));
        let extras = self.extras.iter().cloned();
        all.extend(extras.map(|(name, value)| (name.to_owned(), value)));
        all
    }

    /// The value of a column; null if it does not exist.
    pub fn get(&self, column: &str) -> Value {
        let mut columns = self.columns().into_iter();
        let found = columns.find(|(name, _)| name == column);
        found.map_or(Value::Null, |(_, value)| value)
    }

    /// The number in a column, if it has one.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column).as_f64()
    }

    /// A column's value as in a CSV file.
    pub fn text(&self, column: &str) -> String {
        text(&self.get(column))
    }

    /// The number in a column times `scale`, with `digits` digits; `-` if there is none.
    pub fn fixed(&self, column: &str, scale: f64, digits: usize) -> String {
        let number = self.number(column);
        number.map_or_else(
            || "-".to_owned(),
            |number| format!("{:.digits$}", number * scale),
        )
    }
}

/// A value without quotes; empty for null.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.columns() {
            map.serialize_entry(&name, &value)?;
        }
        map.end()
    }
}
