//! Boundary value problems, from mesh to solution.
//!
//! A [`Problem`] says what is to be solved: ∫ φ·f0(u, ...) + ∇φ·f1(∇u, ...) = ∫ φ f + ∫_Γ φ g for
//! all φ that vanish on the Dirichlet boundary, with a [`Form`] f0, f1 that is linear in u, a source
//! f, and a flux g (for the ready-made forms the normal derivative of u) on Neumann boundaries.
//! [`Problem::solve`] is the whole way; its stages are in `stages.rs`.
//!
//! ```
//! use femto::fem::mesh::box_mesh::BoxMesh;
//! use femto::problem::{Boundary, Problem};
//! use femto::{Host, kernel::form::Poisson};
//!
//! let mesh = BoxMesh::unit_cube(4).build(|x| x)?;
//! let problem = Problem {
//!     source: &|[x, y, _]: [f64; 3]| x * y,
//!     dirichlet: vec![Boundary::new("zmin", &0.0), Boundary::new("zmax", &1.0)],
//!     ..Problem::new(&mesh, 3, Poisson)
//! };
//! let solution = problem.solve::<f64, _>(&Host::new()?, &mut ())?;
//! println!("{} iterations", solution.info.iterations);
//! # assert!(solution.info.iterations > 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Form`]: femto_kernel::form::Form

mod coefficient;
mod contract;
mod discretization;
mod elements;
mod error;
mod free;
mod function;
mod norms;
mod observer;
mod output;
mod stages;

pub use coefficient::{by_group, cell_tags};
pub use discretization::Discretization;
pub use error::ProblemError;
pub use free::Free;
pub use function::{Expression, Function};
pub use norms::{ErrorNorms, Exact};
pub use observer::{Observer, Stage};
pub use output::{LagrangeGrid, OutputField, write_solution};
pub use stages::Assembled;

use crate::solve::cg::{CgError, CgInfo, CgParams};
use crate::{OperatorParams, Quadrature};
use femto_fem::geometry::{CornerWarning, Geometry};
use femto_fem::mesh::Mesh;
use femto_fem::space::Space;
use serde::Serialize;
use std::sync::Arc;

/// What is to be solved, and how. Start from [`Problem::new`].
#[derive(Clone)]
pub struct Problem<'a, F> {
    /// The mesh; its hexahedra are the domain.
    pub mesh: &'a Mesh,
    /// Degree of the space.
    pub degree: usize,
    /// The left-hand side, linear in u.
    pub form: F,
    /// Quadrature, data level, auxiliary fields, time and parameters of the form. The loads use the
    /// same quadrature and time.
    pub operator: OperatorParams,
    /// f.
    pub source: &'a dyn Function,
    /// g on boundary groups.
    pub neumann: Vec<Boundary<'a>>,
    /// u on boundary groups; where several meet, the first in the list holds.
    pub dirichlet: Vec<Boundary<'a>>,
    /// The exact solution, where it is known.
    pub exact: Option<Exact<'a>>,
    /// When the solver stops.
    pub solver: CgParams,
    /// What makes it faster.
    pub preconditioner: PreconditionerKind,
}

impl<'a, F> Problem<'a, F> {
    /// `form` on `mesh` with zero source, natural boundary conditions and defaults for the rest.
    pub fn new(mesh: &'a Mesh, degree: usize, form: F) -> Self {
        Self {
            mesh,
            degree,
            form,
            operator: OperatorParams::default(),
            source: &0.0,
            neumann: Vec::new(),
            dirichlet: Vec::new(),
            exact: None,
            solver: CgParams::default(),
            preconditioner: PreconditionerKind::default(),
        }
    }
}

/// A function on a boundary group.
#[derive(Clone)]
pub struct Boundary<'a> {
    /// Name or number of a two-dimensional group.
    pub tag: String,
    /// The function.
    pub value: &'a dyn Function,
}

impl<'a> Boundary<'a> {
    /// `value` on the group `tag`.
    pub fn new(tag: impl Into<String>, value: &'a dyn Function) -> Self {
        let tag = tag.into();
        Self { tag, value }
    }
}

/// An approximate inverse of the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreconditionerKind {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    #[default]
    Jacobi,
}

/// A function of a space.
#[derive(Clone, Debug)]
pub struct GridFunction {
    /// The space.
    pub space: Arc<Space>,
    /// The geometry that the space was made with.
    pub geometry: Arc<Geometry>,
    /// An L-vector.
    pub values: Vec<f64>,
}

impl GridFunction {
    /// The discretization that it belongs to, with a quadrature rule, at a time.
    pub fn discretization(&self, quadrature: Quadrature, time: f64) -> Discretization<'_> {
        Discretization {
            space: &self.space,
            geometry: &self.geometry,
            quadrature,
            time,
        }
    }
}

/// A solved problem.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The solution, boundary values included.
    pub u: GridFunction,
    /// How the solver got there.
    pub info: CgInfo,
    /// The error, where the exact solution is known.
    pub errors: Option<ErrorNorms>,
    /// Cells whose map is bad at a corner; results are usable.
    pub warnings: Vec<CornerWarning>,
    /// Memory that was needed.
    pub memory: Memory,
}

/// What was reached before the solver failed or was stopped.
#[derive(Debug)]
pub struct Unsolved {
    /// Why, with the residual history.
    pub error: CgError,
    /// The last iterate, boundary values included.
    pub u: GridFunction,
    /// Its error, where the exact solution is known.
    pub errors: Option<ErrorNorms>,
    /// Cells whose map is bad at a corner; results are usable.
    pub warnings: Vec<CornerWarning>,
    /// Memory that was needed.
    pub memory: Memory,
}

/// Bytes of memory that a problem holds while it is solved, besides its mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// The maps of the cells, on the host.
    pub geometry: usize,
    /// The space, without the numbering of its unknowns, which counts as the operator's.
    pub space: usize,
    /// The operator, on its device.
    pub operator: usize,
    /// The solver's vectors on the device, and right-hand side and solution on the host.
    pub vectors: usize,
}

impl Memory {
    /// All together.
    pub fn total(&self) -> usize {
        self.geometry + self.space + self.operator + self.vectors
    }
}
