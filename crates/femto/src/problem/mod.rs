//! Boundary value problems, from mesh to solution.
//!
//! A [`Problem`] is the equation ∫ φ·f0(u, ∇u, ...) + ∇φ:f1(u, ∇u, ...) = ∫ φ·f + ∫_Γ φ·g for all φ that
//! vanish on the Dirichlet boundary, with a [`Form`] f0, f1 of any number of components, a source f, and a
//! flux g (for the ready-made forms f1 times the outward normal) on Neumann boundaries; [`Robin`]
//! conditions and other forms on facets add to the left-hand side. [`Problem::solve`] runs all the stages,
//! which are in `stages.rs` and `assembled.rs`.
//!
//! ```
//! use femto::fem::mesh::boxes::BoxMesh;
//! use femto::problem::{Boundary, Problem};
//! use femto::{Host, kernel::form::Poisson};
//!
//! let mesh = BoxMesh::unit_cube(4).build(|x| x)?;
//! let problem = Problem {
//!     source: vec![&|[x, y, _]: [f64; 3]| x * y],
//!     dirichlet: vec![Boundary::new("zmin", &0.0), Boundary::new("zmax", &1.0)],
//!     ..Problem::new(&mesh, 3, Poisson::<3>)
//! };
//! let solution = problem.solve::<f64, _>(&Host::new()?, &mut ())?;
//! println!("{} iterations", solution.info.iterations());
//! # assert!(solution.info.iterations() > 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nonlinear forms need nothing more: the exact Jacobian is derived from the form, and Newton's method
//! computes directions by conjugate gradients if it is symmetric, otherwise by GMRES.
//!
//! ```
//! use femto::fem::mesh::boxes::SimplexBox;
//! use femto::kernel::{form::{Form, Point}, scalar::Scalar};
//! use femto::problem::{Boundary, Problem};
//! use femto::Host;
//!
//! /// −∇·((1 + u²) ∇u) + u³
//! #[derive(Clone)]
//! struct Heat;
//!
//! impl Form<2> for Heat {
//!     #[inline(always)]
//!     fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
//!         [p.u[0].powi(3)]
//!     }
//!     #[inline(always)]
//!     fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
//!         let kappa = p.u[0] * p.u[0] + 1.0;
//!         [p.grad_u[0].map(|slope| slope * kappa)]
//!     }
//! }
//!
//! let mesh = SimplexBox::unit_square(16).build(|[x, y]| [x + 0.1 * y * y, y])?;
//! let problem = Problem {
//!     source: vec![&|[x, y, _]: [f64; 3]| 10.0 * x * y],
//!     dirichlet: vec![Boundary::new("xmin", &0.0), Boundary::new("xmax", &1.0)],
//!     ..Problem::new(&mesh, 2, Heat)
//! };
//! let solution = problem.solve::<f64, _>(&Host::new()?, &mut ())?;
//! println!("{} steps of Newton's method", solution.info.iterations());
//! # assert!((3..12).contains(&solution.info.iterations()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Form`]: femto_kernel::form::Form

mod age;
mod any_assembled;
mod assembled;
mod boundary_values;
mod choice;
mod chosen;
mod constrained;
mod corrected;
mod discretization;
mod discretized;
mod error;
mod facets;
mod flux;
mod form;
mod function;
mod given;
mod groups;
mod integral;
mod iterate;
mod loads;
mod monitor;
mod multigrid;
mod newton;
mod newton_steps;
mod norms;
mod null_space;
mod operator_params;
mod output;
mod patience;
mod reactions;
mod rounded;
mod settling;
mod solver;
mod sparse_system;
mod stages;
mod uneven;

pub use any_assembled::AnyAssembled;
pub use assembled::Assembled;
pub use choice::{PreconditionerChoice, PreconditionerKind, PreconditionerReason};
pub use constrained::Constrained;
pub use discretization::Discretization;
pub use discretized::Discretized;
pub use error::ProblemError;
pub use facets::{FacetForm, Robin};
pub use form::ProblemForm;
pub use function::{Expression, Function, FunctionName, Role};
pub use given::{AlongNormal, Boundary, Given, GroupSource};
pub use groups::{by_group, cell_tags};
pub use monitor::{Stage, StageMonitor};
pub use norms::{ErrorNorms, Exact};
pub use null_space::{FreeFunctions, LooseParts};
pub use output::{LagrangeGrid, OutputField, write_solution};
pub use reactions::Reaction;
pub use solver::SolverParams;
pub use sparse_system::SparseSystem;

pub use femto_kernel::form::GraphForm;

pub use crate::multigrid::{Clock, LevelMethod, MultigridParams, SmootherKind};
pub use crate::solve::{Method, SolveError, SolveInfo, StopReason};

use crate::{OperatorParams, Quadrature, Scatter};
use femto_element::Degree;
use femto_fem::geometry::CornerWarning;
use femto_fem::mesh::Mesh;
use femto_fem::space::Block;
use femto_kernel::form::Form;
use femto_kernel::scalar::Precision;
use serde::Serialize;

/// A boundary value problem and its solution parameters. Start from [`Problem::new`].
#[derive(Clone)]
pub struct Problem<'a> {
    /// The mesh; its cells of the form's dimension make up the domain.
    pub mesh: &'a Mesh,
    /// Degree of the space.
    pub degree: Degree,
    /// The left-hand side.
    pub form: ProblemForm,
    /// Quadrature, data level, auxiliary fields, time and parameters of the form. The loads use the
    /// same quadrature and time.
    pub operator: OperatorParams,
    /// f, `[component]`.
    pub source: Vec<&'a dyn Function>,
    /// What is added to f in groups of cells.
    pub group_sources: Vec<GroupSource<'a>>,
    /// g on boundary groups.
    pub neumann: Vec<Boundary<'a>>,
    /// g n on boundary groups, with the outward normal n, for vectors with as many components as dimensions: -p n is the
    /// load of a pressure p.
    pub neumann_along_normal: Vec<AlongNormal<'a>>,
    /// Conditions flux + α u = g on boundary groups.
    pub robin: Vec<Robin<'a>>,
    /// Further terms on boundary groups.
    pub facets: Vec<FacetForm>,
    /// u on boundary groups, all of its components or some; the first in the list takes precedence where
    /// groups overlap.
    pub dirichlet: Vec<Boundary<'a>>,
    /// u·n on boundary groups, with the outward normal n, for vectors with as many components as dimensions;
    /// components given by `dirichlet` come first.
    pub along_normal: Vec<AlongNormal<'a>>,
    /// The initial iterate inside the domain, `[component]`. By default zero; Newton's method by default
    /// extends the boundary values with its Jacobian at zero, which forms such as large deformations may
    /// need: an element must not be turned inside out.
    pub start: Option<Vec<&'a dyn Function>>,
    /// The exact solution, if known.
    pub exact: Option<Exact<'a>>,
    /// The solver and its stop criteria.
    pub solver: SolverParams,
    /// The preconditioner.
    pub preconditioner: PreconditionerKind,
    /// Parameters of the preconditioner [`PreconditionerKind::Multigrid`].
    pub multigrid: MultigridParams,
    /// Times its set-up, level by level.
    pub clock: Option<Clock>,
}

impl<'a> Problem<'a> {
    /// `form` on the cells of its dimension, with zero source, natural boundary conditions and defaults for
    /// the rest.
    pub fn new<F, const D: usize, const C: usize>(
        mesh: &'a Mesh,
        degree: impl Into<Degree>,
        form: F,
    ) -> Self
    where
        F: Form<D, C> + Clone + 'static,
    {
        Self::of_form(mesh, degree, ProblemForm::new(form))
    }

    /// As [`Problem::new`], with a form of any type.
    pub fn of_form(mesh: &'a Mesh, degree: impl Into<Degree>, form: ProblemForm) -> Self {
        Self {
            mesh,
            degree: degree.into(),
            operator: OperatorParams::default(),
            source: vec![&0.0; form.components()],
            group_sources: Vec::new(),
            form,
            neumann: Vec::new(),
            neumann_along_normal: Vec::new(),
            robin: Vec::new(),
            facets: Vec::new(),
            dirichlet: Vec::new(),
            along_normal: Vec::new(),
            start: None,
            exact: None,
            solver: SolverParams::default(),
            preconditioner: PreconditionerKind::default(),
            multigrid: MultigridParams::default(),
            clock: None,
        }
    }
}

/// A level of a multigrid preconditioner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MultigridLevel {
    /// Degree of its space; `None` for aggregates.
    pub degree: Option<Degree>,
    /// Number of its unknowns, constrained ones included.
    pub unknowns: usize,
    /// What cycles do on it; `None` until multigrid is set up.
    pub method: Option<LevelMethod>,
    /// Precision of its numbers.
    pub precision: Precision,
    /// Bytes of device memory, apart from the vectors of cycles.
    pub bytes: usize,
    /// Seconds of its set-up, all times if there were several; `None` without [`Problem::clock`]. The finest level has the
    /// transfers between degrees.
    pub set_up_seconds: Option<f64>,
    /// Of degree 1, if the form is not symmetric: see [`Cycle::convection`](crate::multigrid::Cycle::convection).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convection: Option<f64>,
}

/// A function of a space.
#[derive(Clone, Debug)]
pub struct GridFunction {
    /// The blocks of the space, with their geometry.
    pub blocks: Vec<Block>,
    /// An L-vector, the components of a node together.
    pub values: Vec<f64>,
}

impl GridFunction {
    /// The positions of the nodes, `[nodes][3]`.
    pub fn node_positions(&self) -> Vec<[f64; 3]> {
        Block::node_positions(&self.blocks)
    }

    /// Its discretization, with a quadrature rule, at a time.
    pub fn discretization(&self, quadrature: Quadrature, time: f64) -> Discretization<'_> {
        Discretization {
            blocks: &self.blocks,
            quadrature,
            time,
            scatter: Scatter::default(),
        }
    }
}

/// A solved problem.
#[derive(Debug)]
pub struct Solution {
    /// The solution, boundary values included.
    pub u: GridFunction,
    /// The solver's information: iterations and residuals.
    pub info: SolveInfo,
    /// The error, if the exact solution is known, or why it could not be computed.
    pub errors: Option<Result<ErrorNorms, ProblemError>>,
    /// Cells whose map is not invertible at a corner; results are usable.
    pub warnings: Vec<CornerWarning>,
    /// Memory used.
    pub memory: Memory,
    /// The preconditioner that it was solved with, and why.
    pub preconditioner: PreconditionerChoice,
    /// The levels of the multigrid preconditioner, finest first; empty without one.
    pub levels: Vec<MultigridLevel>,
    /// What the boundary conditions of a linear symmetric form leave free, if anything.
    pub free: Option<FreeFunctions>,
    /// How much a step of an iteration would still change the solution, relative to it (for linear forms less constants that
    /// have no part in them), in the Euclidean norm. For Newton's method a step with its preconditioner; for a linear form
    /// with fields, positions or terms on facets, or on cells of which some are much thinner than others, of Jacobi's iteration.
    /// Where coefficients or sizes differ by orders of magnitude, the norm of the right-hand side may hide what is left to do
    /// in the rows of the small ones. Without a given tolerance the solver goes on where that is
    /// much, and how much its last run changed the solution counts too.
    pub settling: Option<f64>,
    /// Where only a weak term holds constants or motions: how much of the solution, relative to it, rounding or the tolerance
    /// leaves undecided along these.
    pub undecided: Option<f64>,
    /// Where given components along normals of an elastic body, on a sphere or a pipe say, hold a rigid motion only by how far
    /// the mesh is from that surface: the largest part of the motion along a normal, relative to its largest value.
    pub barely_held: Option<f64>,
    /// Parts of the mesh where nothing holds the solution of a linear symmetric form, so that its constant there is arbitrary.
    pub loose_parts: Option<LooseParts>,
}

/// The last iterate of a solver that failed or was stopped.
#[derive(Debug)]
pub struct Unsolved {
    /// The error, with the residual history.
    pub error: SolveError,
    /// The last iterate, boundary values included.
    pub u: GridFunction,
    /// As [`Solution::errors`].
    pub errors: Option<Result<ErrorNorms, ProblemError>>,
    /// Cells whose map is not invertible at a corner; results are usable.
    pub warnings: Vec<CornerWarning>,
    /// Memory used.
    pub memory: Memory,
    /// The preconditioner of the last iterations, and why.
    pub preconditioner: PreconditionerChoice,
    /// What the boundary conditions of a linear symmetric form leave free, if anything.
    pub free: Option<FreeFunctions>,
    /// As [`Solution::loose_parts`].
    pub loose_parts: Option<LooseParts>,
}

/// Bytes of memory that a problem holds during its solution, apart from its mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// The maps of the cells, on the host.
    pub geometry: usize,
    /// The space, apart from the numbering of its unknowns, which counts towards the operator.
    pub space: usize,
    /// The operator, on its device.
    pub operator: usize,
    /// The solver's vectors on the device, and the right-hand side and solution on the host.
    pub vectors: usize,
}

impl Memory {
    /// The total.
    pub fn total(&self) -> usize {
        self.geometry + self.space + self.operator + self.vectors
    }
}
