//! `femto bench tetrahedra`

use super::options::{self, Degrees};
use super::{SAMPLE_SECONDS, conclude};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::kernel::scalar::Precision;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{self, DeviceId};
use femto_bench::tetrahedra::{Sweep, run_all};
use femto_bench::{RunOptions, Sampling};
use std::path::PathBuf;

/// Measure the published ladder on affine tetrahedra, on random factors and E-vectors.
///
/// Screened Poisson's equation by the matrices of the reference cell, as A. Karakus, T. Warburton et al. evaluate it
/// ("Finite Element Stiffness Matrix Action: monolithic kernel optimization on Titan V", 2018), and by femto's own
/// schedules.
#[derive(Debug, Args)]
pub(in crate::command) struct Tetrahedra {
    /// The device: `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Steps of the ladder, from 0 to 10 [default: all].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=10))]
    steps: Vec<u8>,
    /// Degrees: numbers and inclusive ranges, such as `1..8` or `2,4..6`.
    #[arg(long, default_value = "1..8")]
    degree: Degrees,
    /// Numbers of elements.
    #[arg(long, value_delimiter = ',', default_value = "320000", value_parser = options::count)]
    elements: Vec<usize>,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64,fp32", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// Elements of a thread of steps 7 to 10 [default: as published].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    per_thread: Vec<u32>,
    /// Elements side by side in a block of steps 8 to 10 [default: as published].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    aside: Vec<u32>,
    /// Also measure femto's own schedules, with this many columns unrolled; 0 unrolls all.
    #[arg(long, value_delimiter = ',')]
    unroll: Vec<u32>,
    /// Also measure femto's own schedules for matrix units, with this many warps a block.
    #[arg(long, value_delimiter = ',')]
    warps: Vec<u32>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Use ceilings from an earlier run of `femto roofline`, if any.
    #[arg(long)]
    kept: bool,
    /// Also write the rows to a CSV file, updated after every degree.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Tetrahedra {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let steps = match &self.steps[..] {
            [] => (0..=10).collect(),
            steps => steps.iter().map(|&step| step.into()).collect(),
        };
        let sweep = Sweep {
            steps,
            degrees: self.degree.0.clone(),
            elements: self.elements.clone(),
            precisions: self.precision.clone(),
            per_thread: self.per_thread.clone(),
            aside: self.aside.clone(),
            unroll: self.unroll.clone(),
            warps: self.warps.clone(),
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
        };
        let options = RunOptions {
            kept_ceilings: self.kept,
            csv: self.csv.clone(),
        };
        let device = Accelerator::open(self.device)?;
        let mut progress = Progress::new(!console.is_json());
        let report = run_all(&device, &sweep, &options, &mut progress)?;
        conclude(report, progress, console)
    }
}
