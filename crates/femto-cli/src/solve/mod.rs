//! `femto solve`, from a case to its report and its output file.
//!
//! [`run`] is the driver:
//!
//! 1. mesh: the case's file or box → cells and groups, all tags found
//! 2. the stages of [`femto::problem`]: mesh, form, functions → solution, or what was reached
//! 3. output: the solution and other fields → a VTU file
//! 4. operator: one application is timed and set beside the ceilings of the device
//! 5. report: all of it in words, or as JSON

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
    Exact, Function, GraphForm, GridFunction, Problem, ProblemError, ProblemForm, dimension,
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
/// iteration, an output file that cannot be written.
pub fn run(
    case: &Case,
    options: &Options,
    progress: &mut Progress,
    interrupt: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut monitor = SolveMonitor::new(progress, interrupt);
    let device = SolveDevice::open(case, options)?;
    let output = output::path(case, options)?;
    let mesh = monitor.stage("mesh", || mesh::read(&case.mesh))?;
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

/// A form with its auxiliary fields and parameters.
struct FormWithInputs<F> {
    form: F,
    auxiliary: Vec<Auxiliary>,
    parameters: Vec<f64>,
}

impl<F> FormWithInputs<F> {
    fn without(form: F) -> Self {
        Self {
            form,
            auxiliary: Vec::new(),
            parameters: Vec::new(),
        }
    }
}

impl CaseRun<'_> {
    /// The usual forms in three dimensions are compiled for the host; others are graphs.
    fn with_form<T: Number>(&self, monitor: &mut SolveMonitor<'_>) -> Result<Outcome, Failure> {
        let dim = dimension(self.mesh);
        let components = self.case.form.components(dim);
        setup::check_components(self.case, components)?;
        match (&self.case.form, dim) {
            (Form::Mass, 3) => self.solid::<T, _, 1>(FormWithInputs::without(form::Mass), monitor),
            (Form::Poisson, 3) => {
                self.solid::<T, _, 1>(FormWithInputs::without(form::Poisson), monitor)
            }
            (Form::ScreenedPoisson(Coefficient::Uniform(lambda)), 3) => {
                let lambda = Some(*lambda);
                let form = form::ScreenedPoisson { lambda };
                self.solid::<T, _, 1>(FormWithInputs::without(form), monitor)
            }
            _ => self.with_graph::<T>((dim, components), monitor),
        }
    }

    fn with_graph<T: Number>(
        &self,
        (dim, components): (usize, usize),
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure> {
        let physics::Physics {
            traced,
            auxiliary,
            parameters,
        } = physics::physics(self.case, self.mesh, dim)?;
        macro_rules! graph {
            ($on:ident, $dim:literal, $components:literal) => {
                GraphForm::<$dim, $components>::new(&traced).map(|form| {
                    let form = FormWithInputs {
                        form,
                        auxiliary,
                        parameters,
                    };
                    self.$on::<T, _, $components>(form, monitor)
                })
            };
        }
        let outcome = match (dim, components) {
            (2, 1) => graph!(plane, 2, 1),
            (2, 2) => graph!(plane, 2, 2),
            (3, 1) => graph!(solid, 3, 1),
            (3, 3) => graph!(solid, 3, 3),
            _ => None,
        };
        let unusual = femto::operator::OperatorError::TooManyComponents {
            found: components,
            most: dim,
        };
        outcome.unwrap_or(Err(Failure::Operator(unusual)))
    }

    fn solid<T, F, const C: usize>(
        &self,
        form: FormWithInputs<F>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        F: form::Form<3, C> + Clone + 'static,
    {
        let problem = Problem::new(self.mesh, self.case.degree, form.form);
        self.on_device::<T, F, 3, C>(problem, (form.auxiliary, form.parameters), monitor)
    }

    fn plane<T, F, const C: usize>(
        &self,
        form: FormWithInputs<F>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        F: form::Form<2, C> + Clone + 'static,
    {
        let problem = Problem::planar(self.mesh, self.case.degree, form.form);
        self.on_device::<T, F, 2, C>(problem, (form.auxiliary, form.parameters), monitor)
    }

    fn on_device<T, F, const D: usize, const C: usize>(
        &self,
        defaults: Problem<'_, F, D, C>,
        (auxiliary, parameters): (Vec<Auxiliary>, Vec<f64>),
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        F: ProblemForm<D, C>,
    {
        let exact = self.case.exact.as_ref();
        let gradients: Vec<[crate::case::Expression; 3]> = exact
            .iter()
            .flat_map(|exact| exact.functions.iter().map(|function| function.gradient()))
            .collect();
        let last = gradients.len().saturating_sub(1);
        let mut problem = setup::problem(self.case, defaults);
        problem.operator.auxiliary = auxiliary;
        problem.operator.parameters = parameters;
        problem.exact = exact.map(|exact| Exact {
            value: exact.of(),
            gradient: Some(std::array::from_fn(|component| {
                let gradient = &gradients[component.min(last)];
                std::array::from_fn(|axis| &gradient[axis] as &dyn Function)
            })),
        });
        match &self.device {
            SolveDevice::Host(host) => self.solve::<T, _, F, D, C>(host, &problem, monitor),
            SolveDevice::Accelerator(device) => {
                self.solve::<T, _, F, D, C>(device, &problem, monitor)
            }
            SolveDevice::Null(null) => self.count::<T, F, D, C>(null, &problem, monitor),
        }
    }

    /// Solves on a device.
    fn solve<T, B, F, const D: usize, const C: usize>(
        &self,
        device: &B,
        problem: &Problem<'_, F, D, C>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + Measure,
        F: ProblemForm<D, C>,
    {
        let located = |error| setup::locate(self.case, error);
        let system = problem.assemble_traced::<T, _>(device, monitor);
        let mut system = system.map_err(located)?;
        let mut report = Report::new(
            self,
            system.linear_operator(),
            (system.space(), system.constraints()),
        );
        let u = match system.solve(monitor) {
            Ok(solution) => report.solved(self.case, solution),
            Err(ProblemError::Unsolved(unsolved)) => report.unsolved(self.case, *unsolved),
            Err(error) => return Err(located(error)),
        };
        report.peak_memory = report::peak_memory();
        if let Some(path) = &self.output {
            let written = monitor.stage("output", || output::write(self, &u, path))?;
            report.output = Some(written);
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
    fn count<T, F, const D: usize, const C: usize>(
        &self,
        null: &Null,
        problem: &Problem<'_, F, D, C>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure>
    where
        T: Number,
        F: ProblemForm<D, C>,
    {
        let located = |error| setup::locate(self.case, error);
        let system = problem.assemble_traced::<T, _>(null, monitor);
        let system = system.map_err(located)?;
        let mut report = Report::new(
            self,
            system.linear_operator(),
            (system.space(), system.constraints()),
        );
        report.times = monitor.times(None);
        Ok(Outcome { report, u: None })
    }
}
