//! `femto bench simplices`

use super::conclude;
use super::options::{self, SAMPLE_SECONDS};
use crate::command::open;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::kernel::scalar::Precision;
use femto::platform::device::{self, DeviceId, DeviceKind};
use femto_bench::Sampling;
use femto_bench::simplices::{Selection, Sweep, run_all};

/// Measure the kernels on triangles and tetrahedra as in Knepley, Rupp, Terrel 2016 (section 6).
///
/// Poisson's equation with a coefficient in the solution's space, and elasticity, at degree 1 on irregular
/// meshes of the unit square and the unit cube; between E-vectors with stored geometry, by Knepley et al.'s
/// thread transposition and other kernels, and between L-vectors. On the host, operators between L-vectors,
/// including the Laplacian.
#[derive(Debug, Args)]
pub(in crate::command) struct Simplices {
    /// The device: `cuda:0`, `opencl:0`, `host`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of host threads, such as `1,2` [default: one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Minimum number of cells of the meshes.
    #[arg(long, default_value = "4e6", value_parser = options::count)]
    cells: usize,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64,fp32", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Measure only the fastest schedules known.
    #[arg(long)]
    best: bool,
    /// Measure only Knepley et al.'s kernel, with the blocks per batch and batches per chunk of its Table
    /// 2.
    #[arg(long, conflicts_with = "best")]
    table2: bool,
    #[command(flatten)]
    common: options::Common,
}

impl Simplices {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let only = "only accelerators have several schedules";
        let is_host = self.device.kind == DeviceKind::Host;
        options::check_meaning(&[
            ("--best", self.best && is_host, only),
            ("--table2", self.table2 && is_host, only),
        ])?;
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
        let options = self.common.run_options(None)?;
        let mut progress = Progress::new(!console.is_json());
        let devices = open(self.device, &self.threads)?;
        let report = run_all(&devices, &sweep, &options, &mut progress)?;
        conclude(report, progress, console)
    }
}
