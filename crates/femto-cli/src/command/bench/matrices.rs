//! `femto bench matrices`

use super::options::{self, Degrees};
use super::{SAMPLE_SECONDS, conclude};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::kernel::scalar::Precision;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{self, DeviceId};
use femto_bench::matrices::{Sweep, run_all};
use femto_bench::{RunOptions, Sampling};
use std::path::PathBuf;

/// Measure products with stored matrices of elements, on random matrices and E-vectors of tetrahedra.
///
/// The kernels of A. Karakus, T. Warburton et al. ("Finite Element Stiffness Matrix Action: to precompute or not to
/// precompute", 2018), and femto's own: full matrices and triangles of symmetric ones, several right-hand sides.
#[derive(Debug, Args)]
pub(in crate::command) struct Matrices {
    /// The device: `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Steps of the ladder, from 0 to 2 [default: all].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=2))]
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
    /// Elements of a block [default: as published, or femto's own].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    aside: Vec<u32>,
    /// Columns that femto's own schedules unroll; 0 unrolls all.
    #[arg(long, value_delimiter = ',')]
    unroll: Vec<u32>,
    /// Whether femto's own schedules prefetch matrices into the L2 cache.
    #[arg(long, value_delimiter = ',')]
    prefetch: Vec<bool>,
    /// Right-hand sides of femto's own schedules.
    #[arg(long, value_delimiter = ',', default_value = "1,3", value_parser = clap::value_parser!(u8).range(1..=8))]
    sides: Vec<u8>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Use ceilings from an earlier run of `femto roofline`, if any.
    #[arg(long)]
    kept: bool,
    /// Also write the rows to a CSV file, updated after every row.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Matrices {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let steps = match &self.steps[..] {
            [] => (0..=2).collect(),
            steps => steps.iter().map(|&step| step.into()).collect(),
        };
        let sweep = Sweep {
            steps,
            degrees: self.degree.0.clone(),
            elements: self.elements.clone(),
            precisions: self.precision.clone(),
            aside: self.aside.clone(),
            unroll: self.unroll.clone(),
            prefetch: self.prefetch.clone(),
            sides: self.sides.iter().map(|&sides| sides.into()).collect(),
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
