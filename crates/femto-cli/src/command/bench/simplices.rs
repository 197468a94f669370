//! `femto bench simplices`

use super::{SAMPLE_SECONDS, conclude, options};
use crate::command::open;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::kernel::roofline::Precision;
use femto::platform::device::{self, DeviceId};
use femto_bench::simplices::{Selection, Sweep, run_all};
use femto_bench::{RunOptions, Sampling};
use std::path::PathBuf;

/// Measure the kernels on triangles and tetrahedra, as Knepley, Rupp, Terrel 2016 do (section 6).
///
/// Poisson's equation with a coefficient in the solution's space, and elasticity, at degree 1 on
/// irregular meshes of the unit square and the unit cube; from E-vectors to E-vectors with stored
/// geometry, by Knepley et al.'s thread transposition and others, and from L-vectors to L-vectors. On the host
/// operators from L-vectors to L-vectors, of the Laplacian too.
#[derive(Debug, Args)]
pub(in crate::command) struct Simplices {
    /// The device: `cuda:0`, `opencl:0`, `host`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of threads of the host, such as `1,2` [default: one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// How many cells the meshes have at least.
    #[arg(long, default_value = "4e6", value_parser = options::count)]
    cells: usize,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64,fp32", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// Samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Only the schedules that were best so far.
    #[arg(long)]
    best: bool,
    /// Only Knepley et al.'s kernel, for the blocks per batch and batches per chunk of its Table 2.
    #[arg(long, conflicts_with = "best")]
    table2: bool,
    /// Take ceilings from an earlier run of `femto roofline` where there are some.
    #[arg(long)]
    kept: bool,
    /// Also write the rows to a CSV file, anew after every case.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Simplices {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let sweep = Sweep {
            cells: self.cells,
            precisions: self.precision.clone(),
            selection: match (self.best, self.table2) {
                (true, _) => Selection::Best,
                (_, true) => Selection::Table2,
                _ => Selection::All,
            },
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
        };
        let options = RunOptions {
            kept_ceilings: self.kept,
            csv: self.csv.clone(),
        };
        let mut progress = Progress::new(!console.is_json());
        let devices = open(self.device, &self.threads)?;
        let report = run_all(&devices, &sweep, &options, &mut progress)?;
        conclude(report, progress, console)
    }
}
