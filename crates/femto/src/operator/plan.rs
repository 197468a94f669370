//! What an operator will do, decided from sizes and the form alone.

use super::OperatorError;
use femto_fem::geometry::{Geometry, GeometryKind};
use femto_fem::reference::tensor_product::Basis1d;
use femto_fem::space::Space;
use femto_kernel::family::batch::NodeTable;
pub use femto_kernel::family::tensor_hex::pencils::Scatter;
use femto_kernel::family::tensor_hex::work::Shape;
use femto_kernel::family::tensor_hex::{Basis, Storage};
use femto_kernel::form::{Coefficients, Form, Inspection, MAX_FIELDS, inspect};
use femto_kernel::roofline::Work;
use std::ops::Range;

/// The quadrature rule along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Quadrature {
    /// Gauss with degree + 2 points, as in BP1 and BP3.
    #[default]
    Gauss,
    /// Gauss with this many points.
    GaussPoints(usize),
    /// The GLL nodes themselves, as in BP5.
    Collocated,
}

impl Quadrature {
    /// The 1-D tables for a degree.
    ///
    /// # Errors
    /// A degree or number of points out of range.
    pub fn basis(self, degree: usize) -> Result<Basis1d, OperatorError> {
        let basis = match self {
            Self::Gauss => Basis1d::gauss(degree, degree + 2)?,
            Self::GaussPoints(points_1d) => Basis1d::gauss(degree, points_1d)?,
            Self::Collocated => Basis1d::collocated(degree)?,
        };
        if basis.points_1d < basis.nodes_1d {
            let (points_1d, least) = (basis.points_1d, basis.nodes_1d);
            return Err(OperatorError::Quadrature {
                points_1d,
                degree,
                least,
            });
        }
        Ok(basis)
    }

    /// The same, as kernels take them.
    ///
    /// # Errors
    /// As [`Quadrature::basis`].
    pub fn kernel_basis(self, degree: usize) -> Result<Basis, OperatorError> {
        let basis = self.basis(degree)?;
        Ok(Basis {
            collocated: basis.is_collocated(),
            nodes_1d: basis.nodes_1d,
            points_1d: basis.points_1d,
            points: basis.points,
            weights: basis.weights,
            interp_1d: basis.interp_1d,
            colloc_grad_1d: basis.colloc_grad_1d,
        })
    }
}

/// How much of the geometry is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DataLevel {
    /// As little as possible: vertices of affine and trilinear cells, from which the Jacobian is
    /// recomputed in every application. Curved cells keep data at their points.
    #[default]
    OnTheFly,
    /// Factors at every quadrature point (one set per affine cell).
    Partial,
}

impl DataLevel {
    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnTheFly => "on_the_fly",
            Self::Partial => "partial",
        }
    }
}

/// What to bind, besides space, geometry and form.
#[derive(Clone, Debug, Default)]
pub struct OperatorParams {
    /// The quadrature rule.
    pub quadrature: Quadrature,
    /// How much of the geometry is stored.
    pub data_level: DataLevel,
    /// How accelerators sum what elements share. The host's sums are repeatable in any case.
    pub scatter: Scatter,
    /// Auxiliary fields constant per element, `[field][mesh cell]`, in the order of `Point::a`.
    pub auxiliary: Vec<Vec<f64>>,
    /// The time that the form sees at first.
    pub time: f64,
    /// The parameters that the form sees at first.
    pub parameters: Vec<f64>,
}

/// A run of elements of one kind of map inside a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Index in [`Plan::kinds`].
    pub(crate) kind: usize,
    /// The elements.
    pub(crate) elements: Range<usize>,
}

/// How the elements of one kind of map are evaluated.
#[derive(Clone, Debug)]
pub(crate) struct KindPlan {
    pub(crate) kind: GeometryKind,
    pub(crate) elements: usize,
    pub(crate) shape: Shape,
}

/// The decisions of one operator.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) basis: Basis,
    pub(crate) kinds: Vec<KindPlan>,
    /// `[chunk]`, the segments of each chunk.
    pub(crate) segments: Vec<Vec<Segment>>,
    pub(crate) data_level: DataLevel,
    pub(crate) linear: bool,
    /// The form is λ u, κ ∇u for all cells, so its factors may be stored.
    pub(crate) coefficients: Option<Coefficients>,
    pub(crate) auxiliary: usize,
    /// Parameters that the form reads.
    pub(crate) parameters: usize,
    /// Bytes of the restriction's arrays that one application reads.
    index_bytes: u64,
    dofs: u64,
    /// Number of elements.
    pub(crate) elements: usize,
}

/// What a device needs to bind an operator.
pub struct Binding<'a, F, const C: usize> {
    pub(crate) space: &'a Space,
    pub(crate) geometry: &'a Geometry,
    pub(crate) form: &'a F,
    pub(crate) params: &'a OperatorParams,
    pub(crate) plan: &'a Plan,
}

impl Plan {
    /// Checks sizes, inspects the form, chooses a storage per kind of map, cuts chunks into segments.
    pub(crate) fn new<F: Form<3, C>, const C: usize>(
        space: &Space,
        geometry: &Geometry,
        form: &F,
        params: &OperatorParams,
    ) -> Result<Self, OperatorError> {
        let inspection = inspect::<F, 3, C>(form);
        check(space, geometry, params, &inspection)?;
        let basis = params.quadrature.kernel_basis(space.degree())?;
        let (mut kinds, mut segments) = (Vec::<KindPlan>::new(), Vec::new());
        let kind_of = |element: usize| geometry.kind(space.cells()[element] as usize);
        for chunk in &space.restriction().chunks {
            let mut runs: Vec<Segment> = Vec::new();
            for element in chunk.elements.clone() {
                let kind = kind_of(element);
                match runs.last_mut() {
                    Some(run) if kinds[run.kind].kind == kind => run.elements.end = element + 1,
                    _ => {
                        let index = kinds.iter().position(|plan| plan.kind == kind);
                        let index = index.unwrap_or_else(|| {
                            let factors = inspection.coefficients.is_some();
                            let storage = storage(kind, params.data_level, factors);
                            let shape = Shape::new(&basis, &inspection, storage);
                            kinds.push(KindPlan {
                                kind,
                                elements: 0,
                                shape,
                            });
                            kinds.len() - 1
                        });
                        runs.push(Segment {
                            kind: index,
                            elements: element..element + 1,
                        });
                    }
                }
                let last = runs.len() - 1;
                kinds[runs[last].kind].elements += 1;
            }
            segments.push(runs);
        }
        Ok(Self {
            basis,
            kinds,
            segments,
            data_level: params.data_level,
            linear: inspection.linear,
            coefficients: inspection.coefficients,
            auxiliary: params.auxiliary.len(),
            parameters: inspection.parameters,
            index_bytes: index_bytes(space),
            dofs: space.dofs() as u64,
            elements: space.elements(),
        })
    }

    /// Work on L-vectors: input, output, indices, geometry and auxiliary fields, each once.
    pub(crate) fn work(&self, bytes: usize) -> Work {
        let vector = self.dofs * bytes as u64;
        self.total(bytes, vector + self.index_bytes, vector)
    }

    /// Work on E-vectors.
    pub(crate) fn element_work(&self, bytes: usize) -> Work {
        let numbers: u64 = self
            .kinds
            .iter()
            .map(|plan| plan.elements as u64 * self.basis.nodes() as u64 * plan.components())
            .sum();
        let vector = numbers * bytes as u64;
        self.total(bytes, vector, vector)
    }

    fn total(&self, bytes: usize, read: u64, written: u64) -> Work {
        let elements = |plan: &KindPlan| {
            let numbers = plan.shape.geometry_numbers() + self.auxiliary as u64;
            Work {
                bytes_read: plan.elements as u64 * numbers * bytes as u64,
                flops: plan.elements as u64 * plan.shape.scheduled_flops(),
                ..Work::default()
            }
        };
        let vectors = Work {
            bytes_read: read,
            bytes_written: written,
            ..Work::default()
        };
        vectors + self.kinds.iter().map(elements).sum()
    }

    /// Flops as the literature counts them.
    pub(crate) fn nominal_flops(&self) -> u64 {
        self.kinds
            .iter()
            .map(|plan| plan.elements as u64 * plan.shape.nominal_flops())
            .sum()
    }

    /// The same plan at another data level, for comparison.
    pub(crate) fn at_level(&self, level: DataLevel) -> Self {
        let mut plan = self.clone();
        plan.data_level = level;
        for kind in &mut plan.kinds {
            kind.shape.storage = storage(kind.kind, level, self.coefficients.is_some());
        }
        plan
    }
}

impl KindPlan {
    fn components(&self) -> u64 {
        self.shape.components as u64
    }
}

/// What is stored of a cell's geometry.
fn storage(kind: GeometryKind, level: DataLevel, factors: bool) -> Storage {
    match (kind, level, factors) {
        (GeometryKind::Affine, _, true) => Storage::ElementFactors,
        (GeometryKind::Affine, DataLevel::OnTheFly, false) => Storage::Affine,
        (GeometryKind::Trilinear, DataLevel::OnTheFly, _) => Storage::Trilinear,
        (_, _, true) => Storage::PointFactors,
        (_, _, false) => Storage::Jacobians,
    }
}

/// Bytes of node indices that one application on the host reads: 16-bit tables of the elements,
/// the chunks' lists of shared nodes (read twice) and the list of their sources.
fn index_bytes(space: &Space) -> u64 {
    let restriction = space.restriction();
    let table = NodeTable::new(space.nodes_1d()).len(1) * space.elements();
    let lists = 2 * restriction.interface.len() + restriction.interface_sources_offsets.len();
    (table * size_of::<u16>() + lists * size_of::<u32>()) as u64
}

fn check(
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    inspection: &Inspection,
) -> Result<(), OperatorError> {
    if space.components() != inspection.components {
        return Err(OperatorError::Components {
            form: inspection.components,
            space: space.components(),
        });
    }
    if geometry.len() != space.elements() {
        let (geometry, space) = (geometry.len(), space.elements());
        return Err(OperatorError::OtherMesh { geometry, space });
    }
    check_fields(
        "auxiliary fields",
        params.auxiliary.len(),
        inspection.auxiliary,
    )?;
    check_fields("parameters", params.parameters.len(), inspection.parameters)?;
    let cells = geometry.len();
    match params
        .auxiliary
        .iter()
        .enumerate()
        .find(|(_, values)| values.len() != cells)
    {
        Some((field, values)) => Err(OperatorError::Auxiliary {
            field,
            found: values.len(),
            cells,
        }),
        None => Ok(()),
    }
}

/// As many fields as the form reads, and no more than it may read.
pub(super) fn check_fields(
    what: &'static str,
    found: usize,
    read: usize,
) -> Result<(), OperatorError> {
    if found > MAX_FIELDS {
        return Err(OperatorError::TooManyFields {
            what,
            found,
            most: MAX_FIELDS,
        });
    }
    if found < read {
        return Err(OperatorError::MissingFields { what, found, read });
    }
    Ok(())
}

impl<F: Form<3, C>, const C: usize> Binding<'_, F, C> {
    /// λ and κ of the form where the auxiliary fields are `a`; zero where nothing is folded.
    pub(crate) fn coefficients(&self, a: &[f64]) -> (f64, f64) {
        match &self.plan.coefficients {
            None => (0.0, 0.0),
            Some(found) => found.at(a),
        }
    }
}
