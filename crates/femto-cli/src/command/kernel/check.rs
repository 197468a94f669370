//! `femto kernel check`

use super::catalog::Selection;
use super::table::{Row, Table};
use super::target::Target;
use super::text::{DATA_LEVELS, Request, Text, VectorKind};
use crate::command::bench::options::{Degrees, named, precision, vary};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::DataLevel;
use femto::kernel::family::Knobs;
use femto::kernel::scalar::Precision;
use femto::platform::device::{self, DeviceError, DeviceId};
use femto_bench::{BenchError, MeshShape, in_parallel};
use std::time::Instant;

/// Compile kernels with a device's own compiler and report the resources they use.
///
/// Options that take lists run every combination; options that do not affect a kernel are ignored. Compiled
/// kernels are cached for operators to use.
#[derive(Debug, Args)]
pub(in crate::command) struct Check {
    /// Kernels: `all`, a name, or part of a name, such as `bk5/layers`, `cubes`, `operators`.
    #[arg(default_value = "all", value_name = "NAME")]
    names: Vec<Selection>,
    /// The device: `cuda:0`, `opencl:0`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Compile for this architecture, such as `sm_90`, with NVIDIA's compiler. Needs neither a device nor a
    /// driver; nothing is cached.
    #[arg(long, value_name = "SM", conflicts_with = "device", value_parser = architecture)]
    arch: Option<String>,
    /// Degrees: numbers and inclusive ranges, such as `1..8` or `2,4..6`.
    #[arg(long, default_value = "7")]
    degree: Degrees,
    /// Precision of the numbers.
    #[arg(long, value_delimiter = ',', default_value = "fp64", value_parser = precision())]
    precision: Vec<Precision>,
    /// The meshes of operators.
    #[arg(
        long, value_delimiter = ',', default_value = "sine",
        value_parser = named(&MeshShape::ALL, MeshShape::name)
    )]
    mesh: Vec<MeshShape>,
    /// The vectors that operators read and write.
    #[arg(
        long, value_delimiter = ',', default_value = "element,nodal",
        value_parser = named(&VectorKind::ALL, VectorKind::name)
    )]
    vectors: Vec<VectorKind>,
    /// What operators store.
    #[arg(
        long, value_delimiter = ',', default_value = "partial,on_the_fly",
        value_parser = named(&DATA_LEVELS, DataLevel::name)
    )]
    data_level: Vec<DataLevel>,
    /// Knobs of operators' kernels, such as `blocks=3+staged=1`; `best` for the measured defaults.
    #[arg(long, value_delimiter = ',', default_value = "best")]
    knobs: Vec<Knobs>,
    /// Recompile kernels that are already cached.
    #[arg(long)]
    fresh: bool,
}

/// A name that NVIDIA's compiler may know: `sm_90`, `sm_90a`.
fn architecture(name: &str) -> Result<String, String> {
    let number = name.strip_prefix("sm_").unwrap_or_default();
    let number = number
        .strip_suffix(|end: char| end.is_ascii_lowercase())
        .unwrap_or(number);
    match !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()) {
        true => Ok(name.to_owned()),
        false => Err("expected an architecture, such as `sm_90`".to_owned()),
    }
}

/// The result of compiling a text.
enum Outcome {
    Rows(Vec<Row>, Vec<String>),
    Illegal(BenchError),
    Failed(DeviceError),
}

impl Check {
    /// Compiles all texts, even if some fail.
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let target = match &self.arch {
            Some(architecture) => Target::compiler(architecture)?,
            None => Target::device(self.device, self.fresh)?,
        };
        let requests = self.requests();
        let mut progress = Progress::new(!console.is_json());
        progress.stage("compiling");
        let outcomes = compile_all(&target, &requests, &progress);
        progress.finish();

        let mut table = Table::new(target.describe());
        for (request, outcome) in requests.iter().zip(outcomes) {
            match outcome {
                Outcome::Rows(rows, warnings) => {
                    table.rows.extend(rows);
                    table.warnings.extend(warnings);
                }
                Outcome::Illegal(rule) => table.illegal.push((request.describe(), rule)),
                Outcome::Failed(error @ DeviceError::Kernel(_)) => {
                    table.failures.push((request.describe(), error));
                }
                // Other errors about the device or the compiler do not depend on the text.
                Outcome::Failed(error) => return Err(error.into()),
            }
        }
        let nothing = table.rows.is_empty() && table.failures.is_empty();
        if nothing && !table.illegal.is_empty() {
            return Err(table.illegal.swap_remove(0).1.into());
        }
        console.report(&table, || table.to_json())?;
        match table.failures.len() {
            0 => Ok(()),
            failed => Err(Failure::Kernels {
                failed,
                all: requests.len(),
            }),
        }
    }

    /// Every combination that gives a different text.
    fn requests(&self) -> Vec<Request> {
        let mut all = Vec::new();
        let kernels = self.names.iter().flat_map(|Selection(kernels)| kernels);
        for &kernel in kernels {
            let request = Request {
                kernel,
                degree: 1,
                precision: Precision::Fp64,
                mesh: MeshShape::Sine,
                vectors: VectorKind::Element,
                data_level: DataLevel::Automatic,
                knobs: Knobs::default(),
            };
            let mut requests = vary(vec![request], &self.precision, |it, x| it.precision = x);
            if kernel.is_of_mesh() {
                requests = vary(requests, &self.mesh, |it, x| it.mesh = x);
                requests = vary(requests, &self.vectors, |it, x| it.vectors = x);
                requests = vary(requests, &self.data_level, |it, x| it.data_level = x);
                requests = vary(requests, &self.knobs, |it, x| it.knobs = x);
            }
            if kernel.has_degree() {
                requests = vary(requests, &self.degree.0, |it, x| it.degree = x);
            }
            all.extend(requests);
        }
        all
    }
}

/// Compiles the texts, on all processors.
fn compile_all(target: &Target, requests: &[Request], progress: &Progress) -> Vec<Outcome> {
    let numbered: Vec<_> = (1..).zip(requests).collect();
    in_parallel(&numbered, |&(number, request)| {
        let all = requests.len();
        progress.detail(|| format!("{number} of {all}, {}", request.describe()));
        compile(target, request)
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "people want to know how long it took"
)]
fn compile(target: &Target, request: &Request) -> Outcome {
    let text: Text = match request.text(target.language(), &target.limits()) {
        Ok(text) => text,
        Err(rule) => return Outcome::Illegal(rule),
    };
    let start = Instant::now();
    match target.compile(&request.describe(), &text) {
        Ok(compiled) => {
            let milliseconds = 1e3 * start.elapsed().as_secs_f64();
            let uses = text.entries.iter().zip(&compiled.usage);
            let rows =
                uses.map(|(entry, usage)| Row::new(request, &text, (entry, usage), milliseconds));
            Outcome::Rows(rows.collect(), compiled.warnings)
        }
        Err(error) => Outcome::Failed(error),
    }
}
