//! `femto bench`

mod helmholtz;
pub(super) mod options;
mod simplices;
mod tet;

use super::open;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::{Args, Subcommand};
use femto::kernel::scalar::Precision;
use femto::platform::device::{self, Accelerator, DeviceId};
use femto::{DataLevel, FactorPrecision, Knobs, Scatter};
use femto_bench::ladder::figure::{self, Point};
use femto_bench::ladder::{self, select};
use femto_bench::{Benchmark, Measured, MeshShape, Params, Report, Sampling, Size, run_all};
use options::{Degrees, SAMPLE_SECONDS, vary};
use serde_json::json;
use std::fmt::Display;
use std::path::PathBuf;

/// Measure the field's benchmarks and compare them with the machine's limits.
///
/// BP1 to BP6 are CEED's bake-off problems on L-vectors, with gather and scatter; BK1, BK3 and BK5 are the
/// element-local kernels. Options that take lists run every combination. Ceilings are measured in the same
/// run. Ctrl-C, SIGTERM or SIGHUP stop it after the current measurement, with the rows that it has; a second
/// signal stops it immediately.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Bench {
    #[command(subcommand)]
    other: Option<Other>,
    /// The benchmarks to measure.
    #[arg(required = true, value_name = "BENCHMARK", value_parser = options::benchmark())]
    benchmarks: Vec<Benchmark>,
    /// Degrees: numbers and inclusive ranges, such as `1..8` or `2,4..6`.
    #[arg(long, default_value = "1..8")]
    degree: Degrees,
    /// Approximate length of the vectors, such as `1.5e6` [default: 1.5e6].
    #[arg(long, value_delimiter = ',', value_parser = options::count, conflicts_with = "elements", allow_negative_numbers = true)]
    dofs: Vec<usize>,
    /// Approximate number of elements instead, such as `4096`; `large` for 5e7 entries.
    #[arg(long, value_delimiter = ',', value_parser = options::elements)]
    elements: Vec<Size>,
    /// The mesh: affine (box), trilinear (sine) or curved hexahedra; affine tetrahedra; prisms in columns between
    /// hills (columns) or in flat layers (layers).
    #[arg(
        long, value_delimiter = ',', default_value = "sine",
        value_parser = options::named(&MeshShape::ALL, MeshShape::name)
    )]
    mesh: Vec<MeshShape>,
    /// Layers of the meshes of columns; others have none [default: 50].
    #[arg(long, value_delimiter = ',', value_parser = options::layers())]
    layers: Vec<usize>,
    /// Vertical degrees, on the meshes columns and layers [default: as --degree].
    #[arg(long)]
    vertical_degree: Option<Degrees>,
    /// What is stored: coefficients of maps, factors at points, a matrix per element, or one sparse matrix.
    #[arg(
        long, value_delimiter = ',', default_value = "automatic",
        value_parser = options::named(&DataLevel::ALL, DataLevel::name)
    )]
    data_level: Vec<DataLevel>,
    /// How accelerators store factors at points: in the precision of the arithmetic, or in single
    /// precision, which changes each factor, and so the operator, by up to 6e-8 of itself.
    #[arg(
        long, value_delimiter = ',', default_value = "same",
        value_parser = options::named(&FactorPrecision::ALL, FactorPrecision::name)
    )]
    factors: Vec<FactorPrecision>,
    /// Knobs of an accelerator's kernel on hexahedra or columns that replace the measured defaults, such as
    /// `blocks=3+staged=1`; `best` for the defaults.
    #[arg(long, value_delimiter = ',', default_value = "best")]
    knobs: Vec<Knobs>,
    /// Fold the coefficients of forms λ u, κ ∇u into the geometry, or take them once a cell; `false` evaluates forms as
    /// written, printed on accelerators.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    fold_coefficients: bool,
    /// Also apply the operator once to the interpolant u of sin(x + c) + y z, c = 0, 1, 2 the component, and
    /// record uᵀAu (`energy`) and ‖Au‖ (`norm`), which other codes must reproduce.
    #[arg(long)]
    probe: bool,
    /// How accelerators sum shared nodes; the host's sums are always deterministic.
    #[arg(
        long, value_delimiter = ',', default_value = "atomic",
        value_parser = options::named(&[Scatter::Atomic, Scatter::Deterministic], Scatter::name)
    )]
    scatter: Vec<Scatter>,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// The device: `host`, `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "host", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of host threads, such as `1,2` [default: one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Measure iterations of conjugate gradients (Jacobi) instead of operator applications.
    #[arg(long)]
    cg: bool,
    /// Measure steps of the published ladders of BK1, BK5 and BK3 on random factors: all, or those whose
    /// name contains this, such as `bk5/layers/7`, `cubes` [default size: large].
    #[arg(
        long, value_name = "STEP", value_delimiter = ',', num_args = 0..=1, require_equals = true,
        default_missing_value = "all", conflicts_with_all = ["cg", "threads", "mesh", "layers", "vertical_degree", "data_level", "factors", "knobs", "fold_coefficients", "probe", "scatter"]
    )]
    ladder: Option<Vec<String>>,
    /// Also draw the ladders as an SVG or PNG file: TFLOP/s against degree, with both rooflines.
    #[arg(long, value_name = "FILE", value_parser = options::figure, requires = "ladder", conflicts_with_all = ["cg", "threads"])]
    figure: Option<PathBuf>,
    /// Draw the rows of earlier `--csv` files instead of measuring: those of the benchmarks and steps. Options of
    /// measurements are refused.
    #[arg(
        long, value_name = "FILE", value_delimiter = ',', requires = "figure",
        conflicts_with_all = ["degree", "dofs", "elements", "precision", "device", "nreps", "compile_first", "kept", "csv"]
    )]
    from: Vec<PathBuf>,
    /// Compile all of an accelerator's kernels first, on all threads; rows then lack the compile time.
    /// Ladders are always compiled this way.
    #[arg(long)]
    compile_first: bool,
    #[command(flatten)]
    common: options::Common,
}

/// Benchmarks with their own options.
#[derive(Debug, Subcommand)]
enum Other {
    Helmholtz(helmholtz::Helmholtz),
    Simplices(simplices::Simplices),
    Tet(Box<tet::Tet>),
}

impl Bench {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        match &self.other {
            Some(Other::Helmholtz(helmholtz)) => return helmholtz.run(console),
            Some(Other::Simplices(simplices)) => return simplices.run(console),
            Some(Other::Tet(tet)) => return tet.run(console),
            None => {}
        }
        if let Some(names) = &self.ladder {
            return match self.from.is_empty() {
                true => self.run_ladder(names, console),
                false => self.draw_stored(names, console),
            };
        }
        let has_columns = self.mesh.iter().any(|mesh| mesh.has_columns());
        let compiles = self.device.kind.is_accelerator();
        options::check_meaning(&[
            (
                "--layers",
                !self.layers.is_empty() && !has_columns,
                "only the meshes columns and layers have layers",
            ),
            (
                "--vertical-degree",
                self.vertical_degree.is_some() && !has_columns,
                "only the meshes columns and layers may have another degree vertically",
            ),
            (
                "--compile-first",
                self.compile_first && !compiles,
                "only accelerators compile kernels",
            ),
        ])?;
        let (all, options) = (self.params(), self.common.run_options(None)?);
        let devices = open(self.device, &self.threads)?;
        let mut progress = Progress::new(!console.is_json());
        let report = run_all(&devices, &all, self.compile_first, &options, &mut progress)?;
        conclude(report, progress, console)
    }

    fn no_step(&self, names: &[String]) -> Failure {
        let benchmarks: Vec<&str> = self.benchmarks.iter().map(|it| it.name()).collect();
        Failure::NoStep {
            benchmarks: benchmarks.join(", "),
            names: names.join(","),
        }
    }

    fn run_ladder(&self, names: &[String], console: Console) -> Result<(), Failure> {
        let sweep = ladder::Sweep {
            steps: select(&self.benchmarks, names).ok_or_else(|| self.no_step(names))?,
            degrees: self.degree.0.clone(),
            sizes: self.sizes(Size::LARGE),
            precisions: self.precision.clone(),
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
        };
        let options = self.common.run_options(self.figure.as_deref())?;
        let device = Accelerator::open(self.device)?;
        let mut progress = Progress::new(!console.is_json());
        let mut report = ladder::run_all(&device, &sweep, &options, &mut progress)?;
        if let (Some(path), false) = (&self.figure, report.records.is_empty()) {
            let points: Vec<Point> = report.records.iter().filter_map(Point::of).collect();
            report.note("the figure".to_owned(), figure::draw(&points, path));
        }
        conclude(report, progress, console)
    }

    /// Draws the requested steps' rows from files.
    fn draw_stored(&self, names: &[String], console: Console) -> Result<(), Failure> {
        let steps = select(&self.benchmarks, names).ok_or_else(|| self.no_step(names))?;
        let mut points: Vec<Point> = options::stored_rows(&self.from, self.figure.as_deref())?;
        let mut ladders: Vec<String> = points.iter().map(|it| it.ladder().to_owned()).collect();
        points.retain(|point| point.is_of(&steps));
        if points.is_empty() {
            ladders.sort_unstable();
            ladders.dedup();
            let found = format!(", only other steps of {}", ladders.join(", "));
            return Err(options::no_rows(&self.from, found));
        }
        if let Some(path) = &self.figure {
            figure::draw(&points, path)?;
        }
        let (rows, files) = (points.len(), self.from.len());
        let text = format!("drawn: {rows} rows of {files} files");
        console.report(text, || json!({ "rows": rows }))
    }

    /// Every combination, with degrees varying fastest.
    fn params(&self) -> Vec<Params> {
        let start = Params {
            measured: match self.cg {
                true => Measured::CgIteration,
                false => Measured::Application,
            },
            sampling: Sampling {
                samples: self.nreps as usize,
                ..Sampling::default()
            },
            fold_coefficients: self.fold_coefficients,
            probe: self.probe,
            ..Params::new(Benchmark::Bp1)
        };
        let sizes = self.sizes(start.size);
        let all = vary(vec![start], &self.benchmarks, |it, x| it.benchmark = x);
        let all = vary(all, &self.mesh, |it, x| it.mesh = x);
        let layers: &[usize] = match &self.layers[..] {
            [] => &[start.layers],
            layers => layers,
        };
        let all = vary(all, layers, |it, x| {
            if it.mesh.has_columns() {
                it.layers = x;
            }
        });
        let all = vary(all, &self.precision, |it, x| it.precision = x);
        let all = vary(all, &self.data_level, |it, x| it.data_level = x);
        let all = vary(all, &self.factors, |it, x| it.factors = x);
        let all = vary(all, &self.knobs, |it, x| it.knobs = x);
        let all = vary(all, &self.scatter, |it, x| it.scatter = x);
        let all = vary(all, &sizes, |it, x| it.size = x);
        let all = vary(all, &self.degree.0, |it, x| it.degree = x.into());
        let mut all = match &self.vertical_degree {
            None => all,
            Some(Degrees(vertical)) => vary(all, vertical, |it, x| {
                if it.mesh.has_columns() {
                    it.degree.vertical = x;
                }
            }),
        };
        // Values may be listed twice, and meshes without columns are the same for all numbers of layers.
        let mut known = Vec::new();
        all.retain(|it| {
            let is_new = !known.contains(it);
            known.extend(is_new.then_some(*it));
            is_new
        });
        all
    }

    fn sizes(&self, default: Size) -> Vec<Size> {
        let dofs = self.dofs.iter().map(|&dofs| Size::Dofs(dofs));
        let sizes: Vec<_> = dofs.chain(self.elements.iter().copied()).collect();
        if sizes.is_empty() {
            vec![default]
        } else {
            sizes
        }
    }
}

/// Prints a report; a signal that ended it, or else its first failure, becomes the command's.
fn conclude(report: Report, mut progress: Progress, console: Console) -> Result<(), Failure> {
    progress.finish();
    console.report(&report, || report.to_json())?;
    if let Some(signal) = report.stopped() {
        let rows = report.records.len();
        return Err(Failure::Interrupted { rows, signal });
    }
    report
        .into_result()
        .map_err(|error| Failure::Measured(Box::new(error)))
}

impl femto_bench::Progress for Progress {
    fn stage(&mut self, name: String) {
        Progress::stage(self, name);
    }

    fn detail(&mut self, what: &dyn Display) {
        Progress::detail(self, || what.to_string());
    }
}
