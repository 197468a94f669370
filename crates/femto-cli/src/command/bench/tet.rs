//! `femto bench tet`

use super::conclude;
use super::options::{self, Degrees, SAMPLE_SECONDS};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::kernel::scalar::Precision;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{self, DeviceId};
use femto_bench::Sampling;
use femto_bench::tet::figure::{self, Point};
use femto_bench::tet::{Stored, Sweep, Tuning, run_all};
use serde_json::json;
use std::path::PathBuf;

/// Measure affine tetrahedra with stored factors and with stored matrices, and tell which is faster.
///
/// Screened Poisson's equation on random E-vectors, by the published ladders (A. Karakus, T. Warburton et al., "Finite
/// Element Stiffness Matrix Action: monolithic kernel optimization on Titan V" and "… to precompute or not to
/// precompute", 2018) and by femto's own schedules.
#[derive(Debug, Args)]
pub(in crate::command) struct Tet {
    /// The device: `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// What an element stores: factors of the reference cell's matrices, its matrix, or a triangle of it.
    #[arg(
        long, value_delimiter = ',', default_value = "factors,full,triangle",
        value_parser = options::named(&Stored::ALL, Stored::name)
    )]
    stored: Vec<Stored>,
    /// Steps of the ladders, from 0 to 10 with factors, to 2 with full matrices [default: all].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=10))]
    steps: Vec<u8>,
    /// Degrees: numbers and inclusive ranges, such as `1..8` or `2,4..6`.
    #[arg(long, default_value = "1..8")]
    degree: Degrees,
    /// Numbers of elements.
    #[arg(long, value_delimiter = ',', default_value = "100000", value_parser = options::count)]
    elements: Vec<usize>,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64,fp32", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// Right-hand sides, of femto's own schedules.
    #[arg(long, value_delimiter = ',', default_value = "1,3", value_parser = clap::value_parser!(u8).range(1..=8))]
    sides: Vec<u8>,
    /// Elements of a thread, for factors [default: as published].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    per_thread: Vec<u32>,
    /// Elements side by side in a block [default: as published, or femto's own].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    aside: Vec<u32>,
    /// Columns that femto's own schedules unroll, with factors only those with a row per thread; 0 unrolls all
    /// [default: femto's own].
    #[arg(long, value_delimiter = ',')]
    unroll: Vec<u32>,
    /// Warps of a block of femto's own schedules for matrix units, for factors [default: femto's own].
    #[arg(long, value_delimiter = ',')]
    warps: Vec<u32>,
    /// Whether femto's own schedules prefetch matrices into the L2 cache [default: femto's own].
    #[arg(long, value_delimiter = ',')]
    prefetch: Vec<bool>,
    /// Blocks for which a multiprocessor shall have registers, with factors of steps from 7 on and of schedules that
    /// `--unroll` asks for; 0 leaves registers to the compiler [default: femto's own].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=32))]
    blocks_per_unit: Vec<u32>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    #[command(flatten)]
    common: options::Common,
    /// Also draw an SVG or PNG file: work per second by step with both rooflines, all kernels from best to worst, rates
    /// against size, and beside their bounds.
    #[arg(long, value_name = "FILE", value_parser = options::figure)]
    figure: Option<PathBuf>,
    /// Draw all rows of earlier `--csv` files instead of measuring. Options of measurements are refused.
    #[arg(
        long, value_name = "FILE", value_delimiter = ',', requires = "figure",
        conflicts_with_all = [
            "device", "stored", "steps", "degree", "elements", "precision", "sides", "per_thread", "aside", "unroll",
            "warps", "prefetch", "blocks_per_unit", "nreps", "kept", "csv",
        ]
    )]
    from: Vec<PathBuf>,
}

impl Tet {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        if let (Some(path), false) = (&self.figure, self.from.is_empty()) {
            let points: Vec<Point> = options::stored_rows(&self.from, Some(path))?;
            figure::draw(&points, path)?;
            let shown = path.display();
            return console.report(
                format!("{shown}: {} rows", points.len()),
                || json!({ "figure": shown.to_string(), "rows": points.len() }),
            );
        }
        self.check_meaning()?;
        let steps = match &self.steps[..] {
            [] => (0..=10).collect(),
            steps => steps.iter().map(|&step| step.into()).collect(),
        };
        let sweep = Sweep {
            stored: self.stored.clone(),
            steps,
            degrees: self.degree.0.clone(),
            elements: self.elements.clone(),
            precisions: self.precision.clone(),
            sides: self.sides.iter().map(|&sides| sides.into()).collect(),
            tuning: Tuning {
                per_thread: self.per_thread.clone(),
                aside: self.aside.clone(),
                unroll: self.unroll.clone(),
                warps: self.warps.clone(),
                prefetch: self.prefetch.clone(),
                blocks_per_unit: self.blocks_per_unit.clone(),
            },
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
        };
        let options = self.common.run_options(self.figure.as_deref())?;
        let device = Accelerator::open(self.device)?;
        let mut progress = Progress::new(!console.is_json());
        let mut report = run_all(&device, &sweep, &options, &mut progress)?;
        if let (Some(path), false) = (&self.figure, report.records.is_empty()) {
            let points: Vec<Point> = report.records.iter().filter_map(Point::of).collect();
            report.note("the figure".to_owned(), figure::draw(&points, path));
        }
        conclude(report, progress, console)
    }

    /// Fails for options of what is not measured.
    fn check_meaning(&self) -> Result<(), Failure> {
        let has = |stored| self.stored.contains(&stored);
        let has_matrices = has(Stored::Full) || has(Stored::Triangle);
        let is_idle = |step: &u8| match step {
            0..=2 => !has(Stored::Factors) && !has(Stored::Full),
            _ => !has(Stored::Factors),
        };
        let (factors, matrices) = ("only factors have it", "only matrices have it");
        options::check_meaning(&[
            (
                "--steps",
                !self.steps.is_empty() && !self.sides.contains(&1),
                "steps have one right-hand side, which --sides leaves out",
            ),
            (
                "--steps",
                self.steps.iter().any(is_idle),
                "factors have steps 0 to 10, full matrices 0 to 2, triangles none",
            ),
            (
                "--per-thread",
                !self.per_thread.is_empty() && !has(Stored::Factors),
                factors,
            ),
            (
                "--warps",
                !self.warps.is_empty() && !has(Stored::Factors),
                factors,
            ),
            (
                "--prefetch",
                !self.prefetch.is_empty() && !has_matrices,
                matrices,
            ),
        ])
    }
}
