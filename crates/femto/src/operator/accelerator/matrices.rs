//! Element matrices on a device, assembled column by column by the operator of another family.

use super::AcceleratorBound;
use super::block::{BoundBlock, Call, Compiled};
use crate::Number;
use crate::operator::{Binding, OperatorError};
use femto_kernel::family::{Candidate, EvalContext, KernelSource, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;

/// The operator that assembles the matrices, and the kernels around its products.
#[derive(Debug)]
pub(super) struct Assembler<T: Number> {
    pub(super) base: AcceleratorBound<T>,
    /// For each block, unit inputs and columns.
    units: Vec<Compiled>,
    stores: Vec<Compiled>,
    /// Columns of a matrix.
    columns: usize,
    /// Length of an E-vector.
    len: usize,
}

impl<T: Number> Assembler<T> {
    /// The assembler of the blocks' matrices, if they have any; allocates the matrices.
    pub(super) fn new(
        (device, cache): (&Accelerator, &KernelCache),
        binding: &Binding<'_>,
        (blocks, vectors): (&mut [BoundBlock<T>], Vectors),
    ) -> Result<Option<Self>, OperatorError> {
        let Some(plan) = binding.plan.base.as_deref() else {
            return Ok(None);
        };
        let base = AcceleratorBound::new(device, &Binding { plan, ..*binding })?;
        let mut made = Self {
            base,
            units: Vec::new(),
            stores: Vec::new(),
            columns: 0,
            len: binding.space.element_dofs(),
        };
        for block in blocks {
            let Some(assembly) = block.kernels.assembly(vectors) else {
                continue;
            };
            let compile = |source: KernelSource| {
                let candidate = Candidate {
                    schedule: String::new(),
                    source,
                    places: block.list.elements.len(),
                    work: Work::default(),
                };
                Compiled::new(device, cache, candidate)
            };
            made.columns = assembly.columns;
            made.units.push(compile(assembly.unit)?);
            made.stores.push(compile(assembly.store)?);
            block.matrices = Some(device.zeros(assembly.len)?);
        }
        Ok(Some(made))
    }

    /// Assembles the matrices of all blocks.
    pub(super) fn assemble(
        &self,
        device: &Accelerator,
        context: &EvalContext,
        blocks: &mut [BoundBlock<T>],
    ) -> Result<(), OperatorError> {
        let (mut unit, mut product) = (device.zeros(self.len)?, device.zeros(self.len)?);
        let kernels = self.base.element_kernels(context)?;
        let fields = self.base.fields.of_elements(device, &self.base.blocks)?;
        let held = self.base.context.hold(device, context)?;
        let mut call = Call {
            fields: fields.as_ref().unwrap_or(&self.base.fields.values),
            ..Call::of_elements(device, &held.buffer)
        };
        for column in 0..self.columns {
            call.column = column;
            for block in blocks.iter().zip(&self.units) {
                call.launch(block, None, &mut unit)?;
            }
            for block in self.base.blocks.iter().zip(kernels) {
                call.launch(block, Some(&unit), &mut product)?;
            }
            for (block, store) in blocks.iter_mut().zip(&self.stores) {
                let mut matrices = block.matrices.take();
                let stored = matrices.as_mut().map_or(Ok(()), |matrices| {
                    call.launch((block, store), Some(&product), matrices)
                });
                block.matrices = matrices;
                stored?;
            }
        }
        Ok(())
    }
}
