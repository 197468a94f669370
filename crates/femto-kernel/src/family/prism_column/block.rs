//! prism_column as a family.

use super::columns::Columns;
use super::host;
use super::parts::Parts;
use super::schedule::{KNOBS, Schedule, Sizes};
use super::source::KernelSpec;
use super::tables::Tables;
use super::work::{Loops, flops};
use crate::family::batch::ElementKernel;
use crate::family::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    Family, KernelSource, Knob, MOST_CONSTANT_BYTES, MapInput, Operand, Role, Target, Vectors,
    legal_candidates,
};
use crate::form::Form;
use crate::scalar::{SimdLevel, Vectorizable};
use femto_element::{Cell, MapKind, tables};
use std::sync::Arc;

/// Prisms in columns.
#[derive(Clone, Copy, Debug)]
pub struct PrismColumn;

impl Family for PrismColumn {
    const NAME: &'static str = "prism_column";
    const ROLE: Role = Role::Special;
    const KNOBS: &'static [Knob] = &KNOBS;
    type Block = Block;

    fn supports(cell: Cell, dim: usize) -> bool {
        cell == Cell::Prism && dim == 3
    }

    fn takes(
        operator: &ElementOperator,
        map: MapKind,
        accelerator: bool,
    ) -> Result<(), &'static str> {
        match map {
            MapKind::Extruded => match factors(operator) {
                None => Err("the rule is not a product"),
                Some(tables) if accelerator && tables.bytes() > MOST_CONSTANT_BYTES => {
                    Err("the tables of the basis and the rule do not fit constant memory")
                }
                Some(_) => Ok(()),
            },
            _ => Err("their edges are not all vertical, or columns have curved sides"),
        }
    }

    fn block(operator: &Arc<ElementOperator>, _: MapKind, _: bool) -> Result<Block, BlockError> {
        let tables = factors(operator).ok_or(BlockError::Tables { family: Self::NAME })?;
        Ok(Block {
            on_host: Parts::on_host(operator, &tables).map(Arc::new),
            on_device: Parts::on_device(operator, &tables).map(Arc::new),
            tables: Arc::new(tables),
            operator: Arc::clone(operator),
        })
    }
}

/// The factors of an operator's tables.
fn factors(operator: &ElementOperator) -> Option<Tables> {
    match &operator.tables {
        tables::Tables::Dense(dense) => Tables::new(dense),
        tables::Tables::Tensor(_) => None,
    }
}

/// The operator on prisms in columns.
#[derive(Clone, Debug)]
pub struct Block {
    tables: Arc<Tables>,
    /// If the operator consists of them.
    on_host: Option<Arc<Parts<f64>>>,
    on_device: Option<Arc<Parts<f64>>>,
    operator: Arc<ElementOperator>,
}

impl Block {
    pub(in crate::family) fn kernel<T, F, const D: usize, const C: usize>(
        &self,
        form: &F,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        let plan = host::HostPlan {
            tables: &self.tables,
            parts: self.on_host.as_deref(),
            operator: &self.operator,
            level,
        };
        plan.build::<T, F, D, C>(form)
    }
}

impl BlockOperator for Block {
    fn map_input(&self) -> MapInput {
        MapInput::Map
    }

    fn geometry_numbers(&self) -> usize {
        let of = &self.operator;
        host::stored_numbers(of.layering, of.inspection.reads_position)
    }

    fn pack(&self, map: CellMap, _: (f64, f64), out: &mut [f64]) {
        let CellMap::Map(map) = map else {
            unreachable!("a block packs what `map_input` asks for");
        };
        host::pack(map, self.operator.layering, out);
    }

    /// Kernels read no geometry.
    fn device_numbers(&self) -> usize {
        0
    }

    fn folds_coefficients(&self) -> bool {
        false
    }

    fn is_as_written(&self) -> bool {
        self.on_host.is_none() && self.on_device.is_none()
    }

    fn scheduled_flops(&self) -> u64 {
        let (tables, of) = (&self.tables, &self.operator.inspection);
        let loops = Loops {
            of_level: false,
            layering: self.operator.layering,
            unrolled: false,
        };
        match &self.on_host {
            Some(parts) => parts.flops(tables, of, loops),
            None => flops(tables, of, self.operator.fields, loops),
        }
    }

    fn stored(&self) -> String {
        "bases and heights of prisms".to_owned()
    }

    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError> {
        let form = &self.operator.form;
        let (tables, parts) = (&self.tables, self.on_device.as_deref());
        let of_columns = (&**tables, elements.layers());
        let sizes = Sizes::of(&self.operator, of_columns, parts, target.precision);
        let in_pairs = (Schedule::all(&sizes, &target.knobs).iter())
            .any(|it| it.pairs && it.validate(&sizes, &target.limits).is_ok());
        let (columns, arrays) =
            Columns::new(tables, elements, in_pairs).ok_or(BlockError::Columns)?;
        Ok(Box::new(Kernels {
            point_form: form.point_function(target.precision, target.language)?,
            arrays,
            block: self.clone(),
            target: *target,
            columns,
        }))
    }
}

/// The kernels of a block on a device.
#[derive(Debug)]
struct Kernels {
    block: Block,
    target: Target,
    /// The printed form.
    point_form: String,
    columns: Columns,
    arrays: Vec<(Operand, Array)>,
}

impl Kernels {
    fn spec(&self, vectors: Vectors) -> KernelSpec<'_> {
        KernelSpec {
            tables: &self.block.tables,
            parts: self.block.on_device.as_deref(),
            columns: &self.columns,
            operator: &self.block.operator,
            point_form: &self.point_form,
            vectors,
            precision: self.target.precision,
            language: self.target.language,
        }
    }
}

impl BlockKernels for Kernels {
    fn take_arrays(&mut self) -> Vec<(Operand, Array)> {
        std::mem::take(&mut self.arrays)
    }

    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError> {
        let spec = self.spec(vectors);
        let prisms = self.columns.count * self.columns.layers;
        let sizes = spec.sizes();
        let schedules = Schedule::all(&sizes, &self.target.knobs);
        legal_candidates(schedules, |schedule| {
            schedule.validate(&sizes, &self.target.limits)?;
            let schedule = spec.without_idle_sums(schedule);
            let columns = match self.columns.in_pairs {
                Some(places) if schedule.pairs => places,
                _ => self.columns.count,
            };
            Ok(Candidate {
                schedule: schedule.to_string(),
                source: spec.source(&schedule),
                places: columns * schedule.stacks(self.columns.layers),
                work: spec.work(&schedule, prisms),
            })
        })
    }

    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError> {
        Ok(self.spec(vectors).diagonal_source())
    }
}
