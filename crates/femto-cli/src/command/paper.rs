//! `femto paper`

use super::bench::options::{self, Degrees, SAMPLE_SECONDS};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{self, DeviceId};
use femto_bench::Sampling;
use femto_bench::paper::{Paper as Text, PaperParams};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Make the figures and tables of a published text anew, on a device.
///
/// Everything goes into one folder: tables and measured rows as CSV, each figure as SVG and PNG with its points as CSV.
/// Rates above a roofline are drawn as measured.
#[derive(Debug, Args)]
pub(super) struct Paper {
    /// The text.
    #[arg(value_name = "NAME", value_parser = options::paper())]
    name: Text,
    /// The device: `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// The folder [default: the text's name].
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Degrees, of hexahedra and tetrahedra: numbers and inclusive ranges, such as `1..8` [default: as published].
    #[arg(long)]
    degree: Option<Degrees>,
    /// Numbers of elements; of simplices, the least number of cells of a mesh; of prisms, of triangles
    /// [default: as published].
    #[arg(long, value_delimiter = ',', value_parser = options::count)]
    elements: Vec<usize>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Use ceilings from an earlier run of `femto roofline`, if any.
    #[arg(long)]
    kept: bool,
}

impl Paper {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        options::check_meaning(&[(
            "--degree",
            self.degree.is_some() && !self.name.has_degrees(),
            "this text has one degree",
        )])?;
        let device = Accelerator::open(self.device)?;
        let name = self.name.name();
        let folder = self.folder.clone().unwrap_or_else(|| name.into());
        let params = PaperParams {
            degrees: self.degree.clone().map_or_else(Vec::new, |it| it.0),
            elements: self.elements.clone(),
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
            kept_ceilings: self.kept,
        };
        let mut progress = Progress::new(!console.is_json());
        let made = self.name.make(&device, &folder, &params, &mut progress)?;
        progress.finish();
        let mut text = self.name.title().to_owned();
        for report in &made.reports {
            for (what, error) in &report.failures {
                _ = write!(text, "\nfailed: {what}: {error}");
            }
        }
        for file in &made.files {
            _ = write!(text, "\n{}", file.display());
        }
        let reports = || {
            made.reports
                .iter()
                .map(|it| it.to_json())
                .collect::<Vec<_>>()
        };
        let files = || {
            let files = made.files.iter();
            files.map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        console.report(text, || {
            json!({ "paper": name, "title": self.name.title(), "files": files(), "reports": reports() })
        })?;
        let mut reports = made.reports.into_iter();
        reports.try_for_each(|report| {
            report
                .into_result()
                .map_err(|error| Failure::Measured(Box::new(error)))
        })
    }
}
