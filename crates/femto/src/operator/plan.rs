//! The plan of an operator: kinds of maps and storage, from sizes and the form alone.

use super::level::{ChosenLevel, DataLevel, LevelInputs};
use super::tables::tables;
use super::work::index_bytes;
use super::{AnyForm, OperatorError, OperatorParams};
use femto_element::{Degree, Layering, MapKind};
use femto_fem::geometry::Geometry;
use femto_fem::space::{Block, Space};
use femto_kernel::family::batch::NodeTable;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{self, ElementOperator, FactorPrecision, FamilyId};
use femto_kernel::form::{MAX_FIELDS, TracedForm};
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceKind;
use std::ops::Range;
use std::sync::Arc;

/// A run of elements of one kind of map within a chunk.
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
    pub(crate) kind: MapKind,
    pub(crate) elements: usize,
    /// The family that evaluates them: a special one, or that of the plan.
    pub(crate) family: FamilyId,
    /// Why no special family does, in words.
    pub(crate) reasons: Vec<String>,
    pub(crate) block: family::Block,
}

/// The start of a block's cells in auxiliary fields: by mesh cells, and at points from block to block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FieldPlace {
    /// In fields that are constant in each cell.
    pub(crate) cells: usize,
    /// In fields at points.
    pub(crate) points: usize,
}

impl FieldPlace {
    /// The range of a cell of this block in a field of the given kind, with `points` points per cell.
    pub(super) fn of_cell(self, kind: FieldKind, cell: usize, points: usize) -> Range<usize> {
        let (first, numbers) = match kind {
            FieldKind::Points => (self.points, points),
            FieldKind::Cell | FieldKind::Nodal => (self.cells, 1),
        };
        first + cell * numbers..first + (cell + 1) * numbers
    }
}

/// The decisions for the elements of one shape.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The family that evaluates the cells.
    pub(crate) family: FamilyId,
    /// Tables, traced form and fields, the same on every device.
    pub(crate) operator: Arc<ElementOperator>,
    /// Degree of the space.
    pub(crate) degree: Degree,
    pub(crate) kinds: Vec<KindPlan>,
    /// With element matrices, the plan of the operator that assembles them.
    pub(crate) base: Option<Box<Plan>>,
    /// `[chunk]`, the segments of each chunk.
    pub(crate) segments: Vec<Vec<Segment>>,
    pub(crate) level: ChosenLevel,
    pub(crate) factors: FactorPrecision,
    pub(crate) place: FieldPlace,
    /// Whether every node has a single position, so that vertex nodes determine vertex positions.
    nodes_are_places: bool,
    /// Bytes of the restriction's arrays that one application reads.
    pub(super) index_bytes: u64,
    /// Number of vertex coordinates, or of those of all nodes of the mesh if its order is higher.
    pub(super) coordinates: usize,
    /// Entries of an L-vector that elements touch.
    pub(crate) dofs: usize,
    /// Number of elements.
    pub(crate) elements: usize,
}

impl Plan {
    /// Checks sizes, traces the form, chooses family and data level, cuts chunks into segments by kind of map.
    pub(crate) fn new(
        device: DeviceKind,
        block: &Block,
        form: &dyn AnyForm,
        params: &OperatorParams,
        place: FieldPlace,
    ) -> Result<Self, OperatorError> {
        let Block { space, geometry } = block;
        let form = form.trace();
        let inspection = form.inspect();
        check(space, geometry, &form)?;
        check_fields("parameters", params.parameters.len(), inspection.parameters)?;
        let family = FamilyId::of(space.cell(), geometry.dim())?;
        check_fields(
            "auxiliary fields",
            params.auxiliary.len(),
            inspection.auxiliary,
        )?;
        let fields = params.fields();
        let is_constant = |field: usize| fields.kinds().get(field) == Some(&FieldKind::Cell);
        let on = (is_constant, geometry.is_curved());
        let tables = tables((space, geometry), family, &form, params.quadrature, on)?;
        let foldable = fields.count(FieldKind::Cell) == fields.len();
        let folds = FamilyId::any_folds(space.cell(), geometry.dim());
        let coefficients = match folds && foldable && params.fold_coefficients {
            true => inspection.coefficients.clone(),
            false => None,
        };
        if device == DeviceKind::Host && params.factors == FactorPrecision::Single {
            return Err(OperatorError::SingleFactorsOnHost);
        }
        let inputs = LevelInputs {
            device,
            degree: space.degree().most(),
            few_numbers: coefficients.is_some()
                && family.stored_is_faster(&tables, inspection.gradients())
                && !params.is_applied_once
                && geometry.kinds().iter().any(|&kind| kind != MapKind::Affine),
            mass: coefficients.is_some() && !inspection.gradients(),
            single_factors: coefficients.is_some() && params.factors == FactorPrecision::Single,
            scatter: params.scatter,
        };
        let with_matrices = params.data_level == DataLevel::Element;
        let level = match params.data_level {
            DataLevel::Element | DataLevel::Sparse => DataLevel::Automatic.choose(&inputs),
            level => level.choose(&inputs),
        };
        let mut plan = Self {
            kinds: Vec::new(),
            base: None,
            segments: Vec::new(),
            level,
            factors: params.factors,
            index_bytes: index_bytes(family, space),
            nodes_are_places: !space.is_periodic(),
            coordinates: geometry
                .coordinates()
                .len()
                .min(space.restriction().touched())
                * geometry.dim(),
            dofs: space.restriction().touched() * space.components(),
            place,
            elements: space.elements(),
            degree: space.degree(),
            family,
            operator: Arc::new(ElementOperator {
                cell: space.cell(),
                tables,
                form,
                inspection,
                fields,
                coefficients,
                fold_coefficients: foldable && params.fold_coefficients,
                layering: geometry.columns().map_or(Layering::Any, |it| it.layering),
            }),
        };
        for chunk in &space.restriction().chunks {
            let runs = plan.runs(device.is_accelerator(), chunk.elements.clone(), |element| {
                geometry.kind(space.cells()[element] as usize)
            })?;
            plan.segments.push(runs);
        }
        let kinds = || plan.kinds.iter().filter(|_| device.is_accelerator());
        let is_known = |name: &&str| kinds().any(|kind| kind.family.has_knob(name));
        if let Some(knob) = params.knobs.names().find(|name| !is_known(name)) {
            return Err(OperatorError::KnobElsewhere { knob });
        }
        match with_matrices {
            true => plan.with_matrices(space, DataLevel::Element.choose(&inputs)),
            false => Ok(plan),
        }
    }

    /// The plan of products with element matrices, which this one's operator assembles.
    fn with_matrices(self, space: &Space, level: ChosenLevel) -> Result<Self, OperatorError> {
        let operator = &self.operator;
        if !operator.inspection.linear {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        let family = FamilyId::of_matrices(operator.cell, operator.form.dim)?;
        let mut plan = self.clone();
        for kind in &mut plan.kinds {
            kind.block = family.block(operator, kind.kind, true)?;
            kind.family = family;
            kind.reasons.clear();
        }
        Ok(Self {
            family,
            level,
            index_bytes: index_bytes(family, space),
            base: Some(Box::new(self)),
            ..plan
        })
    }

    /// Columns of the element matrices; 0 without any.
    pub(crate) fn columns(&self) -> usize {
        let storage = self.kinds.first().and_then(|kind| kind.block.matrices());
        storage.map_or(0, |it| it.unknowns)
    }

    /// Bytes of the element matrices, if there are any.
    pub(crate) fn matrices_bytes(&self, precision: Precision) -> u64 {
        let bytes = |kind: &KindPlan| {
            let entries = kind.block.matrices().map_or(0, |it| it.entries());
            (kind.elements * entries * precision.bytes()) as u64
        };
        self.kinds.iter().map(bytes).sum()
    }

    /// Splits elements into runs of one kind of map and counts them; kinds are listed in order of
    /// appearance.
    fn runs(
        &mut self,
        accelerator: bool,
        elements: Range<usize>,
        kind_of: impl Fn(usize) -> MapKind,
    ) -> Result<Vec<Segment>, OperatorError> {
        let mut runs: Vec<Segment> = Vec::new();
        for element in elements {
            let kind = kind_of(element);
            let index = self.kinds.iter().position(|plan| plan.kind == kind);
            let index = match index {
                Some(index) => index,
                None => {
                    let (special, reasons) = FamilyId::special(&self.operator, kind, accelerator);
                    let family = special.unwrap_or(self.family);
                    self.kinds.push(KindPlan {
                        kind,
                        elements: 0,
                        family,
                        reasons,
                        block: self.block((family, kind), self.level.level)?,
                    });
                    self.kinds.len() - 1
                }
            };
            self.kinds[index].elements += 1;
            match runs.last_mut() {
                Some(run) if run.kind == index => run.elements.end = element + 1,
                _ => runs.push(Segment {
                    kind: index,
                    elements: element..element + 1,
                }),
            }
        }
        Ok(runs)
    }

    /// The block of elements of one kind of map.
    fn block(
        &self,
        (family, map): (FamilyId, MapKind),
        level: DataLevel,
    ) -> Result<family::Block, OperatorError> {
        let block = |stored| family.block(&self.operator, map, stored);
        let made = block(level == DataLevel::Partial)?;
        match made.reads_vertices() && !self.nodes_are_places {
            true => Ok(block(true)?),
            false => Ok(made),
        }
    }

    /// Quadrature points of an element.
    pub(crate) fn points(&self) -> usize {
        self.operator.tables.points()
    }

    /// Where the next block starts in fields at points.
    pub(super) fn end_of_points(&self) -> usize {
        self.place.points + self.elements * self.points()
    }

    /// Whether stored factors are rounded to less than this precision.
    pub(crate) fn is_perturbed(&self, precision: Precision) -> bool {
        let stored = |plan: &KindPlan| plan.block.stored_precision(self.factors, precision);
        let base = self.base.as_ref();
        self.kinds.iter().any(|plan| stored(plan) != precision)
            || base.is_some_and(|base| base.is_perturbed(precision))
    }

    /// Numbers of auxiliary fields that an element of a kind reads: its constants, and those at its points.
    pub(crate) fn field_numbers(&self, kind: &KindPlan) -> [usize; 2] {
        let fields = self.operator.fields;
        match kind.block.folds_coefficients() {
            true => [0; 2],
            false => [
                fields.count(FieldKind::Cell),
                fields.count(FieldKind::Points) * self.points(),
            ],
        }
    }

    /// Unknowns of an element.
    pub(crate) fn element_dofs(&self) -> u64 {
        (self.operator.tables.nodes() * self.operator.inspection.components) as u64
    }

    /// The same plan with the geometry stored at another data level, for comparison.
    pub(crate) fn at_level(&self, level: DataLevel) -> Self {
        let mut plan = self.base.as_deref().unwrap_or(self).clone();
        for kind in &mut plan.kinds {
            // A block that exists at one level exists at the others.
            if let Ok(block) = self.block((kind.family, kind.kind), level) {
                kind.block = block;
            }
        }
        plan
    }

    /// The nodes of an element that the host's tables list.
    pub(crate) fn node_table(&self) -> NodeTable {
        // Only cells of one degree have tables by axis.
        let nodes = (self.degree.horizontal + 1, self.operator.tables.nodes());
        self.family.node_table(self.operator.cell, nodes)
    }
}

/// Checks that form, space and geometry match.
fn check(space: &Space, geometry: &Geometry, form: &TracedForm) -> Result<(), OperatorError> {
    if form.dim != geometry.dim() {
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
        return Err(OperatorError::OtherMesh {
            geometry: geometry.len(),
            cells: geometry.cell().plural(),
            space: space.elements(),
            elements: space.cell().plural(),
        });
    }
    match space.is_on(geometry) {
        true => Ok(()),
        false => Err(OperatorError::OtherCells),
    }
}

/// Checks that there are as many fields as the form reads, and no more than a form may read.
pub(super) fn check_fields(
    what: &'static str,
    found: usize,
    read: usize,
) -> Result<(), OperatorError> {
    if found.max(read) > MAX_FIELDS {
        return Err(OperatorError::TooManyFields {
            what,
            found: found.max(read),
            most: MAX_FIELDS,
        });
    }
    if found < read {
        return Err(OperatorError::MissingFields { what, found, read });
    }
    Ok(())
}
