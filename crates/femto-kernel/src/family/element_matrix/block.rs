//! element_matrix as a family.

use super::host;
use super::schedule::{Schedule, Sizes, default};
use super::source::KernelSpec;
use crate::family::batch::ElementKernel;
use crate::family::{
    Assembly, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator,
    Elements, Family, KernelSource, MapInput, MatrixStorage, Role, Target, Vectors,
    legal_candidates,
};
use crate::form::Form;
use crate::scalar::{SimdLevel, Vectorizable};
use femto_element::{Cell, MapKind};
use std::sync::Arc;

/// A dense matrix for each element.
#[derive(Clone, Copy, Debug)]
pub struct ElementMatrix;

impl Family for ElementMatrix {
    const NAME: &'static str = "element_matrix";
    const ROLE: Role = Role::Matrices;
    type Block = Block;

    fn supports(_: Cell, _: usize) -> bool {
        true
    }

    fn block(operator: &Arc<ElementOperator>, _: MapKind, _: bool) -> Result<Block, BlockError> {
        let (nodes, inspection) = (operator.tables.nodes(), &operator.inspection);
        let (components, coupled) = (inspection.components, inspection.coupled);
        Ok(Block {
            nodes,
            components,
            coupled,
            sizes: Sizes::new(nodes, components, coupled),
            symmetric: inspection.symmetric,
        })
    }
}

/// The matrices of the elements.
#[derive(Clone, Debug)]
pub struct Block {
    nodes: usize,
    components: usize,
    coupled: usize,
    sizes: Sizes,
    symmetric: bool,
}

impl Block {
    fn spec(&self, target: &Target, vectors: Vectors) -> KernelSpec {
        KernelSpec {
            nodes: self.nodes,
            components: self.components,
            coupled: self.coupled,
            vectors,
            precision: target.precision,
            language: target.language,
        }
    }

    fn storage(&self) -> MatrixStorage {
        self.sizes.storage(self.symmetric)
    }

    pub(in crate::family) fn kernel<T, F, const D: usize, const C: usize>(
        &self,
        _: &F,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        host::build(self.storage(), (self.nodes, self.components), level)
    }
}

impl BlockOperator for Block {
    fn matrices(&self) -> Option<MatrixStorage> {
        Some(self.storage())
    }

    fn map_input(&self) -> MapInput {
        MapInput::Points
    }

    fn geometry_numbers(&self) -> usize {
        self.storage().entries()
    }

    /// Nothing: the matrices are assembled.
    fn pack(&self, _: CellMap, _: (f64, f64), _: &mut [f64]) {}

    /// Kernels read no geometry.
    fn device_numbers(&self) -> usize {
        0
    }

    fn folds_coefficients(&self) -> bool {
        true
    }

    fn scheduled_flops(&self) -> u64 {
        let Sizes { unknowns, sides } = self.sizes;
        (2 * unknowns * unknowns * sides) as u64
    }

    fn stored(&self) -> String {
        let Sizes { unknowns, sides } = self.sizes;
        let entries = self.storage().entries();
        let part = if self.symmetric { "a triangle of " } else { "" };
        let shared = match sides {
            1 => String::new(),
            count if self.coupled == 1 => format!(", shared by {count} components"),
            count => format!(", shared by {count} groups of {} components", self.coupled),
        };
        format!("{part}a {unknowns} × {unknowns} matrix an element, {entries} numbers{shared}")
    }

    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError> {
        Ok(Box::new(Kernels {
            block: self.clone(),
            target: *target,
            elements: elements.count(),
            schedule: default(self.sizes, self.symmetric, target.precision, &target.limits),
        }))
    }
}

/// The kernels of a block on a device.
#[derive(Debug)]
struct Kernels {
    block: Block,
    target: Target,
    elements: usize,
    /// Its storage is that of all kernels.
    schedule: Schedule,
}

impl BlockKernels for Kernels {
    fn assembly(&self, vectors: Vectors) -> Option<Assembly> {
        let spec = self.block.spec(&self.target, vectors);
        Some(Assembly {
            layout: spec.layout(&self.schedule),
            unit: spec.unit_source(&self.schedule),
            store: spec.store_source(&self.schedule),
        })
    }

    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError> {
        let spec = self.block.spec(&self.target, vectors);
        legal_candidates([self.schedule, self.schedule.plain()], |schedule| {
            schedule.validate(self.block.sizes, self.target.precision, &self.target.limits)?;
            Ok(Candidate {
                schedule: schedule.to_string(),
                source: spec.source(&schedule),
                places: self.elements,
                work: spec.work(&schedule, self.elements),
            })
        })
    }

    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError> {
        let spec = self.block.spec(&self.target, vectors);
        Ok(spec.diagonal_source(&self.schedule))
    }
}
