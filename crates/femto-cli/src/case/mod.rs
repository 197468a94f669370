//! A case: one TOML file with a problem, its solver and its output.
#![doc = include_str!("../../../../docs/case.md")]

mod condition;
mod deformation;
mod document;
mod error;
mod extrusion;
mod form;
mod read;
mod read_boundary;
mod read_form;
mod read_mesh;
mod section;
mod vector;

pub use deformation::Deformation;
pub use document::{Document, Located};
pub use error::{CaseError, Mistake, MistakeKind};
pub use extrusion::Extrusion;
pub use femto::problem::{
    Expression, Method, MultigridParams, PreconditionerKind, SmootherKind, SolverParams,
};
pub use form::{Allowed, Coefficient, CoefficientFunction, Form, FormSource, Moduli};
pub use vector::Vector;

pub(crate) use condition::{Conflict, find_conflict};

use condition::Condition;
use femto::element::Degree;
use femto::fem::mesh::boxes::AnyBox;
use femto::problem::{Function, Given};

use femto::kernel::scalar::Precision;
use femto::platform::device::DeviceId;
use femto::{DataLevel, FactorPrecision, Quadrature, Scatter};
use std::fmt::{Display, Formatter};
use std::ops::Range;
use std::path::PathBuf;

/// A problem, its solver and its output. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Case {
    /// The file, for errors found later, such as an unknown tag of the mesh.
    pub document: Document,
    /// The positions of sections, for the same errors.
    pub places: Places,
    /// The title; by default the name of the file.
    pub title: String,
    /// The source of the mesh.
    pub mesh: MeshSource,
    /// The layers to which the source, in the plane, is extruded.
    pub extrude: Option<Extrusion>,
    /// Pairs of groups of facets joined periodically, from the first to the second; replaces the file's own
    /// links.
    pub periodic: Option<Vec<Located<[String; 2]>>>,
    /// Degree of the space.
    pub degree: Degree,
    /// The left-hand side.
    pub form: Form,
    /// The right-hand side in the whole domain; zero if it is given by group.
    pub source: Vector,
    /// The right-hand side by group of cells.
    pub group_sources: Vec<GroupSource>,
    /// The exact solution, if known.
    pub exact: Option<Vector>,
    /// The initial iterate.
    pub start: Option<Vector>,
    /// Boundaries where the solution is given, or its component along the normal.
    pub dirichlet: Vec<Boundary>,
    /// Boundaries where the flux is given.
    pub neumann: Vec<Boundary>,
    /// Boundaries where a combination of flux and α u is given.
    pub robin: Vec<Robin>,
    /// How the equations are solved.
    pub solver: Solver,
    /// How the integrals are evaluated.
    pub quadrature: Quadrature,
    /// The output.
    pub output: Output,
    /// The device, precision and data level.
    pub run: Run,
}

impl Case {
    /// The mesh in words.
    pub fn describe_mesh(&self) -> String {
        let layers = self.extrude.as_ref().map(Extrusion::layers);
        let extruded = layers.map(|layers| format!(", extruded to {layers} layers"));
        format!("{}{}", self.mesh, extruded.unwrap_or_default())
    }

    /// All boundary conditions, with their sections.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = Condition<'_>> {
        condition::conditions(&self.dirichlet, &self.neumann, &self.robin)
    }

    /// The boundaries of all conditions.
    pub fn boundaries(&self) -> impl Iterator<Item = &Boundary> {
        self.conditions().map(|it| it.boundary)
    }
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Solution,
        Self::Exact,
        Self::Error,
        Self::Source,
        Self::Flux,
    ];

    /// The name in cases and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solution => "solution",
            Self::Exact => "exact",
            Self::Error => "error",
            Self::Source => "source",
            Self::Flux => "flux",
        }
    }
}

/// The positions of a case's sections.
#[derive(Clone, Debug)]
pub struct Places {
    /// `[mesh]`.
    pub mesh: Range<usize>,
    /// `[mesh.extrude]`, or `[mesh]`.
    pub extrude: Range<usize>,
    /// The degree.
    pub degree: Range<usize>,
    /// `[form]`.
    pub form: Range<usize>,
    /// `[quadrature]`, or the degree.
    pub quadrature: Range<usize>,
    /// `[solver]`, or the start of the document.
    pub solver: Range<usize>,
    /// `[output]`, or the start of the document.
    pub output: Range<usize>,
    /// `[run]`, or the start of the document.
    pub run: Range<usize>,
}

/// The source of a mesh.
#[derive(Clone, Debug)]
pub enum MeshSource {
    /// A file, relative to the current directory.
    File(PathBuf),
    /// A box.
    Box(Box<BoxSource>),
}

impl Display for MeshSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Box(source) => {
                let AnyBox { cells, cell, .. } = &source.mesh;
                let cells: Vec<String> = cells.iter().map(usize::to_string).collect();
                let cells = cells.join(" × ");
                let of = match (cell.is_tensor_product(), cell.dim()) {
                    (true, _) => "cells".to_owned(),
                    (false, 2) => format!("rectangles cut into {}", cell.plural()),
                    _ => format!("boxes cut into {}", cell.plural()),
                };
                let deformed = source.deformation.as_ref().map_or("", |_| ", deformed");
                write!(f, "box of {cells} {of}{deformed}")
            }
        }
    }
}

/// A box, possibly deformed.
#[derive(Clone, Debug)]
pub struct BoxSource {
    /// Cells and corners.
    pub mesh: AnyBox,
    /// New positions of the nodes, if they are moved.
    pub deformation: Option<Deformation>,
}

/// A right-hand side in groups of cells.
#[derive(Clone, Debug)]
pub struct GroupSource {
    /// Their names or numbers, at least one.
    pub tags: Vec<Located<String>>,
    /// The functions.
    pub value: Vector,
}

/// A value on a part of the boundary.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// Names or numbers of groups of facets, at least one.
    pub tags: Vec<Located<String>>,
    /// The given components, each once, counted from 0; `None` for all.
    pub components: Option<Vec<Located<usize>>>,
    /// Whether only the component along the normal is given.
    pub is_normal: bool,
    /// The value: a function for each of these components, or one for all.
    pub value: Vector,
}

/// A Robin condition on a part of the boundary.
#[derive(Clone, Debug)]
pub struct Robin {
    /// The groups, and g.
    pub boundary: Boundary,
    /// α for the same components.
    pub alpha: Vector,
}

impl Boundary {
    /// The functions for a solution of this many components.
    pub fn functions(&self, components: usize) -> Given<'_> {
        self.given(&self.value, components)
    }

    /// The same for another value on these components.
    pub fn given<'a>(&self, value: &'a Vector, components: usize) -> Given<'a> {
        match &self.components {
            None => Given::All(value.of(components)),
            Some(given) => Given::Some(
                (0..)
                    .zip(given)
                    .map(|(place, it)| (it.value, value.function(place) as &dyn Function))
                    .collect(),
            ),
        }
    }

    /// Whether all components are given.
    pub fn is_whole(&self) -> bool {
        self.components.is_none() && !self.is_normal
    }
}

/// The end of an output file's name.
pub const VTU: &str = ".vtu";

/// Such a name in words.
pub const VTU_NAME: &str = "a name that ends in .vtu, by which readers go";

/// The solver of the equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solver {
    /// The iterations; the method is chosen by the form if the case has none.
    pub params: SolverParams,
    /// The preconditioner.
    pub preconditioner: PreconditionerKind,
    /// The parameters of multigrid.
    pub multigrid: MultigridParams,
}

/// The output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// A VTU file, relative to the current directory.
    pub vtu: Option<PathBuf>,
    /// Its fields, if the case gives them.
    pub fields: Option<Vec<Field>>,
    /// Whether the report has the reactions where the solution is given.
    pub reactions: bool,
}

/// A field that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The computed solution.
    Solution,
    /// The exact solution at the nodes.
    Exact,
    /// The difference of the two.
    Error,
    /// The source at the nodes.
    Source,
    /// The flux f1: a vector, or the stress.
    Flux,
}

/// Device, precision and data level of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The number type of vectors and factors.
    pub precision: Precision,
    /// The device, if the case gives one.
    pub device: Option<DeviceId>,
    /// Threads of the host, if the case gives them.
    pub threads: Option<usize>,
    /// How much of the geometry the operator stores.
    pub data_level: DataLevel,
    /// How accelerators store factors at points.
    pub factors: FactorPrecision,
    /// How accelerators sum shared nodes.
    pub scatter: Scatter,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            precision: Precision::Fp64,
            device: None,
            threads: None,
            data_level: DataLevel::default(),
            factors: FactorPrecision::default(),
            scatter: Scatter::default(),
        }
    }
}
