//! From a case to its report and its output file.
//!
//! [`run`] is the driver:
//!
//! 1. mesh: the case's file or box → cells and groups, all tags found
//! 2. the stages of [`femto::problem`]: mesh, form, functions → solution, or what was reached
//! 3. output: the solution and other fields → a VTU file
//! 4. operator: one application is timed and set beside the ceilings of the device
//! 5. report: all of it in words, or as JSON

mod mesh;
mod output;
mod pose;
mod report;
mod speed;
mod text;
mod watch;

pub use report::{
    Device, MeshReport, Output, Range, Report, Solver, StageTime, Status, Times, Unknowns,
};
pub use speed::Ceilings;

use crate::case::{Case, Form};
use crate::failure::Failure;
use crate::progress::Progress;
use femto::bench::roofline::Measure;
use femto::fem::mesh::Mesh;
use femto::kernel::form::{self, Form as WeakForm};
use femto::kernel::roofline::Precision;
use femto::operator::Backend;
use femto::platform::device::{Accelerator, DeviceError, DeviceId, DeviceKind, null::Null};
use femto::problem::{Exact, Function, GridFunction, Problem, ProblemError};
use femto::vector::VectorOps;
use femto::{Host, Number};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use watch::Watch;

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
/// iteration, an output file that cannot be written.
pub fn run(
    case: &Case,
    options: &Options,
    progress: &mut Progress,
    interrupt: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut watch = Watch::new(progress, interrupt);
    let device = Place::open(case, options)?;
    let output = output::path(case, options)?;
    let mesh = watch.stage("mesh", || mesh::read(&case.mesh))?;
    pose::check_tags(case, &mesh)?;
    let job = Job {
        case,
        options,
        output,
        device,
        mesh: &mesh,
    };
    match case.run.precision {
        Precision::Fp64 => job.with_form::<f64>(&mut watch),
        Precision::Fp32 => job.with_form::<f32>(&mut watch),
    }
}

/// A case with its mesh.
struct Job<'a> {
    case: &'a Case,
    options: &'a Options,
    output: Option<PathBuf>,
    device: Place,
    mesh: &'a Mesh,
}

/// The device that solves.
enum Place {
    Host(Host),
    Accelerator(Accelerator),
    Null(Null),
}

impl Place {
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

impl Job<'_> {
    fn with_form<T: Number>(&self, watch: &mut Watch<'_>) -> Result<Outcome, Failure> {
        match &self.case.form {
            Form::Mass => self.on_device::<T, _>(form::Mass, vec![], watch),
            Form::Poisson => self.on_device::<T, _>(form::Poisson, vec![], watch),
            Form::ScreenedPoisson(lambda) => {
                let (lambda, auxiliary) = pose::lambda(self.case, self.mesh, lambda)?;
                self.on_device::<T, _>(form::ScreenedPoisson { lambda }, auxiliary, watch)
            }
        }
    }

    fn on_device<T: Number, F: WeakForm<3> + Clone + 'static>(
        &self,
        form: F,
        auxiliary: Vec<Vec<f64>>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, Failure> {
        let gradient = self.case.exact.as_ref().map(|exact| exact.gradient());
        let mut problem = pose::problem(self.case, self.mesh, form);
        problem.operator.auxiliary = auxiliary.into_iter().map(Into::into).collect();
        problem.exact = self.case.exact.as_ref().map(|value| Exact {
            value,
            gradient: gradient
                .as_ref()
                .map(|parts| parts.each_ref().map(|part| part as &dyn Function)),
        });
        match &self.device {
            Place::Host(host) => self.solve::<T, _, F>(host, &problem, watch),
            Place::Accelerator(device) => self.solve::<T, _, F>(device, &problem, watch),
            Place::Null(null) => self.count::<T, F>(null, &problem, watch),
        }
    }

    /// Solves on a device.
    fn solve<T, D, F>(
        &self,
        device: &D,
        problem: &Problem<'_, F>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        D: Backend + VectorOps<T> + Measure,
        F: WeakForm<3> + Clone + 'static,
    {
        let posed = |error| pose::place(self.case, error);
        let system = problem.assemble::<T, _>(device, watch).map_err(posed)?;
        let mut report = Report::new(self, system.operator(), system.space());
        let u = match system.solve(watch) {
            Ok(solution) => report.solved(self.case, solution),
            Err(ProblemError::Unsolved(unsolved)) => report.unsolved(self.case, *unsolved),
            Err(error) => return Err(posed(error)),
        };
        report.peak_memory = report::peak_memory();
        if let Some(path) = &self.output {
            let written = watch.stage("output", || output::write(self, &u, path))?;
            report.output = Some(written);
        }
        if self.options.roofline && !watch.is_interrupted() {
            let (explanation, ceilings) =
                watch.stage("operator speed", || speed::measure(system.operator()))?;
            report.operator = explanation;
            report.ceilings = Some(ceilings);
        }
        report.times = watch.times(report.solver.as_ref());
        let u = Some(u);
        Ok(Outcome { report, u })
    }

    /// Sets the problem up on the null device, which says what would be done.
    fn count<T: Number, F: WeakForm<3> + Clone + 'static>(
        &self,
        null: &Null,
        problem: &Problem<'_, F>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, Failure> {
        let posed = |error| pose::place(self.case, error);
        let system = problem.assemble::<T, _>(null, watch).map_err(posed)?;
        let mut report = Report::new(self, system.operator(), system.space());
        report.times = watch.times(None);
        Ok(Outcome { report, u: None })
    }
}
