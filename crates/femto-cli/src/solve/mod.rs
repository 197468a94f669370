//! `femto solve`, from a case to its report and its output file.
//!
//! [`run`] is the driver:
//!
//! 1. mesh: the case's file or box → cells and groups, all tags found
//! 2. the stages of [`femto::problem`]: mesh, form, functions → solution, or what was reached
//! 3. output: the solution and other fields → a VTU file
//! 4. operator: one application is timed and set beside the ceilings of the device
//! 5. report: all of it in words, or as JSON

mod memory;
mod mesh;
mod monitor;
mod output;
mod physics;
mod report;
mod setup;
mod speed;
mod text;

pub use report::{
    Device, MeshReport, Output, Range, Report, Solver, StageTime, Status, Times, Unknowns,
};
pub use speed::Ceilings;

use crate::case::{Case, Coefficient, Form};
use crate::failure::Failure;
use crate::progress::Progress;
use femto::fem::mesh::Mesh;
use femto::kernel::form;
use femto::kernel::roofline::Precision;
use femto::operator::{Auxiliary, Backend};
use femto::platform::device::{Accelerator, DeviceError, DeviceId, DeviceKind, null::Null};
use femto::problem::{
    Exact, Function, GridFunction, Problem, ProblemError, ProblemForm, dimension,
};
use femto::vector::VectorOps;
use femto::{Host, Number};
use femto_bench::roofline::Measure;
use monitor::SolveMonitor;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What can be asked of a case besides what is in it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device that solves, whatever the case says.
    pub device: Option<DeviceId>,
    /// Where the output goes.
    pub output: OutputTo,
    /// Whether the operator is timed and set beside the ceilings of the device.
    pub roofline: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: None,
            output: OutputTo::Case,
            roofline: true,
        }
    }
}

impl Options {
    /// The device that was asked for, or that of the case, or the host.
    fn device(&self, case: &Case) -> DeviceId {
        let device = self.device.or(case.run.device);
        device.unwrap_or(DeviceId::HOST)
    }
}

/// Where the output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTo {
    /// To where the case says, if it does.
    Case,
    /// To this file, found from the current folder.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// What a case came to.
#[derive(Debug)]
pub struct Outcome {
    /// All that there is to say.
    pub report: Report,
    /// The solution, or the last iterate; none on a device that executes nothing.
    pub u: Option<GridFunction>,
}

/// Solves a case. It stops early where `interrupt` becomes true, after the iteration at work.
///
/// A solution that was not reached is an outcome: see [`Report::status`].
///
/// # Errors
/// Input that does not fit together, memory that is not there, an interruption before the first
/// iteration, a place where no output file can be written. An output that fails later is an outcome.
pub fn run(
    case: &Case,
    options: &Options,
    progress: &mut Progress,
    interrupt: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut monitor = SolveMonitor::new(progress, interrupt);
    let device = SolveDevice::open(case, options)?;
    let output = output::path(case, options)?;
    let kind = options.device(case).kind;
    memory::check_box(case, kind)?;
    let mesh = monitor.stage("mesh", || mesh::read(&case.mesh))?;
    memory::check_mesh(case, kind, &mesh)?;
    setup::check_tags(case, &mesh)?;
    let run = CaseRun {
        case,
        options,
        output,
        device,
        mesh: &mesh,
    };
    match case.run.precision {
        Precision::Fp64 => run.with_form::<f64>(&mut monitor),
        Precision::Fp32 => run.with_form::<f32>(&mut monitor),
    }
}

/// A case with its mesh, device and options.
struct CaseRun<'a> {
    case: &'a Case,
    options: &'a Options,
    output: Option<PathBuf>,
    device: SolveDevice,
    mesh: &'a Mesh,
}

/// The device that solves.
enum SolveDevice {
    Host(Host),
    Accelerator(Accelerator),
    Null(Null),
}

impl SolveDevice {
    fn open(case: &Case, options: &Options) -> Result<Self, DeviceError> {
        let id = options.device(case);
        match id.kind {
            DeviceKind::Host => Ok(Self::Host(match case.run.threads {
                Some(threads) => Host::with_threads(threads)?,
                None => Host::new()?,
            })),
            DeviceKind::Null => Ok(Self::Null(Null::new())),
            DeviceKind::Cuda | DeviceKind::OpenCl => Ok(Self::Accelerator(Accelerator::open(id)?)),
        }
    }
}

/// Auxiliary fields and parameters of a form.
type Inputs = (Vec<Auxiliary>, Vec<f64>);

impl CaseRun<'_> {
    fn with_form<T: Number>(&self, monitor: &mut SolveMonitor<'_>) -> Result<Outcome, Failure> {
        let dim = dimension(self.mesh);
        setup::check_components(self.case, self.case.form.components(dim))?;
        let (form, inputs) = self.form(dim)?;
        let exact = self.case.exact.as_ref();
        let gradients: Vec<[crate::case::Expression; 3]> = exact
            .iter()
            .flat_map(|exact| exact.functions.iter().map(|function| function.gradient()))
            .collect();
        let last = gradients.len().saturating_sub(1);
        let components = form.components();
        let mut problem = setup::problem(self.case, self.mesh, form);
        (problem.operator.auxiliary, problem.operator.parameters) = inputs;
        problem.exact = exact.map(|exact| Exact {
            value: exact.of(components),
            gradient: Some(
                (0..components)
                    .map(|component| {
                        let gradient = gradients[component.min(last)].iter().take(dim);
                        gradient.map(|along| along as &dyn Function).collect()
                    })
                    .collect(),
            ),
        });
        match &self.device {
            SolveDevice::Host(host) => self.solve::<T, _>(host, &problem, monitor),
            SolveDevice::Accelerator(device) => self.solve::<T, _>(device, &problem, monitor),
            SolveDevice::Null(null) => self.count::<T>(null, &problem, monitor),
        }
    }

    /// The form, with auxiliary fields and parameters: the usual ones in three dimensions are compiled for the
    /// host, others are graphs.
    fn form(&self, dim: usize) -> Result<(ProblemForm, Inputs), Failure> {
        let compiled = match (&self.case.form, dim) {
            (Form::Mass, 3) => ProblemForm::with_traced_jacobian::<_, 3, 1>(form::Mass),
            (Form::Poisson, 3) => ProblemForm::with_traced_jacobian::<_, 3, 1>(form::Poisson),
            (Form::ScreenedPoisson(Coefficient::Uniform(lambda)), 3) => {
                let lambda = Some(*lambda);
                ProblemForm::with_traced_jacobian::<_, 3, 1>(form::ScreenedPoisson { lambda })
            }
            _ => {
                let physics::Physics {
                    traced,
                    auxiliary,
                    parameters,
                } = physics::physics(self.case, self.mesh, dim)?;
                let form = ProblemForm::traced(&traced).map_err(Failure::Operator)?;
                return Ok((form, (auxiliary, parameters)));
            }
        };
        Ok((compiled, Default::default()))
    }

    /// Solves on a device.
    fn solve<T, B>(
        &self,
        device: &B,
        problem: &Problem<'_>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + Measure,
    {
        let located = |error| setup::locate(self.case, error);
        let system = problem.assemble::<T, _>(device, monitor);
        let mut system = system.map_err(located)?;
        let mut report = Report::new(
            self,
            system.linear_operator(),
            (system.blocks(), system.constraints()),
        );
        let u = match system.solve(monitor) {
            Ok(solution) => report.solved(self.case, solution),
            Err(ProblemError::Unsolved(unsolved)) => report.unsolved(self.case, *unsolved),
            Err(error) => return Err(located(error)),
        };
        report.peak_memory = report::peak_memory();
        if let Some(path) = &self.output {
            match monitor.stage("output", || output::write(self, &u, path)) {
                Ok(written) => report.output = Some(written),
                Err(error) => report.lose_output(&error),
            }
        }
        if self.options.roofline && !monitor.is_interrupted() {
            let (explanation, ceilings) = monitor.stage("operator speed", || {
                speed::measure(system.linear_operator())
            })?;
            report.operator = explanation;
            report.ceilings = Some(ceilings);
        }
        report.times = monitor.times(report.solver.as_ref());
        let u = Some(u);
        Ok(Outcome { report, u })
    }

    /// Sets the problem up on the null device, which says what would be done.
    fn count<T: Number>(
        &self,
        null: &Null,
        problem: &Problem<'_>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure> {
        let located = |error| setup::locate(self.case, error);
        let system = problem.assemble::<T, _>(null, monitor);
        let system = system.map_err(located)?;
        let mut report = Report::new(
            self,
            system.linear_operator(),
            (system.blocks(), system.constraints()),
        );
        report.times = monitor.times(None);
        Ok(Outcome { report, u: None })
    }
}
