//! Reports: records, failures and ceilings, as text, JSON and CSV.

use crate::record::text;
use crate::{BenchError, Record};
use femto_fem::io::write_file;
use femto_kernel::roofline::Ceilings;
use femto_platform::device::DeviceInfo;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a benchmark's records are displayed.
#[derive(Clone, Copy)]
pub(crate) struct View {
    /// Writes the tables.
    pub(crate) tables: fn(&[Record], &mut Formatter<'_>) -> fmt::Result,
    /// An explanation of the columns.
    pub(crate) legend: &'static str,
}

/// Receives the progress of a run.
pub trait Progress {
    /// A new stage begins.
    fn stage(&mut self, name: String);
    /// The current item of the stage.
    fn detail(&mut self, what: &dyn Display);
}

/// Where the ceilings of a run come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CeilingsFrom {
    /// They are measured.
    #[default]
    Measurement,
    /// An earlier measurement, if any.
    Kept,
    /// An earlier run on the same device.
    Run(Ceilings),
}

/// Options of any run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The ceilings.
    pub ceilings: CeilingsFrom,
    /// CSV file for the records, updated as they come.
    pub csv: Option<PathBuf>,
    /// The number of a signal, at which the run ends after the current measurement; 0 for none.
    pub interrupt: Arc<AtomicUsize>,
}

/// The results of a run.
pub struct Report {
    view: View,
    csv: Option<PathBuf>,
    interrupt: Arc<AtomicUsize>,
    /// The signal, once measurements were left out for it.
    stopped: Option<u8>,
    device: Option<DeviceInfo>,
    /// The successful measurements.
    pub records: Vec<Record>,
    /// Illegal schedules, and the rule that each breaks.
    pub illegal: Vec<(String, String)>,
    /// Failed measurements, and why.
    pub failures: Vec<(String, BenchError)>,
    /// By device, or number of threads.
    pub ceilings: Vec<(String, Ceilings)>,
}

impl Report {
    pub(crate) fn new(view: View, options: &RunOptions) -> Self {
        Self {
            view,
            csv: options.csv.clone(),
            interrupt: Arc::clone(&options.interrupt),
            stopped: None,
            device: None,
            records: Vec::new(),
            illegal: Vec::new(),
            failures: Vec::new(),
            ceilings: Vec::new(),
        }
    }

    /// Sets the device, and its ceilings, of the next records.
    pub(crate) fn begin(&mut self, info: DeviceInfo, ceilings: Ceilings) {
        self.ceilings.push((label(&info), ceilings));
        self.device.get_or_insert(info);
    }

    /// Records the result of a measurement. Rates of wrong results are failures.
    pub(crate) fn add(&mut self, what: String, result: Result<Record, BenchError>) {
        match result.and_then(|record| record.checked(&what)) {
            Ok(record) => self.records.push(record),
            Err(BenchError::Illegal(rule)) => self.illegal.push((what, rule.to_string())),
            Err(error) => self.failures.push((what, error)),
        }
    }

    /// Records the results of a measurement with several records.
    pub(crate) fn add_all(&mut self, what: String, result: Result<Vec<Record>, BenchError>) {
        match result {
            Ok(records) => {
                for record in records {
                    self.add(what.clone(), Ok(record));
                }
            }
            Err(error) => self.add(what, Err(error)),
        }
    }

    /// Writes the CSV file, if requested, once there are records. If that fails measurements go on without it.
    pub(crate) fn save(&mut self) {
        let (Some(path), Some(first)) = (&self.csv, self.records.first()) else {
            return;
        };
        let written = write_csv(path, |writer| {
            writer.write_record(first.columns().iter().map(|(name, _)| name))?;
            self.records.iter().try_for_each(|record| {
                writer.write_record(record.columns().iter().map(|(_, value)| text(value)))
            })
        });
        let path = path.display().to_string();
        if self.note(path, written) {
            self.csv = None;
        }
    }

    /// Whether a signal asks to leave out what has not been measured yet, which [`Report::stopped`] then says.
    pub(crate) fn stops(&mut self) -> bool {
        let signal = self.interrupt.load(Ordering::Relaxed);
        self.stopped = (signal > 0).then_some(signal as u8);
        self.stopped.is_some()
    }

    /// The signal that ended the run early, if there was one.
    pub fn stopped(&self) -> Option<u8> {
        self.stopped
    }

    /// The CSV file that was requested, but not written for lack of records.
    pub(crate) fn unwritten(&self) -> Option<&Path> {
        self.csv.as_deref().filter(|_| self.records.is_empty())
    }

    /// Records a failure beside the measurements, if there is one; returns whether there is.
    pub fn note(&mut self, what: String, result: Result<(), BenchError>) -> bool {
        let failed = result.is_err();
        self.failures
            .extend(result.err().map(|error| (what, error)));
        failed
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let (device, ceilings) = (self.device.as_ref(), self.ceilings.iter());
        let illegal = |(what, rule): &(String, String)| json!({ "what": what, "rule": rule });
        let failure = |(what, error): &(String, BenchError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "device": device.map(|info| &info.name),
            "processor": device.map(|info| &info.name),
            "simd": device.map(|info| info.simd),
            "ceilings": ceilings.map(|(_, ceilings)| ceilings).collect::<Vec<_>>(),
            "rows": self.records,
            "illegal": self.illegal.iter().map(illegal).collect::<Value>(),
            "failures": self.failures.iter().map(failure).collect::<Value>(),
            "interrupted": self.stopped.is_some(),
        })
    }

    /// The first failure, if there is one.
    ///
    /// # Errors
    /// That failure.
    pub fn into_result(self) -> Result<(), BenchError> {
        match self.failures.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
    }
}

/// Writes a CSV file.
///
/// # Errors
/// Rows of different lengths; the file cannot be written.
pub(crate) fn write_csv(
    path: &Path,
    fill: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>,
) -> Result<(), BenchError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    fill(&mut writer)?;
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(write_file(path, &bytes)?)
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (self.view.tables)(&self.records, f)?;
        for (what, rule) in &self.illegal {
            writeln!(f, "illegal: {what}: {rule}")?;
        }
        for (what, error) in &self.failures {
            writeln!(f, "failed: {what}: {error}")?;
        }
        for (label, ceilings) in &self.ceilings {
            let giga = |rate: f64| rate * 1e-9;
            let [copy, read, write] = [ceilings.copy, ceilings.read, ceilings.write].map(giga);
            let [fp64, fp32] = [ceilings.fma_fp64, ceilings.fma_fp32].map(giga);
            writeln!(
                f,
                "ceilings, {label}: copy {copy:.1}, read {read:.1}, write {write:.1} GB/s; \
                 FMA {fp64:.1} fp64, {fp32:.1} fp32 GFLOP/s"
            )?;
        }
        let device = self.device.as_ref().map_or("", |info| &info.name);
        let rows = self.records.len();
        write!(f, "{device}; {rows} rows; {}", self.view.legend)
    }
}

/// The device in a few words: `threads 2` on the host, `cuda:0`.
pub(crate) fn label(device: &DeviceInfo) -> String {
    match device.kind {
        femto_platform::device::DeviceKind::Host => format!("threads {}", device.threads),
        _ => device.id().to_string(),
    }
}
