//! `femto solve`: from a case to its report and its output file.
//!
//! [`run`] is the driver:
//!
//! 1. mesh: the case's file or box → cells and groups, all tags found
//! 2. the stages of [`femto::problem`]: mesh, form, functions → solution, or the last iterate
//! 3. output: the solution and other fields → a VTU file
//! 4. operator: one application is timed and compared with the device's ceilings
//! 5. report: all of it in words, or as JSON

pub(crate) mod mesh;
mod monitor;
pub(crate) mod needs;
mod output;
mod physics;
mod report;
mod setup;
mod speed;
mod text;
mod warnings;

pub use report::{
    Device, MeshReport, Output, Range, Report, Solver, StageTime, Status, Times, Unknowns,
};
pub use speed::{Ceilings, Level};

use crate::case::{self, Case};
use crate::failure::{Failure, is_missing};
use crate::files::make_folder;
use crate::progress::Progress;
use femto::AnyDevice;
use femto::fem::geometry::{Geometry, shapes};
use femto::fem::mesh::Mesh;
use femto::operator::Auxiliary;
use femto::platform::device::{DeviceError, DeviceId};
use femto::platform::memory;
use femto::problem::{Exact, Function, GridFunction, Problem, ProblemError, ProblemForm};
use monitor::SolveMonitor;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

/// Options of a solve besides the case.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device, overriding the case.
    pub device: Option<DeviceId>,
    /// The destination of the output.
    pub output: OutputTo,
    /// The folder for the sparse matrix and the right-hand side, if they are wanted.
    pub system: Option<PathBuf>,
    /// Whether the operator is timed and compared with the device's ceilings.
    pub roofline: bool,
    /// Whether that tells what each level of multigrid takes of a cycle, too.
    pub levels: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: None,
            output: OutputTo::Case,
            system: None,
            roofline: true,
            levels: false,
        }
    }
}

impl Options {
    /// The requested device, or the case's, or the host.
    fn device(&self, case: &Case) -> DeviceId {
        let device = self.device.or(case.run.device);
        device.unwrap_or(DeviceId::HOST)
    }
}

/// The destination of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTo {
    /// The case's file, if it gives one.
    Case,
    /// This file, relative to the current directory.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// The outcome of a case.
#[derive(Debug)]
pub struct Outcome {
    /// The full report.
    pub report: Report,
    /// The solution, or the last iterate; `None` on a device that executes nothing.
    pub u: Option<GridFunction>,
}

/// Solves a case. Stops early, after the current iteration, if `interrupt` becomes true.
///
/// Failing to converge is an outcome, not an error: see [`Report::status`].
///
/// # Errors
/// Inconsistent input, not enough memory, an interruption before the first iteration, or an output file
/// that cannot be written. An output that fails later is an outcome.
pub fn run(
    case: &Case,
    options: &Options,
    progress: &mut Progress,
    interrupt: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut monitor = SolveMonitor::new(progress, interrupt);
    let earlier_children = memory::peak().map_or(0, |peak| peak.children);
    let (id, threads) = (options.device(case), case.run.threads);
    let device = opening(id, threads)?;
    output::check_device(id.kind, options)?;
    if let Some(folder) = &options.system {
        make_folder(folder)?;
    }
    let output = output::path(case, options).map_err(|failure| match options.output {
        OutputTo::Case => {
            let problem = case::MistakeKind::Output(failure.to_string());
            case.document
                .mistake(case.places.output.clone(), problem)
                .into()
        }
        _ => failure,
    })?;
    needs::check_box(case, id.kind)?;
    let (mesh, turned) = monitor.stage("mesh", || mesh::read(case, id.kind))?;
    if shapes(&mesh).is_empty() {
        // The error says what there is instead.
        Geometry::of_shapes(&mesh).map_err(|error| setup::locate(case, error.into()))?;
    }
    needs::check_mesh(case, id.kind, &mesh)?;
    if output.is_some() {
        output::check_cells(case, &mesh)?;
    }
    setup::check_tags(case, &mesh)?;
    setup::check_moduli(case, &mesh)?;
    let run = CaseRun {
        case,
        options,
        output,
        device,
        mesh: &mesh,
        turned,
        earlier_children,
    };
    run.with_form(&mut monitor)
}

/// A case with its mesh, device and options.
struct CaseRun<'a> {
    case: &'a Case,
    options: &'a Options,
    output: Option<PathBuf>,
    device: Opening,
    mesh: &'a Mesh,
    /// Number of cells that were turned.
    turned: usize,
    /// Peak memory of children that ended before, in bytes: `cargo run` leaves those of its compiler to the program.
    earlier_children: u64,
}

/// The auxiliary fields and parameters of a form.
type Inputs = (Vec<Auxiliary>, Vec<f64>);

impl CaseRun<'_> {
    fn with_form(self, monitor: &mut SolveMonitor<'_>) -> Result<Outcome, Failure> {
        let dim = self.mesh.dimension();
        setup::check_components(self.case, self.case.form.components(dim))?;
        setup::check_plane(self.case, dim)?;
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
        self.solve(&problem, monitor)
    }

    /// The form, with auxiliary fields and parameters.
    fn form(&self, dim: usize) -> Result<(ProblemForm, Inputs), Failure> {
        let physics::Physics {
            traced,
            auxiliary,
            parameters,
        } = physics::physics(self.case, self.mesh, dim)?;
        let form = ProblemForm::traced(&traced);
        let form = form.map_err(|error| setup::locate(self.case, error.into()))?;
        Ok((form, (auxiliary, parameters)))
    }

    /// Assembles the equations while the device is being opened, and solves them unless the device only
    /// counts.
    fn solve(
        self,
        problem: &Problem<'_>,
        monitor: &mut SolveMonitor<'_>,
    ) -> Result<Outcome, Failure> {
        let located = |error| setup::locate(self.case, error);
        let spaces = problem.discretize(monitor).map_err(located)?;
        setup::check_values(self.case, &spaces)?;
        let device = monitor.stage("device", || joined(self.device));
        let device = device.map_err(|error| match self.options.device {
            None if is_missing(&error) => {
                let problem = case::MistakeKind::Device(error);
                let place = self.case.places.run.clone();
                self.case.document.mistake(place, problem).into()
            }
            _ => Failure::from(error),
        })?;
        let system = spaces.assemble_on(&device, self.case.run.precision, monitor);
        let mut system = system.map_err(located)?;
        let mut report = Report::new(self.case, (self.mesh, self.turned), &*system);
        let rounded = warnings::rounded_positions(self.case, problem);
        report.mesh.warnings.extend(rounded);
        if !device.info().executes {
            report.times = monitor.times(None);
            return Ok(Outcome { report, u: None });
        }
        if let Some(folder) = &self.options.system {
            let interrupt = monitor.interrupt();
            monitor.stage("matrix", || {
                output::write_system(&*system, folder, interrupt)
            })?;
        }
        let u = match system.solve(monitor) {
            Ok(solution) => report.solved(self.case, solution),
            Err(ProblemError::Unsolved(unsolved)) => report.unsolved(self.case, *unsolved),
            Err(error) => return Err(located(error)),
        };
        if let Some(solver) = &mut report.solver {
            let levels = system.multigrid_levels();
            solver.warnings.extend(warnings::convective(&levels));
            solver.levels = levels.into_iter().map(speed::Level::from).collect();
        }
        let peak = memory::peak();
        report.peak_memory = peak.map(|peak| peak.own);
        let children = peak.map(|peak| peak.children);
        report.peak_memory_of_children = children.filter(|&peak| peak > self.earlier_children);
        if let Some(path) = &self.output {
            let flux = || problem.flux_on(&device, &u).map_err(located);
            let write = || output::write(self.case, self.mesh, (&u, flux), path);
            match monitor.stage("output", write) {
                Ok((written, lost)) => {
                    report.output = Some(written);
                    lost.iter().for_each(|error| report.lose_output(error));
                }
                Err(error) => report.lose_output(&error),
            }
        }
        if self.case.output.reactions {
            let found = || problem.reactions_on(&device, &u).map_err(located);
            match monitor.stage("reactions", found) {
                Ok(reactions) => report.reactions = reactions,
                Err(error) => report.lose_output(&error),
            }
        }
        if self.options.roofline && !monitor.is_interrupted() {
            let operator = system.linear_operator();
            let lost = |what: &str, error: &Failure| format!("{what} was not measured: {error}");
            match monitor.stage("operator speed", || speed::measure(operator)) {
                Ok((explanation, ceilings)) => {
                    report.operator = explanation;
                    report.ceilings = Some(ceilings);
                }
                Err(error) => {
                    let warning = lost("the operator's speed", &error);
                    report.operator.warnings.push(warning);
                }
            }
            if let Some(solver) = &mut report.solver
                && self.options.levels
                && !solver.levels.is_empty()
                && !monitor.is_interrupted()
            {
                let measure = || speed::measure_levels(&*system, &mut solver.levels);
                if let Err(error) = monitor.stage("levels' speed", measure) {
                    let warning = lost("the speed of multigrid's levels", &error.into());
                    report.operator.warnings.push(warning);
                }
            }
        }
        report.times = monitor.times(report.solver.as_ref());
        let u = Some(u);
        Ok(Outcome { report, u })
    }
}

fn opening(id: DeviceId, threads: Option<usize>) -> Result<Opening, DeviceError> {
    let opened = thread::Builder::new().spawn(move || AnyDevice::open(id, threads));
    opened.map_err(|error| DeviceError::ThreadStart {
        asked: 1,
        reason: error.to_string(),
    })
}

/// A device being opened by a thread.
type Opening = JoinHandle<Result<AnyDevice, DeviceError>>;

fn joined(opening: Opening) -> Result<AnyDevice, DeviceError> {
    opening.join().unwrap_or_else(|panic| resume_unwind(panic))
}
