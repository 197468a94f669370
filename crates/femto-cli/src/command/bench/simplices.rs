//! `femto bench simplices`

use super::simplices_host::HostOutcome;
use super::{options, place, threads, write_rows};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::bench::roofline::{self, Measure};
use femto::bench::simplices::{
    Candidate, HostCase, Selection, SimplexCase, SimplexData, SimplexMesh, SimplexRow, candidates,
    compile_all, mark_best, measure_on_host,
};
use femto::bench::{BenchError, Sampling};
use femto::kernel::roofline::{Ceilings, Precision};
use femto::platform::device::host::limit_global_threads;
use femto::platform::device::{self, Accelerator, Device, DeviceId, DeviceKind};
use femto::{Host, Number};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Seconds of a sample at least.
const SAMPLE_SECONDS: f64 = 0.005;

/// Measure the kernels on triangles and tetrahedra, as Knepley, Rupp, Terrel 2016 does (section 6).
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

/// What was measured.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) device: String,
    pub(super) table2: bool,
    pub(super) rows: Vec<SimplexRow>,
    /// What is illegal, and the rule that it breaks.
    pub(super) illegal: Vec<(String, String)>,
    /// What could not be measured, and why.
    pub(super) failures: Vec<(String, BenchError)>,
}

/// What all measurements of a run share.
struct Run<'a> {
    device: &'a Accelerator,
    sampling: Sampling,
    ceilings: Ceilings,
}

impl Simplices {
    /// First meshes are made and all texts compiled; then, per case, all candidates are measured on the
    /// same data. One that fails does not keep the others from being measured.
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        if self.device.kind == DeviceKind::Host {
            return self.run_on_host(console);
        }
        let device = Accelerator::open(self.device)?;
        let mut progress = Progress::new(!console.is_json());
        let meshes = self.meshes(&mut progress)?;
        let mesh = |case: &SimplexCase| &meshes[usize::from(case.dim == 3)];
        let cases: Vec<(SimplexCase, Vec<Candidate>)> = SimplexCase::all(&self.precision)
            .into_iter()
            .map(|case| (case, candidates(&case, self.selection(), mesh(&case))))
            .collect();
        let with_case =
            |(case, of): &(SimplexCase, Vec<Candidate>)| of.iter().map(|&it| (*case, it)).collect();
        let texts: Vec<(SimplexCase, Candidate)> = cases
            .iter()
            .flat_map(|it| -> Vec<_> { with_case(it) })
            .collect();
        progress.stage(format!("compiling {} texts", texts.len()));
        compile_all(&device, &texts, threads());

        progress.stage("ceilings");
        let run = Run {
            device: &device,
            sampling: self.sampling(),
            ceilings: self.ceilings(&device)?,
        };
        let mut outcome = Outcome {
            device: device.info().name,
            table2: self.table2,
            ..Outcome::default()
        };
        for (case, candidates) in &cases {
            progress.stage(case.to_string());
            let inputs = (*case, mesh(case), &candidates[..]);
            match case.precision {
                Precision::Fp64 => run.case::<f64>(inputs, &progress, &mut outcome),
                Precision::Fp32 => run.case::<f32>(inputs, &progress, &mut outcome),
            }
            mark_best(&mut outcome.rows);
            write_rows(self.csv.as_deref(), &outcome.rows)?;
        }
        progress.finish();
        console.report(&outcome, || outcome.to_json(&run.ceilings))?;
        match outcome.failures.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error.into()),
        }
    }

    /// As above, with a row for each case and number of threads.
    fn run_on_host(&self, console: Console) -> Result<(), Failure> {
        if let Some(&most) = self.threads.iter().max() {
            limit_global_threads(most);
        }
        let hosts = match self.threads.is_empty() {
            true => vec![Host::new()?],
            false => {
                let hosts = self.threads.iter();
                let hosts = hosts.map(|&threads| Host::with_threads(threads));
                hosts.collect::<Result<_, _>>()?
            }
        };
        let mut progress = Progress::new(!console.is_json());
        let meshes = self.meshes(&mut progress)?;
        let mut outcome = HostOutcome::default();
        for host in &hosts {
            let place = place(&host.info());
            progress.stage(format!("ceilings, {place}"));
            let ceilings = self.ceilings(host)?;
            outcome.ceilings.push((place.clone(), ceilings));
            for case in HostCase::all(&self.precision) {
                let what = format!("{case}, {place}");
                progress.stage(what.clone());
                let mesh = &meshes[usize::from(case.dim == 3)];
                match measure_on_host(host, &case, mesh, &self.sampling(), &ceilings) {
                    Ok(row) => outcome.rows.push(row),
                    Err(error) => outcome.failures.push((what, error)),
                }
                write_rows(self.csv.as_deref(), &outcome.rows)?;
            }
        }
        progress.finish();
        console.report(&outcome, || outcome.to_json())?;
        match outcome.failures.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error.into()),
        }
    }

    /// Triangles and tetrahedra.
    fn meshes(&self, progress: &mut Progress) -> Result<[SimplexMesh; 2], Failure> {
        progress.stage("meshes");
        Ok([
            SimplexMesh::new(2, self.cells)?,
            SimplexMesh::new(3, self.cells)?,
        ])
    }

    fn sampling(&self) -> Sampling {
        Sampling {
            samples: self.nreps as usize,
            seconds: SAMPLE_SECONDS,
        }
    }

    fn ceilings<D: Measure>(&self, device: &D) -> Result<Ceilings, Failure> {
        Ok(match self.kept {
            true => roofline::ceilings(device)?.ceilings,
            false => device.measure()?,
        })
    }

    fn selection(&self) -> Selection {
        match (self.best, self.table2) {
            (true, _) => Selection::Best,
            (_, true) => Selection::Table2,
            _ => Selection::All,
        }
    }
}

impl Run<'_> {
    /// All candidates of a case on the same data.
    fn case<T: Number>(
        &self,
        (case, mesh, candidates): (SimplexCase, &SimplexMesh, &[Candidate]),
        progress: &Progress,
        outcome: &mut Outcome,
    ) {
        let mut data = match SimplexData::<T>::new(self.device, case, mesh) {
            Ok(data) => data,
            Err(error) => {
                outcome.failures.push((case.to_string(), error));
                return;
            }
        };
        for candidate in candidates {
            let what = format!("{case}, {}", candidate.schedule);
            progress.detail(|| candidate.schedule.to_string());
            match data.measure(candidate, &self.sampling, &self.ceilings) {
                Ok(row) => outcome.rows.push(row),
                Err(BenchError::Illegal(rule)) => outcome.illegal.push((what, rule.to_string())),
                Err(error) => outcome.failures.push((what, error)),
            }
        }
    }
}

impl Outcome {
    fn to_json(&self, ceilings: &Ceilings) -> Value {
        let illegal = |(what, rule): &(String, String)| json!({ "what": what, "rule": rule });
        let failure = |(what, error): &(String, BenchError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "device": self.device,
            "ceilings": ceilings,
            "rows": self.rows,
            "illegal": self.illegal.iter().map(illegal).collect::<Value>(),
            "failures": self.failures.iter().map(failure).collect::<Value>(),
        })
    }
}
