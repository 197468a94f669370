//! `femto solve`

use super::interrupt::Interrupt;
use crate::case::{Case, Document};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::solve::{self, Options, OutputTo, Report, Solver, Status};
use clap::Args;
use femto::platform::device::host::start_global_threads;
use femto::platform::device::{self, DeviceId};
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Solve the problem described by a case file, and report the performance relative to the machine's limits.
///
/// Ctrl-C, SIGTERM or SIGHUP stop it after the current iteration; the output then holds the last iterate. A
/// second signal stops it immediately.
#[derive(Debug, Args)]
pub(super) struct Solve {
    /// The case, in TOML. All keys are documented in docs/case.md.
    case: PathBuf,
    /// Set a value of the case, overriding the file: `space.degree=3`, `mesh.file=part.msh`; paths are relative to the
    /// case. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The device, overriding the case: `host`, `cuda:0`, `opencl:0`, ...; `null` only counts the work.
    #[arg(long, value_parser = device::parse)]
    device: Option<DeviceId>,
    /// Write the solution to this file, overriding the case.
    #[arg(long, value_name = "FILE.vtu")]
    output: Option<PathBuf>,
    /// Do not write the solution.
    #[arg(long, conflicts_with = "output")]
    no_output: bool,
    /// Also write the sparse matrix and the right-hand side of the linear equations into this folder, as `matrix.mtx` and
    /// `right-hand-side.mtx`, with the nodes in `positions.mtx`, in the MatrixMarket format.
    #[arg(long, value_name = "FOLDER")]
    system: Option<PathBuf>,
    /// Do not measure the operator's performance relative to the machine's limits, for which NVIDIA's GPUs also run its
    /// kernels once with calls that count their accesses to memory.
    #[arg(long)]
    no_roofline: bool,
    /// Print the full explanation of the operator, and what each level of multigrid costs.
    #[arg(short = 'v', long)]
    explain: bool,
}

impl Solve {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let options = Options {
            device: self.device,
            output: match &self.output {
                _ if self.no_output => OutputTo::Nowhere,
                Some(path) => OutputTo::File(path.clone()),
                None => OutputTo::Case,
            },
            system: self.system.clone(),
            roofline: !self.no_roofline,
            levels: self.explain,
        };
        let case = Case::parse(Document::read(&self.case)?.with_settings(&self.set)?)?;
        start_global_threads(case.run.threads)?;
        let interrupt = Interrupt::listen().flag;
        let mut progress = Progress::new(!console.is_json());
        let report = solve::run(&case, &options, &mut progress, &interrupt)?.report;
        progress.finish();
        let text = Text {
            report: &report,
            explain: self.explain,
        };
        console.report(text, || to_json(&report))?;
        let message = report.message.unwrap_or_default();
        match report.status {
            Status::Converged | Status::Counted if report.is_output_lost => {
                Err(Failure::Unwritten { message })
            }
            Status::Converged | Status::Counted => Ok(()),
            _ => Err(Failure::Unsolved { message }),
        }
    }
}

struct Text<'a> {
    report: &'a Report,
    explain: bool,
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = self.report.to_string();
        f.write_str(text.trim_end())?;
        if !self.explain && self.report.status != Status::Counted {
            return Ok(());
        }
        write!(f, "\n{}", self.report.operator.to_string().trim_end())?;
        let levels = self.report.solver.as_ref().map(Solver::explain_levels);
        match levels.unwrap_or_default().trim_end() {
            "" => Ok(()),
            levels => write!(f, "\n{levels}"),
        }
    }
}

fn to_json(report: &Report) -> Value {
    // Strings and numbers can always be represented in JSON.
    let mut json = serde_json::to_value(report).unwrap_or_default();
    if let Some(message) = &report.message {
        json["error"] = json!({ "message": message, "exit_code": 1 });
    }
    json
}
