//! sum_factorization as a family.

use super::Storage;
use super::entries::Entries;
use super::host::HostPlan;
use super::kernel::{KNOBS, KernelSpec, PointStep, Schedule};
use super::work::Shape;
use crate::family::batch::{ElementKernel, NodeTable};
use crate::family::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    FactorPrecision, Family, KernelSource, Knob, MapInput, Operand, ScheduleError, Target, Vectors,
    legal_candidates,
};
use crate::form::Form;
use crate::roofline::Work;
use crate::scalar::{Precision, SimdLevel, Vectorizable};
use femto_element::tables::{Tables, TensorTables};
use femto_element::{Cell, MapKind};
use std::sync::Arc;

/// Sum factorisation.
#[derive(Clone, Copy, Debug)]
pub struct SumFactorization;

impl Family for SumFactorization {
    const NAME: &'static str = "sum_factorization";
    const TENSOR_TABLES: bool = true;
    const KNOBS: &'static [Knob] = &KNOBS;
    const WRITES_INSIDE: bool = true;
    type Block = Block;

    fn supports(cell: Cell, dim: usize) -> bool {
        matches!(cell, Cell::Hexahedron | Cell::Quadrilateral) && cell.dim() == dim
    }

    fn folds(cell: Cell) -> bool {
        cell == Cell::Hexahedron
    }

    /// At degree 1, see [`Storage::Entries`]. At the nodes a mass is diagonal.
    fn stored_is_faster(tables: &Tables, gradients: bool) -> bool {
        let Tables::Tensor(basis) = tables else {
            return false;
        };
        let is_diagonal = basis.collocated && !gradients;
        basis.cell == Cell::Hexahedron && basis.nodes_1d == 2 && !is_diagonal
    }

    fn node_table(cell: Cell, (nodes_1d, _): (usize, usize)) -> NodeTable {
        NodeTable::tensor(cell.dim(), nodes_1d)
    }

    fn block(
        operator: &Arc<ElementOperator>,
        map: MapKind,
        stored: bool,
    ) -> Result<Block, BlockError> {
        let Tables::Tensor(basis) = &operator.tables else {
            return Err(BlockError::Tables { family: Self::NAME });
        };
        let gradients = operator.inspection.gradients();
        let entries = Self::stored_is_faster(&operator.tables, gradients);
        let storage = storage(map, stored, operator.coefficients.is_some(), entries);
        let shape = Shape::new(basis, &operator.inspection, storage);
        let entries = (storage == Storage::Entries).then(|| Entries::new(basis, &shape));
        Ok(Block {
            shape: shape.with_fields(&operator.inspection, operator.fields),
            map,
            entries: entries.map(Arc::new),
            basis: Arc::clone(basis),
            operator: Arc::clone(operator),
        })
    }
}

/// The storage of an element's geometry; with `factors`, coefficients are folded, with `entries` into numbers of the matrix.
fn storage(map: MapKind, stored: bool, factors: bool, entries: bool) -> Storage {
    match (map, stored, factors) {
        (MapKind::Affine, _, true) => Storage::ElementFactors,
        (MapKind::Affine, false, false) => Storage::Affine,
        (MapKind::Multilinear, false, true) => Storage::MapFactors,
        (MapKind::Multilinear, false, false) => Storage::Multilinear,
        (_, _, true) if entries => Storage::Entries,
        (_, _, true) => Storage::PointFactors,
        (_, _, false) => Storage::Jacobians,
    }
}

/// The operator on elements of one kind of map.
#[derive(Clone, Debug)]
pub struct Block {
    operator: Arc<ElementOperator>,
    basis: Arc<TensorTables>,
    shape: Shape,
    map: MapKind,
    /// With [`Storage::Entries`], what the points contribute.
    entries: Option<Arc<Entries>>,
}

impl Block {
    fn plan(&self, level: SimdLevel) -> HostPlan<'_> {
        HostPlan {
            basis: &self.basis,
            shape: self.shape,
            level,
        }
    }

    pub(in crate::family) fn kernel<T, F, const D: usize, const C: usize>(
        &self,
        form: &F,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        self.plan(level).build::<T, F, D, C>(form)
    }
}

impl BlockOperator for Block {
    fn map_input(&self) -> MapInput {
        let is_curved = self.map == MapKind::Curved;
        match self.shape.storage {
            Storage::Entries if is_curved => MapInput::Points,
            storage if storage.is_at_points() => MapInput::Points,
            _ => MapInput::Map,
        }
    }

    fn geometry_numbers(&self) -> usize {
        self.shape.geometry_numbers() as usize
    }

    fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        // Packed geometry is the same for all instruction sets.
        let plan = self.plan(SimdLevel::Baseline);
        plan.pack(map, coefficients, out);
    }

    fn device_numbers(&self) -> usize {
        super::kernel::geometry_len(&self.shape)
    }

    fn pack_for_device(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        super::kernel::pack((&self.shape, &self.basis), map, coefficients, out);
    }

    fn pack_group(&self, maps: &[CellMap], coefficients: &[(f64, f64)], out: &mut [f64]) -> bool {
        let Some(entries) = &self.entries else {
            return false;
        };
        let stride = out.len() / maps.len();
        entries.pack(maps, coefficients, (out, stride));
        true
    }

    fn folds_coefficients(&self) -> bool {
        self.shape.storage.is_factors()
    }

    fn stored_precision(&self, factors: FactorPrecision, precision: Precision) -> Precision {
        self.shape.storage.precision(factors, precision)
    }

    fn scheduled_flops(&self) -> u64 {
        self.shape.scheduled_flops()
    }

    /// As counted by Świrydowicz et al. 2019.
    fn nominal_flops(&self) -> u64 {
        self.shape.nominal_flops()
    }

    fn stored(&self) -> String {
        let (numbers, points) = (self.geometry_numbers(), self.basis.points());
        match self.shape.storage {
            Storage::MapFactors if !self.shape.gradients => {
                format!("{numbers} coefficients of λ det J an element")
            }
            Storage::MapFactors => {
                format!(
                    "the map and coefficients, {numbers} numbers an element, Jacobian recomputed"
                )
            }
            Storage::Entries => format!("{numbers} numbers of an element's matrix"),
            Storage::Affine | Storage::Multilinear => {
                format!("the map, {numbers} numbers an element, Jacobian recomputed")
            }
            Storage::Jacobians => format!("Jacobian at {points} points an element"),
            Storage::ElementFactors => format!("{numbers} factors an element"),
            Storage::PointFactors => {
                format!("{} factors at {points} points an element", numbers / points)
            }
        }
    }

    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError> {
        let basis = &self.basis;
        let rule = basis.points.iter().zip(&basis.weights);
        let rule = rule.flat_map(|(&x, &w)| [x, w]).collect();
        let mut kernels = Kernels {
            block: self.clone(),
            target: *target,
            elements: elements.count(),
            arrays: vec![(Operand::Rule, Array::Reals(rule))],
            summed: None,
            entries: 0,
        };
        // With knobs there is no other schedule.
        if !target.is_applied_once || !target.knobs.is_empty() {
            kernels.add_lists(elements);
        }
        Ok(Box::new(kernels))
    }
}

/// The kernels of a block on a device.
#[derive(Debug)]
struct Kernels {
    block: Block,
    target: Target,
    elements: usize,
    /// The quadrature rule, points and weights, `[points_1d][2]`, and lists of nodes.
    arrays: Vec<(Operand, Array)>,
    /// The schedule that the lists are for, and their entries.
    summed: Option<Schedule>,
    entries: usize,
}

impl Kernels {
    fn spec(&self, vectors: Vectors) -> KernelSpec<'_> {
        let Block {
            operator,
            basis,
            shape,
            ..
        } = &self.block;
        KernelSpec {
            basis,
            shape: *shape,
            step: match shape.storage.is_factors() {
                true => PointStep::Factors(self.target.factors),
                false => PointStep::Form(&operator.form),
            },
            vectors,
            precision: self.target.precision,
            language: self.target.language,
        }
    }

    /// Makes the lists by which blocks sum, if the best legal schedule wants them.
    fn add_lists(&mut self, elements: &dyn Elements) {
        let spec = self.spec(self.target.vectors);
        let mut schedules = self.schedules(&spec).into_iter();
        let legal = schedules.find(|it| it.validate(&spec, &self.target.limits).is_ok());
        let Some(schedule) = legal.filter(|it| it.block_sums) else {
            return;
        };
        let lists = spec.block_sums(&schedule, elements.nodes(), &elements.elsewhere());
        self.summed = Some(schedule);
        self.entries = lists.list.len();
        self.arrays.extend(lists.arrays());
    }

    /// All schedules, best first.
    fn schedules(&self, spec: &KernelSpec) -> Vec<Schedule> {
        let mut schedules = spec.schedules(&self.target.limits);
        let knobs = self.target.knobs;
        if !knobs.is_empty() {
            schedules.truncate(1);
        }
        let turned = schedules.into_iter();
        turned.map(|schedule| schedule.turned(&knobs)).collect()
    }

    fn work(&self, spec: &KernelSpec, schedule: &Schedule) -> Work {
        let nodes = (self.elements * spec.basis.nodes()) as u64;
        let bytes = (spec.shape.components * spec.precision.bytes()) as u64;
        let (bytes_read, bytes_written) = match spec.vectors {
            Vectors::Element { .. } => (nodes * bytes, nodes * bytes),
            Vectors::Nodal { .. } => {
                let sums = match schedule.block_sums {
                    true => nodes * 2 + self.entries as u64 * 6,
                    false => 0,
                };
                (nodes * size_of::<u32>() as u64 + sums, 0)
            }
        };
        spec.element_work(schedule) * self.elements as u64
            + Work {
                bytes_read,
                bytes_written,
                ..Work::default()
            }
    }
}

impl BlockKernels for Kernels {
    fn take_arrays(&mut self) -> Vec<(Operand, Array)> {
        std::mem::take(&mut self.arrays)
    }

    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError> {
        let spec = self.spec(vectors);
        legal_candidates(self.schedules(&spec), |schedule| {
            schedule.validate(&spec, &self.target.limits)?;
            if schedule.block_sums && self.summed != Some(schedule) {
                return Err(BlockError::Schedule(ScheduleError::Rule {
                    schedule: schedule.to_string(),
                    rule: "blocks sum by lists, which only the best schedule has",
                }));
            }
            Ok(Candidate {
                source: spec.source(&schedule)?,
                places: self.elements,
                work: self.work(&spec, &schedule),
                schedule: schedule.to_string(),
            })
        })
    }

    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError> {
        Ok(self.spec(vectors).diagonal_source()?)
    }
}
