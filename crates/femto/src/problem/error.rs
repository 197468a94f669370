//! Errors of problems.

use super::{FunctionName, Stage, StopReason, Unsolved};
use crate::multigrid::MultigridError;
use crate::operator::OperatorError;
use crate::solve::{JacobiError, SolveError};
use femto_fem::geometry::GeometryError;
use femto_fem::mesh::MeshError;
use femto_fem::space::SpaceError;
use femto_platform::device::DeviceError;
use thiserror::Error;

/// Why a problem could not be set up or solved.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// The mesh has no such group, or several.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The cells are unusable.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The unknowns cannot be numbered, or a boundary group does not exist.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The operator cannot be built or applied.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A device error.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The operator's diagonal is not that of a positive definite operator.
    #[error(transparent)]
    Jacobi(#[from] JacobiError),
    /// The form or its data have no multigrid preconditioner.
    #[error(transparent)]
    Multigrid(#[from] MultigridError),
    /// A component of an exact gradient has too few or too many derivatives.
    #[error(
        "a component of the exact gradient has {found} derivatives; it needs {dim}, one along each axis"
    )]
    ExactGradient {
        /// Derivatives of the component.
        found: usize,
        /// Dimension of the space around the cells.
        dim: usize,
    },
    /// The flux has no projection on the solution's space.
    #[error("the flux of the solution could not be projected on its space: {0}")]
    Flux(Box<SolveError>),
    /// The equations have no sparse matrix.
    #[error("there is no sparse matrix of the equations: {why}")]
    NoMatrix {
        /// Why.
        why: String,
    },
    /// Nothing determines the constant of the solution, or of one of its components, and the form is not linear
    /// and symmetric.
    #[error(
        "{} is only determined up to a constant: there is no Dirichlet or Robin boundary{}, and the \
         form has no term with u itself; give the solution on a part of the boundary, or add a term \
         with u (screened Poisson with lambda > 0)",
         words_of(*.component),
         match .component { Some(_) => " that holds it", None => "" },
    )]
    Singular {
        /// The first such component; `None` for scalar solutions.
        component: Option<usize>,
    },
    /// Loads that nothing holds and that do not balance.
    #[error(
        "the loads do not balance: {} is free, and against it they add up to {sum:.3e}, {part:.1e} of their size; \
         give the solution on a part of the boundary, or loads that balance",
        match .rigid { true => "a motion of the whole body", false => "a constant of the solution" },
    )]
    Unbalanced {
        /// Whether they move the body, as opposed to shifting a constant.
        rigid: bool,
        /// Their sum, weighted by the free function, which is one at most.
        sum: f64,
        /// The sum, relative to that of absolute values.
        part: f64,
    },
    /// Loads and boundary values that the solver's precision cannot tell from zero.
    #[error(
        "loads and boundary values are too small for fp32, {largest:.1e} at most: scale them, or take fp64"
    )]
    RoundedToZero {
        /// The largest number.
        largest: f64,
    },
    /// Some cells are in none of the groups that were given a value.
    #[error(
        "{count} of {cells} cells are in none of the groups with a value ({}); the first is mesh \
         cell {first}, of group {group}",
        groups.join(", ")
    )]
    NoValue {
        /// Number of such cells.
        count: usize,
        /// Number of all cells.
        cells: usize,
        /// The groups with a value.
        groups: Vec<String>,
        /// Mesh cell number of the first.
        first: usize,
        /// Its group in words; number 0 for none.
        group: String,
    },
    /// A cell is in two of the groups that were given a value.
    #[error(
        "mesh cell {cell} is in the groups `{}` and `{}`, which both give it a value (its tag is {tag})",
        groups[0], groups[1]
    )]
    TwoValues {
        /// The groups, as given.
        groups: [String; 2],
        /// Mesh cell number of the first such cell.
        cell: usize,
        /// Its first group number.
        tag: i32,
    },
    /// The number of functions is not the space's number of components.
    #[error("{functions} functions for a space of {components} components")]
    Components {
        /// Components of the space.
        components: usize,
        /// Functions given.
        functions: usize,
    },
    /// A space whose components are apart in memory.
    #[error("loads, norms and boundary values are of spaces with Layout::Interleaved")]
    Layout,
    /// A component with two functions.
    #[error("component {component}, counted from 0, is given twice")]
    RepeatedComponent {
        /// The component.
        component: usize,
    },
    /// A facet whose flux is given by two conditions.
    #[error(
        "the groups `{first}` and `{second}` meet: both give a flux on facet {facet} of mesh cell {cell}{}",
        match .component { Some(component) => format!(", component {component}"), None => String::new() },
    )]
    RepeatedFlux {
        /// The earlier condition's group.
        first: String,
        /// The later condition's group.
        second: String,
        /// Mesh cell number.
        cell: usize,
        /// The facet's index in the cell.
        facet: usize,
        /// The component, counted from 0; `None` for scalar solutions.
        component: Option<usize>,
    },
    /// A given solution that differs between periodic sides.
    #[error(
        "{function} is {} at {:?} and {} at {:?}, which is the same place on a periodic mesh",
        .values[0], .positions[0], .values[1], .positions[1]
    )]
    NotPeriodic {
        /// The function.
        function: FunctionName,
        /// Two positions of a node.
        positions: [[f64; 3]; 2],
        /// The values there.
        values: [f64; 2],
    },
    /// A function of the problem has no value somewhere.
    #[error("{function} is {value} at {position:?}")]
    NotFinite {
        /// Which function.
        function: FunctionName,
        /// Infinite, or not a number.
        value: f64,
        /// The position.
        position: [f64; 3],
    },
    /// The monitor stopped the solve before the first iteration.
    #[error("interrupted before the stage `{stage}`")]
    Interrupted {
        /// The stage that would have been next.
        stage: Stage,
    },
    /// The equations were not solved; the last iterate is kept.
    #[error("{}", .0.error)]
    Unsolved(Box<Unsolved>),
}

impl ProblemError {
    /// The null device's refusal, which only counts.
    pub(super) fn of_null_device(what: &'static str) -> Self {
        let device = "null";
        DeviceError::Unsupported { device, what }.into()
    }

    /// The mesh cells named by the error.
    pub fn cells(&self) -> Vec<usize> {
        match self {
            Self::Geometry(error) => error.cells(),
            Self::Space(error) => error.cells(),
            Self::NoValue { first, .. } => vec![*first],
            Self::TwoValues { cell, .. } | Self::RepeatedFlux { cell, .. } => vec![*cell],
            _ => vec![],
        }
    }

    /// Whether the problem as it was given is wrong, as opposed to a fault of femto, of the device, or of the solver.
    pub fn is_of_input(&self) -> bool {
        match self {
            Self::Operator(error) => error.is_of_input(),
            Self::Multigrid(error) => error.is_of_input(),
            Self::Jacobi(error) => matches!(error, JacobiError::NotPositive { .. }),
            Self::Device(_) | Self::Flux(_) | Self::Interrupted { .. } | Self::Unsolved(_) => false,
            Self::Mesh(_)
            | Self::Geometry(_)
            | Self::Space(_)
            | Self::NoMatrix { .. }
            | Self::ExactGradient { .. }
            | Self::Singular { .. }
            | Self::Unbalanced { .. }
            | Self::RoundedToZero { .. }
            | Self::NoValue { .. }
            | Self::TwoValues { .. }
            | Self::Components { .. }
            | Self::Layout
            | Self::RepeatedComponent { .. }
            | Self::RepeatedFlux { .. }
            | Self::NotPeriodic { .. }
            | Self::NotFinite { .. } => true,
        }
    }

    /// Whether the monitor ended it.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Interrupted { .. } => true,
            Self::Unsolved(unsolved) => unsolved.error.reason == StopReason::Interrupted,
            _ => false,
        }
    }
}

/// The solution, or a component of it, in words.
fn words_of(component: Option<usize>) -> String {
    match component {
        None => "the solution".to_owned(),
        Some(component) => match ["x", "y", "z"].get(component) {
            Some(axis) => format!("component {axis} of the solution"),
            None => format!("component {component} of the solution"),
        },
    }
}
