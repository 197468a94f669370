//! Element matrices on a device, assembled by the operator of another family: at once, or column by column.

use super::AcceleratorBound;
use super::block::{BoundBlock, Call, Compiled};
use crate::Number;
use crate::operator::{Binding, OperatorError};
use femto_kernel::family::{Candidate, EvalContext, KernelSource, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;

/// The operator that assembles the matrices, and the kernels that store them.
#[derive(Debug)]
pub(super) struct Assembler<T: Number> {
    pub(super) base: AcceleratorBound<T>,
    /// One per block.
    ways: Vec<Way>,
    /// Columns of a matrix.
    columns: usize,
    /// Length of an E-vector.
    len: usize,
}

/// How the matrices of a block are assembled.
#[derive(Debug)]
enum Way {
    /// By a kernel of the base's block.
    AtOnce(Box<Compiled>),
    /// From products: the kernels of unit inputs and of columns.
    Columns(Box<[Compiled; 2]>),
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
        let (mut ways, mut columns) = (Vec::new(), 0);
        for (block, of_base) in blocks.iter_mut().zip(&base.blocks) {
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
            ways.push(match of_base.kernels.matrices(assembly.layout) {
                Some(source) => Way::AtOnce(Box::new(compile(source)?)),
                None => Way::Columns(Box::new([
                    compile(assembly.unit)?,
                    compile(assembly.store)?,
                ])),
            });
            columns = assembly.layout.storage.unknowns;
            let len = assembly.layout.len(block.list.elements.len());
            block.matrices = Some(device.zeros(len)?);
        }
        Ok(Some(Self {
            base,
            ways,
            columns,
            len: binding.space.element_dofs(),
        }))
    }

    /// Whether no block takes products with unit inputs.
    pub(super) fn is_at_once(&self) -> bool {
        let mut ways = self.ways.iter();
        ways.all(|way| matches!(way, Way::AtOnce(_)))
    }

    /// Assembles the matrices of all blocks.
    pub(super) fn assemble(
        &self,
        device: &Accelerator,
        context: &EvalContext,
        blocks: &mut [BoundBlock<T>],
    ) -> Result<(), OperatorError> {
        self.assemble_at_once(device, context, blocks)?;
        match self.is_at_once() {
            true => Ok(()),
            false => self.assemble_columns(device, context, blocks),
        }
    }

    fn assemble_at_once(
        &self,
        device: &Accelerator,
        context: &EvalContext,
        blocks: &mut [BoundBlock<T>],
    ) -> Result<(), OperatorError> {
        let held = self.base.context.hold(device, context)?;
        let mut call = Call::of_elements(device, &held.buffer);
        let of_base = self.base.blocks.iter().zip(&self.ways);
        for (block, (of_base, way)) in blocks.iter_mut().zip(of_base) {
            if let (Way::AtOnce(kernel), Some(matrices)) = (way, &mut block.matrices) {
                call.launch((of_base, kernel), None, matrices)?;
            }
        }
        Ok(())
    }

    fn assemble_columns(
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
            let of_base = self.base.blocks.iter().zip(kernels);
            for ((block, way), of_base) in blocks.iter_mut().zip(&self.ways).zip(of_base) {
                let Way::Columns(kernels) = way else {
                    continue;
                };
                let [make, store] = &**kernels;
                call.launch((block, make), None, &mut unit)?;
                call.launch(of_base, Some(&unit), &mut product)?;
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
