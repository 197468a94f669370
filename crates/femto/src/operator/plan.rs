//! The plan of an operator: kinds of maps, storage and work, from sizes and the form alone.

use super::level::{ChosenLevel, DataLevel, LevelInputs};
use super::tables::{Shape, Tables};
use super::{OperatorError, OperatorParams};
use femto_element::Cell;
use femto_fem::geometry::{Geometry, GeometryKind};
use femto_fem::space::Space;
use femto_kernel::family::FactorPrecision;
use femto_kernel::family::batch::NodeTable;
use femto_kernel::family::cell_quadrature;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::sum_factorization::{self, Storage};
use femto_kernel::form::{Coefficients, Form, Inspection, MAX_FIELDS, TracedForm, trace};
use femto_kernel::roofline::{Precision, Work};
use femto_platform::device::DeviceKind;
use std::ops::Range;

/// A run of elements of one kind of map inside a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Index in [`Plan::kinds`].
    pub(crate) kind: usize,
    /// The elements.
    pub(crate) elements: Range<usize>,
}

/// The plan for the elements of one kind of map.
#[derive(Clone, Debug)]
pub(crate) struct KindPlan {
    pub(crate) kind: GeometryKind,
    pub(crate) elements: usize,
    pub(crate) shape: Shape,
}

/// The decisions of one operator.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) tables: Tables,
    /// Degree of the space.
    pub(crate) degree: usize,
    /// The cells, in words.
    pub(crate) cells: &'static str,
    /// The traced form, the same on every device.
    pub(crate) form: TracedForm,
    pub(crate) inspection: Inspection,
    pub(crate) kinds: Vec<KindPlan>,
    /// `[chunk]`, the segments of each chunk.
    pub(crate) segments: Vec<Vec<Segment>>,
    pub(crate) level: ChosenLevel,
    pub(crate) factors: FactorPrecision,
    /// The form is λ u, κ ∇u on hexahedra, with coefficients constant in each cell, so its factors may be
    /// stored.
    pub(crate) coefficients: Option<Coefficients>,
    auxiliary_numbers: u64,
    /// Bytes of the restriction's arrays that one application reads.
    index_bytes: u64,
    dofs: u64,
    /// Number of elements.
    pub(crate) elements: usize,
}

impl Plan {
    /// Checks sizes, traces the form, chooses a data level and from it a storage per kind of map, cuts
    /// chunks into segments.
    pub(crate) fn new<F: Form<D, C>, const D: usize, const C: usize>(
        device: DeviceKind,
        space: &Space,
        geometry: &Geometry,
        form: &F,
        params: &OperatorParams,
    ) -> Result<Self, OperatorError> {
        let form = trace::<F, D, C>(form);
        let inspection = form.inspect();
        check(space, geometry, &form)?;
        check_fields("parameters", params.parameters.len(), inspection.parameters)?;
        let fields = params.fields();
        let is_constant = |field: usize| fields.kinds().get(field) == Some(&FieldKind::Cell);
        let curved = geometry.kinds().contains(&GeometryKind::Curved);
        let tables = Tables::new(space, &form, params.quadrature, is_constant, curved)?;
        params.check_auxiliary(space, &inspection, tables.points())?;
        let foldable = fields.count(FieldKind::Cell) == fields.len();
        let coefficients = match &tables {
            Tables::Hex(_) if foldable && params.fold_coefficients => {
                inspection.coefficients.clone()
            }
            _ => None,
        };
        if device == DeviceKind::Host && params.factors == FactorPrecision::Single {
            return Err(OperatorError::SingleFactorsOnHost);
        }
        let has_knobs = device.is_accelerator() && coefficients.is_some();
        if !has_knobs && !params.knobs.is_empty() {
            return Err(OperatorError::KnobsElsewhere);
        }
        let level = params.data_level.choose(&LevelInputs {
            device,
            degree: space.degree(),
            mass: coefficients.is_some() && !inspection.gradients(),
            single_factors: coefficients.is_some() && params.factors == FactorPrecision::Single,
        });
        let mut plan = Self {
            kinds: Vec::new(),
            segments: Vec::new(),
            level,
            factors: params.factors,
            coefficients,
            auxiliary_numbers: (fields.count(FieldKind::Cell)
                + tables.points() * fields.count(FieldKind::Points))
                as u64,
            index_bytes: index_bytes(space),
            dofs: space.dofs() as u64,
            elements: space.elements(),
            degree: space.degree(),
            cells: space.cell().plural(),
            tables,
            form,
            inspection,
        };
        for chunk in &space.restriction().chunks {
            let runs = plan.runs(chunk.elements.clone(), params, |element| {
                geometry.kind(space.cells()[element] as usize)
            });
            plan.segments.push(runs);
        }
        Ok(plan)
    }

    /// Cuts elements into runs of one kind of map, and counts them; kinds are listed as they are met.
    fn runs(
        &mut self,
        elements: Range<usize>,
        params: &OperatorParams,
        kind_of: impl Fn(usize) -> GeometryKind,
    ) -> Vec<Segment> {
        let mut runs: Vec<Segment> = Vec::new();
        for element in elements {
            let kind = kind_of(element);
            let index = self.kinds.iter().position(|plan| plan.kind == kind);
            let index = index.unwrap_or_else(|| {
                self.kinds.push(KindPlan {
                    kind,
                    elements: 0,
                    shape: self.shape(kind, params),
                });
                self.kinds.len() - 1
            });
            self.kinds[index].elements += 1;
            match runs.last_mut() {
                Some(run) if run.kind == index => run.elements.end = element + 1,
                _ => runs.push(Segment {
                    kind: index,
                    elements: element..element + 1,
                }),
            }
        }
        runs
    }

    /// The sizes of the operator on cells of a kind.
    fn shape(&self, kind: GeometryKind, params: &OperatorParams) -> Shape {
        let (inspection, level) = (&self.inspection, self.level.level);
        match &self.tables {
            Tables::Hex(basis) => {
                let storage = storage(kind, level, self.coefficients.is_some());
                let shape = sum_factorization::work::Shape::new(basis, inspection, storage);
                Shape::Hex(shape.with_fields(inspection, params.fields()))
            }
            Tables::Dense(element, _) => {
                let storage = dense_storage(element.cell, kind, level);
                let fields = params.fields();
                let shape = cell_quadrature::Shape::new(element, inspection, fields, storage);
                Shape::Simplex(shape)
            }
        }
    }

    /// Work on L-vectors: input, output, indices, geometry and auxiliary fields, each once.
    pub(crate) fn work(&self, precision: Precision) -> Work {
        let vector = self.dofs * precision.bytes() as u64;
        self.total(precision, vector + self.index_bytes, vector)
    }

    /// Work on E-vectors.
    pub(crate) fn element_work(&self, precision: Precision) -> Work {
        let numbers: u64 = self
            .kinds
            .iter()
            .map(|plan| plan.elements as u64 * self.element_dofs())
            .sum();
        let vector = numbers * precision.bytes() as u64;
        self.total(precision, vector, vector)
    }

    fn total(&self, precision: Precision, read: u64, written: u64) -> Work {
        let elements = |plan: &KindPlan| {
            let stored = plan.shape.stored_precision(self.factors, precision);
            let geometry = plan.shape.geometry_numbers() * stored.bytes() as u64;
            let auxiliary = self.auxiliary_numbers * precision.bytes() as u64;
            Work {
                bytes_read: plan.elements as u64 * (geometry + auxiliary),
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

    /// Whether stored factors are rounded to less than this precision.
    pub(crate) fn is_perturbed(&self, precision: Precision) -> bool {
        let stored = |plan: &KindPlan| plan.shape.stored_precision(self.factors, precision);
        self.kinds.iter().any(|plan| stored(plan) != precision)
    }

    /// Flops as the literature counts them.
    pub(crate) fn nominal_flops(&self) -> u64 {
        self.kinds
            .iter()
            .map(|plan| plan.elements as u64 * plan.shape.nominal_flops())
            .sum()
    }

    /// Numbers of auxiliary fields that are read for a cell: its constants, and those at its points.
    pub(crate) fn auxiliary_numbers(&self) -> usize {
        self.auxiliary_numbers as usize
    }

    /// Unknowns of an element.
    pub(crate) fn element_dofs(&self) -> u64 {
        (self.tables.nodes() * self.inspection.components) as u64
    }

    /// The same plan with the geometry stored as at another data level, for comparison.
    pub(crate) fn at_level(&self, level: DataLevel) -> Self {
        let mut plan = self.clone();
        for kind in &mut plan.kinds {
            match (&mut kind.shape, &self.tables) {
                (Shape::Hex(shape), _) => {
                    shape.storage = storage(kind.kind, level, self.coefficients.is_some());
                }
                (Shape::Simplex(shape), Tables::Dense(tables, _)) => {
                    shape.storage = dense_storage(tables.cell, kind.kind, level);
                }
                (Shape::Simplex(_), Tables::Hex(_)) => {}
            }
        }
        plan
    }
}

/// The storage of a hexahedron's geometry.
fn storage(kind: GeometryKind, level: DataLevel, factors: bool) -> Storage {
    match (kind, level, factors) {
        (GeometryKind::Affine, _, true) => Storage::ElementFactors,
        (GeometryKind::Affine, DataLevel::OnTheFly, false) => Storage::Affine,
        (GeometryKind::Trilinear, DataLevel::OnTheFly, _) => Storage::Trilinear,
        (_, _, true) => Storage::PointFactors,
        (_, _, false) => Storage::Jacobians,
    }
}

/// The storage of the geometry of a cell with dense tables. Only maps of simplices are recomputed.
fn dense_storage(cell: Cell, kind: GeometryKind, level: DataLevel) -> cell_quadrature::Storage {
    use cell_quadrature::Storage;
    match (kind, level) {
        (GeometryKind::Curved | GeometryKind::Trilinear, _) => Storage::Jacobians,
        _ if cell.is_tensor_product() => Storage::Jacobians,
        (_, DataLevel::Partial) => Storage::Affine,
        (_, DataLevel::OnTheFly | DataLevel::Automatic) => Storage::Vertices,
    }
}

/// Bytes of node indices that one application on the host reads: 16-bit tables of the elements,
/// the chunks' lists of shared nodes (read twice) and the list of their sources.
fn index_bytes(space: &Space) -> u64 {
    let restriction = space.restriction();
    let table = node_table(space).len(1) * space.elements();
    let lists = 2 * restriction.interface.len() + restriction.interface_sources_offsets.len();
    (table * size_of::<u16>() + lists * size_of::<u32>()) as u64
}

/// Which nodes of an element the host's tables index.
pub(crate) fn node_table(space: &Space) -> NodeTable {
    match sum_factorization::supports(space.cell()) {
        true => NodeTable::new(space.nodes_1d()),
        false => NodeTable::listed(space.nodes_per_element()),
    }
}

/// Whether form, space and geometry go together.
fn check(space: &Space, geometry: &Geometry, form: &TracedForm) -> Result<(), OperatorError> {
    if form.dim != space.dim() {
        return Err(OperatorError::Dimension {
            form: form.dim,
            cells: space.cell().plural(),
        });
    }
    if space.components() != form.components() {
        return Err(OperatorError::Components {
            form: form.components(),
            space: space.components(),
        });
    }
    if geometry.len() != space.elements() || geometry.cell() != space.cell() {
        let (geometry, space) = (geometry.len(), space.elements());
        return Err(OperatorError::OtherMesh { geometry, space });
    }
    Ok(())
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
