//! A block of elements on a device: its arrays, its compiled kernels, and how they are launched from the
//! operand list.

use super::arrays::{Arrays, DeviceArray};
use super::contributions::Contributions;
use super::node_list::NodeList;
use super::pack::Packer;
use crate::Number;
use crate::accelerator::Counting;
use crate::operator::OperatorError;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{BlockKernels, Candidate, Elements, KernelSource, Operand, Target};
use femto_kernel::roofline::{Wavefronts, Work};
use femto_kernel::scalar::Precision;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::sync::{Arc, OnceLock};

/// The elements of one kind of map.
#[derive(Debug)]
pub(super) struct BoundBlock<T: Number> {
    /// The elements, and their nodes.
    pub(super) list: Arc<NodeList>,
    arrays: Arrays<T>,
    /// Element matrices, if the kernels read them.
    pub(super) matrices: Option<AcceleratorBuffer<T>>,
    pub(super) kernels: Box<dyn BlockKernels>,
}

impl<T: Number> BoundBlock<T> {
    pub(super) fn new(
        device: &Accelerator,
        packer: Packer<'_>,
        target: &Target,
    ) -> Result<Self, OperatorError> {
        let plan = packer.binding.plan;
        let mut kernels = packer.block.kernels(target, &packer)?;
        let mut arrays = Arrays::upload(device, kernels.take_arrays())?;
        let mut add = |operand, array: Option<_>| {
            if let Some(array) = array {
                arrays.push(operand, array);
            }
        };
        add(Operand::Geometry, packer.geometry(device, target)?);
        if !packer.block.folds_coefficients() {
            let fields = |of| {
                packer
                    .fields(device, of)
                    .map(|it| it.map(DeviceArray::Reals))
            };
            add(Operand::CellFields, fields(FieldKind::Cell)?);
            add(Operand::PointFields, fields(FieldKind::Points)?);
        }
        if plan.kinds.len() > 1 {
            let elements = DeviceArray::U32(device.upload(&packer.elements)?);
            add(Operand::Elements, Some(elements));
        }
        let (space, elements) = (packer.binding.space, packer.elements.clone());
        Ok(Self {
            list: NodeList::shared(device, space, elements, || packer.nodes())?,
            arrays,
            matrices: None,
            kernels,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let matrices = self.matrices.as_ref().map_or(0, Buffer::len);
        self.arrays.bytes() + NodeList::bytes(&self.list) + matrices * T::BYTES
    }
}

/// A compiled kernel with its source.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) source: KernelSource,
    /// In words; empty for the diagonal.
    pub(super) schedule: String,
    /// Number of elements, or of places for them, that it runs over.
    places: usize,
    planned: Work,
    /// Once they are counted.
    pub(super) wavefronts: OnceLock<Wavefronts>,
    kernel: Kernel,
}

impl Compiled {
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        candidate: Candidate,
    ) -> Result<Self, DeviceError> {
        let Candidate {
            schedule,
            source,
            places,
            work,
        } = candidate;
        let text = KernelText::new(&source.name, &source.text);
        let kernel = device.compile(&text, cache)?.kernel(source.entry)?;
        Ok(Self {
            source,
            schedule,
            places,
            planned: work,
            wavefronts: OnceLock::new(),
            kernel,
        })
    }

    /// The shape of a launch over all elements.
    fn launch(&self, precision: Precision) -> Launch {
        Launch {
            blocks: self.source.blocks(self.places),
            threads: self.source.block.threads,
            shared_bytes: self.source.block.shared_bytes(precision),
        }
    }

    /// See [`Kernel::prefer_l1`].
    pub(super) fn prefer_l1(&self, precision: Precision) -> Result<(), DeviceError> {
        self.kernel.prefer_l1(&self.launch(precision))
    }

    /// The same kernel, counting.
    pub(super) fn counting(&self, counting: &Counting) -> Result<Self, DeviceError> {
        Ok(Self {
            source: self.source.clone(),
            schedule: self.schedule.clone(),
            wavefronts: OnceLock::new(),
            kernel: counting.kernel(self.source.entry)?,
            ..*self
        })
    }

    pub(super) fn work(&self) -> Work {
        Work {
            wavefronts: self.wavefronts.get().copied().unwrap_or_default(),
            ..self.planned
        }
    }
}

/// The arguments that the blocks of one application share.
pub(super) struct Call<'a, T: Number> {
    pub(super) device: &'a Accelerator,
    /// Fields in the solution's space, and the stride between them.
    pub(super) fields: &'a AcceleratorBuffer<T>,
    pub(super) field_stride: usize,
    pub(super) context: &'a AcceleratorBuffer<T>,
    /// Stride between the components of u and v.
    pub(super) stride: usize,
    pub(super) contributions: Option<(&'a Contributions<T>, &'a mut AcceleratorBuffer<T>)>,
    /// Number of elements in earlier blocks.
    pub(super) first: usize,
    /// The column of element matrices that is assembled.
    pub(super) column: usize,
}

impl<'a, T: Number> Call<'a, T> {
    /// On E-vectors, without fields in the solution's space.
    pub(super) fn of_elements(device: &'a Accelerator, context: &'a AcceleratorBuffer<T>) -> Self {
        Self {
            device,
            fields: context,
            field_stride: 0,
            context,
            stride: 0,
            contributions: None,
            first: 0,
            column: 0,
        }
    }
}

impl<T: Number> Call<'_, T> {
    /// Launches a kernel over all elements of a block.
    pub(super) fn launch(
        &mut self,
        (block, compiled): (&BoundBlock<T>, &Compiled),
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let (source, places) = (&compiled.source, compiled.places);
        let launch = compiled.launch(T::PRECISION);
        let (device, first) = (self.device, self.first);
        let number = |number: usize| Some(Argument::U32(number as u32));
        let (contributions, mut written) = match &mut self.contributions {
            Some((contributions, buffer)) => (Some(*contributions), Some(&mut **buffer)),
            None => (None, None),
        };
        let mut v = Some(v);
        let mut argument = |&operand: &Operand| match operand {
            Operand::Nodes => Some(Argument::input(&block.list.nodes)),
            Operand::ComponentStride => number(self.stride),
            Operand::Contributions => written.take().map(Argument::output),
            Operand::ContributionStride => number(contributions?.stride()),
            Operand::ContributionFirst => number(first),
            Operand::NodalFields => Some(Argument::input(self.fields)),
            Operand::FieldStride => number(self.field_stride),
            Operand::EvalContext => Some(Argument::input(self.context)),
            Operand::U => u.map(Argument::input),
            Operand::V => v.take().map(Argument::output),
            Operand::Count => number(places),
            Operand::Column => number(self.column),
            Operand::Matrices => block.matrices.as_ref().map(Argument::input),
            packed => block.arrays.argument(packed).or(match packed {
                // If geometry is not packed, they are the nodes.
                Operand::Vertices => Some(Argument::input(&block.list.nodes)),
                _ => None,
            }),
        };
        let mut arguments = Vec::with_capacity(source.operands.len());
        for operand in &source.operands {
            arguments.push(
                argument(operand).ok_or_else(|| OperatorError::MissingOperand {
                    kernel: source.name.clone(),
                    operand: *operand,
                })?,
            );
        }
        device.launch(&compiled.kernel, &launch, &arguments)?;
        self.first += block.list.elements.len();
        Ok(())
    }
}
