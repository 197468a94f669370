//! Errors of problems.

use super::{FunctionName, Stage, StopReason, Unsolved};
use crate::operator::OperatorError;
use crate::solve::JacobiError;
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
    /// The cells are not usable.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The unknowns cannot be numbered, or a boundary group is not there.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The operator cannot be made or applied.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The operator's diagonal is not that of a positive definite operator.
    #[error(transparent)]
    Jacobi(#[from] JacobiError),
    /// Nothing determines the constant of the solution, or of one of its components.
    #[error(
        "{} is only determined up to a constant: there is no Dirichlet or Robin boundary{}, and the \
         form has no term with u itself; give the solution on a part of the boundary, or add a term \
         with u (screened Poisson with lambda > 0)",
         words_of(*.component),
         match .component { Some(_) => " that holds it", None => "" },
    )]
    Singular {
        /// The first such component; none where the solution is a scalar.
        component: Option<usize>,
    },
    /// Some cells are in none of the groups that were given a value.
    #[error(
        "{count} of {cells} cells are in none of the groups with a value ({}); the first is mesh \
         cell {first}, of group number {tag}",
        groups.join(", ")
    )]
    NoValue {
        /// How many.
        count: usize,
        /// How many cells there are.
        cells: usize,
        /// The groups with a value.
        groups: Vec<String>,
        /// Mesh cell number of the first.
        first: usize,
        /// Its group number; 0 for none.
        tag: i32,
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
    /// Another number of functions than the space has components.
    #[error("{functions} functions for a space of {components} components")]
    Components {
        /// How many the space has.
        components: usize,
        /// How many functions were given.
        functions: usize,
    },
    /// A component that has two functions.
    #[error("component {component}, counted from 0, is given twice")]
    RepeatedComponent {
        /// The component.
        component: usize,
    },
    /// A facet that two conditions give a flux.
    #[error(
        "the groups `{first}` and `{second}` meet: both give a flux on facet {facet} of mesh cell {cell}{}",
        match .component { Some(component) => format!(", component {component}"), None => String::new() },
    )]
    RepeatedFlux {
        /// The group of the condition that comes first.
        first: String,
        /// That of the other.
        second: String,
        /// Mesh cell number.
        cell: usize,
        /// The facet in it.
        facet: usize,
        /// The component, counted from 0; none where the solution is a scalar.
        component: Option<usize>,
    },
    /// A function of the problem has no value somewhere.
    #[error("{function} is {value} at {position:?}")]
    NotFinite {
        /// Which function.
        function: FunctionName,
        /// Infinite, or not a number.
        value: f64,
        /// Where.
        position: [f64; 3],
    },
    /// The monitor wanted to stop before the first iteration.
    #[error("interrupted before the stage `{stage}`")]
    Interrupted {
        /// The stage that was next.
        stage: Stage,
    },
    /// The equations were not solved; the last iterate is kept.
    #[error("{}", .0.error)]
    Unsolved(Box<Unsolved>),
}

impl ProblemError {
    /// The mesh cell numbers that it names.
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
            Self::Device(_) | Self::Jacobi(_) | Self::Interrupted { .. } | Self::Unsolved(_) => {
                false
            }
            Self::Mesh(_)
            | Self::Geometry(_)
            | Self::Space(_)
            | Self::Singular { .. }
            | Self::NoValue { .. }
            | Self::TwoValues { .. }
            | Self::Components { .. }
            | Self::RepeatedComponent { .. }
            | Self::RepeatedFlux { .. }
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

/// The solution, or a component of it.
fn words_of(component: Option<usize>) -> String {
    match component {
        None => "the solution".to_owned(),
        Some(component) => match ["x", "y", "z"].get(component) {
            Some(axis) => format!("component {axis} of the solution"),
            None => format!("component {component} of the solution"),
        },
    }
}
