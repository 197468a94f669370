//! `femto bench`

mod figure;
mod ladder;
mod ladder_table;
pub(super) mod options;
mod simplices;
mod simplices_host;
mod simplices_table;
mod table;

use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::{Args, Subcommand};
use femto::bench::roofline::Measure;
use femto::bench::{
    Benchmark, Measured, MeshShape, Params, Sampling, Size, Testbed, compile_all, roofline,
};
use femto::kernel::roofline::{Ceilings, Precision};
use femto::platform::device::host::limit_global_threads;
use femto::platform::device::{self, Accelerator, DeviceError, DeviceId, DeviceInfo, DeviceKind};
use femto::platform::files::write_atomic;
use femto::{DataLevel, FactorPrecision, Host, Knobs, Scatter};
use options::Degrees;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use table::Table;

/// Measure the field's benchmarks, and say how close they come to what the machine allows.
///
/// BP1 to BP6 are CEED's bake-off problems on L-vectors, with gather and scatter; BK1, BK3 and BK5
/// the element-local kernels. A list in any option means every combination. Ceilings are measured
/// in the same run.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Bench {
    #[command(subcommand)]
    other: Option<Other>,
    /// What to measure.
    #[arg(required = true, value_name = "BENCHMARK", value_parser = options::benchmark())]
    benchmarks: Vec<Benchmark>,
    /// Degrees: numbers and ranges with both ends, such as `1..8` or `2,4..6`.
    #[arg(long, default_value = "1..8")]
    degree: Degrees,
    /// About how many entries the vectors should have, such as `1.5e6` [default: 1.5e6].
    #[arg(long, value_delimiter = ',', value_parser = options::count, conflicts_with = "elements")]
    dofs: Vec<usize>,
    /// How many elements instead, such as `4096`; `large` for 5e7 entries.
    #[arg(long, value_delimiter = ',', value_parser = options::elements)]
    elements: Vec<Size>,
    /// The mesh: affine, trilinear or curved hexahedra.
    #[arg(long, value_delimiter = ',', default_value = "sine", value_parser = options::mesh())]
    mesh: Vec<MeshShape>,
    /// How much of the geometry is stored.
    #[arg(long, value_delimiter = ',', default_value = "automatic", value_parser = options::data_level())]
    data_level: Vec<DataLevel>,
    /// How accelerators store factors at points: as all numbers, or in single precision, which changes
    /// each factor, and so the operator, by up to 6e-8 of itself.
    #[arg(long, value_delimiter = ',', default_value = "same", value_parser = options::factors())]
    factors: Vec<FactorPrecision>,
    /// Knobs of an accelerator's kernel in place of the measured ones, such as `blocks=3+staged=1`; `best`
    /// for none.
    #[arg(long, value_delimiter = ',', default_value = "best")]
    knobs: Vec<Knobs>,
    /// Fold the coefficients of forms λ u, κ ∇u into the geometry; `false` evaluates forms as they are
    /// written, printed on accelerators.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    fold_coefficients: bool,
    /// How accelerators sum shared nodes; the host's sums are always deterministic.
    #[arg(long, value_delimiter = ',', default_value = "atomic", value_parser = options::scatter())]
    scatter: Vec<Scatter>,
    /// Precision of vectors and arithmetic.
    #[arg(long, value_delimiter = ',', default_value = "fp64", value_parser = options::precision())]
    precision: Vec<Precision>,
    /// The device: `host`, `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "host", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of threads of the host, such as `1,2` [default: one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Samples; the median is reported.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    /// Measure iterations of conjugate gradients (Jacobi) instead of applications of the operator.
    #[arg(long)]
    cg: bool,
    /// Measure steps of the published ladders of BK1, BK5 and BK3 on random factors: all, or those
    /// with this name or part of it, such as `bk5/layers/7`, `cubes` [default size: large].
    #[arg(
        long, value_name = "STEP", value_delimiter = ',', num_args = 0..=1, require_equals = true,
        default_missing_value = "all", conflicts_with_all = ["cg", "threads", "mesh", "data_level", "factors", "knobs", "fold_coefficients", "scatter"]
    )]
    ladder: Option<Vec<String>>,
    /// Also draw the ladders as an SVG file: TFLOP/s over the degree and both rooflines.
    #[arg(long, value_name = "FILE", requires = "ladder", conflicts_with_all = ["cg", "threads"])]
    figure: Option<PathBuf>,
    /// Draw what `--csv` wrote earlier, and measure nothing.
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        requires = "figure",
        conflicts_with = "csv"
    )]
    from: Vec<PathBuf>,
    /// Have an accelerator compile all kernels first, on all threads; the time to compile is then not
    /// in the rows. Ladders are always compiled so.
    #[arg(long)]
    compile_first: bool,
    /// Take ceilings from an earlier run of `femto roofline` where there are some.
    #[arg(long)]
    kept: bool,
    /// Also write the rows to a CSV file, anew after every row.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Benchmarks with options of their own.
#[derive(Debug, Subcommand)]
enum Other {
    Simplices(simplices::Simplices),
}

impl Bench {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        if let Some(Other::Simplices(simplices)) = &self.other {
            return simplices.run(console);
        }
        if let Some(&most) = self.threads.iter().max() {
            limit_global_threads(most);
        }
        if let Some(steps) = &self.ladder {
            return match self.from.is_empty() {
                true => self.run_ladder(steps, console),
                false => self.draw_stored(steps, console),
            };
        }
        match self.device.kind {
            DeviceKind::Host => self.run_on(&self.hosts()?, console),
            DeviceKind::Null => {
                let (device, what) = (self.device.kind.name(), "be timed: it does nothing");
                Err(DeviceError::Unsupported { device, what }.into())
            }
            DeviceKind::Cuda | DeviceKind::OpenCl => {
                self.run_on(&[Accelerator::open(self.device)?], console)
            }
        }
    }

    /// First all parameters are checked; then, per device, ceilings and row after row. A row that
    /// fails does not keep the others from being measured.
    fn run_on<D: Testbed>(&self, devices: &[D], console: Console) -> Result<(), Failure> {
        let all = self.params();
        for device in devices {
            all.iter().try_for_each(|params| params.check(device))?;
        }
        let mut progress = Progress::new(!console.is_json());
        let mut table = Table::default();
        for device in devices {
            let info = device.info();
            let place = place(&info);
            if self.compile_first {
                progress.stage("compiling");
                compile_all(device, &all, threads());
            }
            progress.stage(format!("ceilings, {place}"));
            let ceilings = self.ceilings(device)?;
            table.ceilings.push((place.clone(), ceilings));
            let (mut bench, before) = (femto::bench::Bench::default(), table.rows.len());
            // Where each of this device's rows belongs.
            let mut places: Vec<usize> = Vec::new();
            for index in by_problem(&all) {
                let params = &all[index];
                let what = describe(params, &place);
                progress.stage(what.clone());
                match bench.run(device, params, &ceilings) {
                    Ok(row) => {
                        let at = places.partition_point(|&other| other < index);
                        places.insert(at, index);
                        table.rows.insert(before + at, row);
                    }
                    Err(error) => table.failures.push((what, error)),
                }
                self.write_csv(&table.rows)?;
            }
        }
        progress.finish();
        let device = devices.first().map(|device| device.info());
        console.report(&table, || table.to_json(device.as_ref()))?;
        match table.failures.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error.into()),
        }
    }

    fn hosts(&self) -> Result<Vec<Host>, Failure> {
        if self.threads.is_empty() {
            return Ok(vec![Host::new()?]);
        }
        let hosts = self
            .threads
            .iter()
            .map(|&threads| Host::with_threads(threads));
        Ok(hosts.collect::<Result<_, _>>()?)
    }

    fn ceilings<D: Measure>(&self, device: &D) -> Result<Ceilings, Failure> {
        Ok(match self.kept {
            true => roofline::ceilings(device)?.ceilings,
            false => device.measure()?,
        })
    }

    /// Every combination, degrees fastest.
    fn params(&self) -> Vec<Params> {
        let measured = match self.cg {
            true => Measured::CgIteration,
            false => Measured::Application,
        };
        let sampling = Sampling {
            samples: self.nreps as usize,
            ..Sampling::default()
        };
        let mut all = Vec::new();
        for &benchmark in &self.benchmarks {
            let start = Params {
                measured,
                sampling,
                ..Params::new(benchmark)
            };
            for &mesh in &self.mesh {
                for &precision in &self.precision {
                    let start = Params {
                        mesh,
                        precision,
                        ..start
                    };
                    self.extend_storages(&start, &mut all);
                }
            }
        }
        all
    }

    /// All ways of `start` to store, to compute and to sum.
    fn extend_storages(&self, start: &Params, all: &mut Vec<Params>) {
        for &data_level in &self.data_level {
            for &factors in &self.factors {
                let start = Params {
                    data_level,
                    factors,
                    fold_coefficients: self.fold_coefficients,
                    ..*start
                };
                self.extend_kernels(&start, all);
            }
        }
    }

    /// All knobs and ways to sum of `start`.
    fn extend_kernels(&self, start: &Params, all: &mut Vec<Params>) {
        for &knobs in &self.knobs {
            for &scatter in &self.scatter {
                let start = Params {
                    knobs,
                    scatter,
                    ..*start
                };
                self.extend_sizes(&start, all);
            }
        }
    }

    /// All sizes and degrees of `start`.
    fn extend_sizes(&self, start: &Params, all: &mut Vec<Params>) {
        for size in self.sizes(start.size) {
            let degrees = self.degree.0.iter();
            all.extend(degrees.map(|&degree| Params {
                degree,
                size,
                ..*start
            }));
        }
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

    fn write_csv(&self, rows: &[impl Serialize]) -> Result<(), Failure> {
        write_rows(self.csv.as_deref(), rows)
    }
}

/// Writes rows to a CSV file, if there shall be one.
fn write_rows(path: Option<&Path>, rows: &[impl Serialize]) -> Result<(), Failure> {
    let Some(path) = path else {
        return Ok(());
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| Failure::Print(error.into_error()))?;
    Ok(write_atomic(path, &bytes)?)
}

/// Indices of all measurements, those on the same mesh and space one after the other.
fn by_problem(all: &[Params]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(all.len());
    for (index, params) in all.iter().enumerate() {
        let alike = |&other: &usize| all[other].has_problem_of(params);
        let at = order
            .iter()
            .rposition(alike)
            .map_or(order.len(), |at| at + 1);
        order.insert(at, index);
    }
    order
}

/// Threads that compile at the same time.
fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The device in a few words: `threads 2` on the host, `cuda:0`.
fn place(device: &DeviceInfo) -> String {
    match device.kind {
        DeviceKind::Host => format!("threads {}", device.threads),
        _ => device.id().to_string(),
    }
}

fn describe(params: &Params, place: &str) -> String {
    let Params {
        benchmark,
        degree,
        mesh,
        data_level,
        precision,
        ..
    } = params;
    let (mesh, data_level) = (mesh.name(), data_level.name());
    format!("{benchmark} degree {degree}, {mesh}, {data_level}, {precision}, {place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_on_one_mesh_follow_each_other() {
        let params = |degree, data_level| Params {
            degree,
            data_level,
            ..Params::new(Benchmark::Bp5)
        };
        let (fly, stored) = (DataLevel::OnTheFly, DataLevel::Partial);
        let all = [
            params(1, fly),
            params(2, fly),
            params(1, stored),
            params(2, stored),
            params(1, DataLevel::Automatic),
        ];
        assert_eq!(by_problem(&all), [0, 2, 4, 1, 3]);
        assert_eq!(by_problem(&[]), [] as [usize; 0]);
    }
}
