//! The report of a solve: sizes, iterations, errors, times.

use super::Ceilings;
use super::mesh::numbers_in_case;
use super::speed::Level;
use crate::case::Case;
use crate::failure::Failure;
use femto::fem::geometry::CornerWarning;
use femto::fem::mesh::Mesh;
use femto::fem::space::Block;
use femto::operator::Explanation;
use femto::problem::{
    AnyAssembled, ErrorNorms, FreeFunctions, GridFunction, Memory, Method, PreconditionerChoice,
    PreconditionerReason, ProblemError, Reaction, Solution, StopReason, Unsolved,
};
use femto::solve::History;
use serde::Serialize;

/// The report of a solve. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The case's title.
    pub title: String,
    /// The case file.
    pub case: String,
    /// The outcome.
    pub status: Status,
    /// Why it did not converge, if so.
    pub message: Option<String>,
    /// The form's name.
    pub form: &'static str,
    /// The device.
    pub device: Device,
    /// The mesh.
    pub mesh: MeshReport,
    /// Sizes of the vectors.
    pub unknowns: Unknowns,
    /// The iterations.
    pub solver: Option<Solver>,
    /// What the boundary conditions leave free, if anything.
    pub free: Option<FreeFunctions>,
    /// The sums of fluxes where the solution is given, if they were asked for.
    pub reactions: Vec<Reaction>,
    /// The range of the solution's values; for vectors, of their lengths.
    pub solution: Option<Range>,
    /// The error, if the exact solution is given.
    pub errors: Option<ErrorNorms>,
    /// The times.
    pub times: Times,
    /// Memory used besides the mesh.
    pub memory: Option<Memory>,
    /// Peak memory of the process so far, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Peak memory of the largest child process, such as a compiler; `None` without children.
    pub peak_memory_of_children: Option<u64>,
    /// The work of one operator application, its measured time and its bound.
    pub operator: Explanation,
    /// The device's rates that give the bound.
    pub ceilings: Option<Ceilings>,
    /// The output file.
    pub output: Option<Output>,
    /// Whether something that was asked for is missing: the output file, reactions, or errors.
    #[serde(skip)]
    pub is_output_lost: bool,
}

/// The outcome of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The target residual was reached.
    Converged,
    /// The target residual was not reached.
    NotConverged,
    /// The user stopped it.
    Interrupted,
    /// The precision of the vectors is exhausted: only the recurrence's residual reached the target, or Newton's is rounding.
    Stagnated,
    /// The iterations broke down.
    Failed,
    /// Nothing was executed: the device only counts.
    Counted,
}

/// The solving device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its kind.
    pub kind: &'static str,
    /// The maker's name.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Vector instructions.
    pub simd: &'static str,
}

/// The mesh of a solve.
#[derive(Clone, Debug, Serialize)]
pub struct MeshReport {
    /// The file, or the box that was generated.
    pub source: String,
    /// Mesh nodes.
    pub nodes: usize,
    /// Cells with unknowns.
    pub cells: usize,
    /// The cells' shape, in words.
    pub shape: String,
    /// Bytes in memory.
    pub bytes: usize,
    /// Cells that are usable, but badly shaped; loads inside; bodies that are nearly incompressible.
    pub warnings: Vec<String>,
    /// How many of them, at the end, are about badly shaped cells.
    #[serde(skip)]
    pub corner_warnings: usize,
}

/// Sizes of the vectors.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Unknowns {
    /// Number of unconstrained entries.
    pub free: usize,
    /// Length of an L-vector.
    pub all: usize,
}

/// The iterations of a solve.
#[derive(Clone, Debug, Serialize)]
pub struct Solver {
    /// Name of the iteration.
    pub method: &'static str,
    /// Name of the preconditioner.
    pub preconditioner: &'static str,
    /// Why femto chose it; `None` if the case asks for it.
    pub preconditioner_reason: Option<String>,
    /// Its levels if it is multigrid, finest first.
    pub levels: Vec<Level>,
    /// Iterations done; for Newton's method its steps.
    pub iterations: usize,
    /// Total number of linear solver iterations.
    pub linear_iterations: usize,
    /// The residual's final norm, relative to the reference; the recurrence's, or that of b - A x if the
    /// precision is exhausted.
    pub relative_residual: f64,
    /// The final norm of b - A x, relative to the reference, if it was computed.
    pub true_relative_residual: Option<f64>,
    /// The reference: the norm of b, or for Newton's method that of the forces at the solution.
    pub reference: f64,
    /// The residual's final norm, relative to the initial one.
    pub reduction: f64,
    /// The tolerance for it.
    pub tolerance: f64,
    /// The residual's norm before the first iteration and after each.
    pub residual_history: Vec<f64>,
    /// A solution that is not accurate; convection that multigrid does not smooth.
    pub warnings: Vec<String>,
}

/// The range of the solution at the nodes; for vectors, of their lengths.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Range {
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// Whether they are lengths of vectors.
    pub of_lengths: bool,
}

/// The times of a solve.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// The stages, in order.
    pub stages: Vec<StageTime>,
    /// From before reading the mesh to the first iteration.
    pub to_first_iteration: Option<f64>,
    /// Mean over the iterations.
    pub per_iteration: Option<f64>,
    /// The total.
    pub total: f64,
}

/// The time of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageTime {
    /// The stage.
    pub name: String,
    /// Its time.
    pub seconds: f64,
}

/// The output file.
#[derive(Clone, Debug, Serialize)]
pub struct Output {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The point fields in it.
    pub fields: Vec<&'static str>,
    /// About their values.
    pub warnings: Vec<String>,
}

impl Report {
    /// The report of a problem that is assembled, but not solved.
    pub(super) fn new(
        case: &Case,
        (mesh, turned): (&Mesh, usize),
        system: &dyn AnyAssembled,
    ) -> Self {
        let operator = system.linear_operator();
        let (blocks, constraints) = (system.blocks(), system.constraints());
        let (device, dofs) = (operator.device().info(), operator.dofs());
        Self {
            title: case.title.clone(),
            case: case.document.path().display().to_string(),
            status: Status::Counted,
            message: None,
            form: case.form.name(),
            device: Device {
                kind: device.kind.name(),
                name: device.name,
                threads: device.threads,
                simd: device.simd,
            },
            mesh: MeshReport {
                source: case.describe_mesh(),
                nodes: mesh.coordinates.len(),
                cells: Block::elements(blocks),
                shape: Block::plural(blocks),
                bytes: bytes_of(mesh),
                warnings: super::mesh::turned(turned)
                    .into_iter()
                    .chain(super::warnings::loads_inside(case, blocks))
                    .chain(super::warnings::loads_without_effect(case, blocks))
                    .chain(super::mesh::unjoined(blocks))
                    .chain(super::warnings::nearly_incompressible(case))
                    .chain(super::warnings::not_symmetric(case, operator))
                    .chain(super::warnings::turned_sides(
                        case,
                        mesh,
                        blocks[0].space.components(),
                    ))
                    .collect(),
                corner_warnings: 0,
            },
            unknowns: Unknowns {
                free: dofs - constraints.len(),
                all: dofs,
            },
            solver: None,
            free: None,
            reactions: Vec::new(),
            solution: None,
            errors: None,
            times: Times::default(),
            memory: None,
            peak_memory: None,
            peak_memory_of_children: None,
            operator: operator.explain(None, None),
            ceilings: None,
            output: None,
            is_output_lost: false,
        }
    }

    /// Records that an output was not written, besides any other failure.
    pub(super) fn lose_output(&mut self, error: &Failure) {
        let before = self.message.take();
        let before = before.map_or_else(String::new, |message| format!("{message}; "));
        self.message = Some(format!("{before}{error}"));
        self.is_output_lost = true;
    }

    /// Records a solution, and returns it.
    pub(super) fn solved(&mut self, case: &Case, solution: Solution) -> GridFunction {
        self.status = Status::Converged;
        self.memory = Some(solution.memory);
        self.take_errors(case, solution.errors);
        self.free = solution.free;
        let info = solution.info;
        let is_rounding = info.reason == StopReason::Rounding;
        // Newton's method has no other residual than its history's.
        let true_residual = (info.history.method != Method::Newton).then_some(info.true_residual);
        let mut solver = Solver::new(
            case,
            &solution.preconditioner,
            (info.history, true_residual),
        );
        let of_rounding = super::warnings::rounding(case, &solver).filter(|_| is_rounding);
        let unsettled = super::warnings::unsettled(case, &solver, solution.settling);
        let undecided = super::warnings::undecided(case, solution.undecided);
        let barely_held = super::warnings::barely_held(solution.barely_held);
        let loose = super::warnings::loose_parts(case, solution.loose_parts);
        let found = [of_rounding, unsettled, undecided, barely_held, loose];
        solver.warnings.extend(found.into_iter().flatten());
        self.solver = Some(solver);
        self.reached(case, &solution.warnings, solution.u)
    }

    /// Records a failed solve, and returns the last iterate.
    pub(super) fn unsolved(&mut self, case: &Case, unsolved: Unsolved) -> GridFunction {
        let error = unsolved.error;
        let mut true_residual = None;
        self.status = match error.reason {
            StopReason::NotConverged { .. }
            | StopReason::NoProgress { .. }
            | StopReason::LineSearch { .. } => Status::NotConverged,
            StopReason::Interrupted => Status::Interrupted,
            StopReason::Stagnated {
                true_residual: found,
                ..
            } => {
                true_residual = Some(found);
                Status::Stagnated
            }
            _ => Status::Failed,
        };
        self.message = Some(error.to_string());
        self.memory = Some(unsolved.memory);
        self.take_errors(case, unsolved.errors);
        self.free = unsolved.free;
        let mut solver = Solver::new(
            case,
            &unsolved.preconditioner,
            (error.history, true_residual),
        );
        solver
            .warnings
            .extend(super::warnings::loose_parts(case, unsolved.loose_parts));
        self.solver = Some(solver);
        self.reached(case, &unsolved.warnings, unsolved.u)
    }

    fn take_errors(&mut self, case: &Case, errors: Option<Result<ErrorNorms, ProblemError>>) {
        match errors.transpose() {
            Ok(errors) => self.errors = errors,
            Err(error) => self.lose_output(&super::setup::locate(case, error)),
        }
    }

    fn reached(
        &mut self,
        case: &Case,
        warnings: &[CornerWarning],
        u: GridFunction,
    ) -> GridFunction {
        let cells: Vec<usize> = warnings.iter().map(|warning| warning.cell).collect();
        let numbers = numbers_in_case(case, &cells).unwrap_or_default();
        let mut numbers = numbers.into_iter();
        let warnings = warnings.iter().map(|warning| match numbers.next() {
            None => warning.to_string(),
            Some(number) => format!("{warning}; in the file it is element {number}"),
        });
        self.mesh.corner_warnings = cells.len();
        self.mesh.warnings.extend(warnings);
        let components = u.blocks[0].space.components();
        let size = |value: &[f64]| match value {
            [value] => *value,
            vector => vector.iter().fold(0.0, |length: f64, x| length.hypot(*x)),
        };
        let sizes = u.values.chunks_exact(components).map(size);
        self.solution = sizes.fold(None, |range: Option<Range>, value| {
            let (min, max) = range.map_or((value, value), |range| (range.min, range.max));
            Some(Range {
                min: min.min(value),
                max: max.max(value),
                of_lengths: components > 1,
            })
        });
        u
    }
}

impl Solver {
    fn new(
        case: &Case,
        preconditioner: &PreconditionerChoice,
        (history, true_residual): (History, Option<f64>),
    ) -> Self {
        let reason = &preconditioner.reason;
        let is_asked = *reason == PreconditionerReason::Asked;
        let first = history.residuals.first().copied().unwrap_or(0.0);
        let last = history.residuals.last().copied().unwrap_or(0.0);
        let fraction = |norm: f64, of: f64| if norm == 0.0 { 0.0 } else { norm / of };
        let relative = |norm: f64| fraction(norm, history.reference);
        Self {
            method: history.method.name(),
            preconditioner: preconditioner.kind.name(),
            preconditioner_reason: (!is_asked).then(|| reason.to_string()),
            levels: Vec::new(),
            iterations: history.iterations(),
            linear_iterations: history.linear_iterations(),
            relative_residual: relative(last),
            true_relative_residual: true_residual.map(relative),
            reference: history.reference,
            reduction: fraction(last, first),
            tolerance: case.solver.params.tolerance(case.run.precision),
            residual_history: history.residuals,
            warnings: Vec::new(),
        }
    }
}

/// Bytes of a mesh in memory.
fn bytes_of(mesh: &Mesh) -> usize {
    let blocks = mesh.blocks.iter();
    let blocks = blocks.map(|block| block.nodes.bytes() + size_of_val(&block.tags[..]));
    mesh.coordinates.bytes() + blocks.sum::<usize>()
}
