//! A block of elements on a device: its arrays, its compiled kernels, their launch from the list of operands.

use super::contributions::Contributions;
use super::family::Family;
use super::pack::{Packer, bytes_of};
use crate::Number;
use crate::operator::OperatorError;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{KernelSource, Operand};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};

/// The elements of one kind of map.
#[derive(Debug)]
pub(super) struct Block<T: Number, D> {
    /// The elements, ascending.
    pub(super) elements: Vec<u32>,
    /// The same on the device, where there are several blocks.
    list: Option<AcceleratorBuffer<u32>>,
    /// L-vector nodes `[element][node]`.
    pub(super) nodes: AcceleratorBuffer<u32>,
    /// `[element][field]`.
    cell_fields: Option<AcceleratorBuffer<T>>,
    /// `[element][field][point]`.
    point_fields: Option<AcceleratorBuffer<T>>,
    pub(super) data: D,
}

impl<T: Number, D> Block<T, D> {
    pub(super) fn new<F>(family: &F, packer: Packer<'_>) -> Result<Self, OperatorError>
    where
        F: Family<T, Data = D>,
    {
        let device = packer.device;
        let points = packer.binding.plan.tables.points();
        let several = packer.binding.plan.kinds.len() > 1;
        let fields = |of: (FieldKind, usize)| match family.reads_fields() {
            true => packer.fields(&packer.elements, of),
            false => Ok(None),
        };
        Ok(Self {
            list: match several {
                true => Some(device.upload(&packer.elements)?),
                false => None,
            },
            nodes: device.upload(&packer.nodes)?,
            cell_fields: fields((FieldKind::Cell, 1))?,
            point_fields: fields((FieldKind::Points, points))?,
            data: family.pack(&packer)?,
            elements: packer.elements,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let list = self.list.as_ref().map_or(0, Buffer::len);
        bytes_of(&self.cell_fields)
            + bytes_of(&self.point_fields)
            + (self.nodes.len() + list) * size_of::<u32>()
    }
}

/// A kernel with its source; those of diagonals have no schedule.
#[derive(Debug)]
pub(super) struct Compiled<S> {
    pub(super) source: KernelSource,
    pub(super) schedule: Option<S>,
    kernel: Kernel,
}

impl<S> Compiled<S> {
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        source: KernelSource,
        schedule: Option<S>,
    ) -> Result<Self, DeviceError> {
        let text = KernelText::new(&source.name, &source.text);
        let kernel = device.compile(&text, cache)?.kernel(source.entry)?;
        Ok(Self {
            source,
            schedule,
            kernel,
        })
    }
}

/// The arguments that the blocks of one application share.
pub(super) struct Call<'a, T: Number> {
    pub(super) device: &'a Accelerator,
    /// Fields in the solution's space, and the distance of L-vectors among them.
    pub(super) fields: &'a AcceleratorBuffer<T>,
    pub(super) field_stride: usize,
    pub(super) context: &'a AcceleratorBuffer<T>,
    /// Nodes of u and v, and the distance of their components.
    pub(super) nodes: usize,
    pub(super) stride: usize,
    pub(super) contributions: Option<(&'a Contributions<T>, &'a mut AcceleratorBuffer<T>)>,
    /// Elements of blocks before this one.
    pub(super) first: usize,
}

impl<T: Number> Call<'_, T> {
    /// Starts a kernel over all elements of a block.
    pub(super) fn launch<F: Family<T>>(
        &mut self,
        family: &F,
        (block, compiled): (&Block<T, F::Data>, &Compiled<F::Schedule>),
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let source = &compiled.source;
        let places = family.places(&block.data, source);
        let places = places.unwrap_or(block.elements.len());
        let launch = Launch {
            blocks: source.blocks(places),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let (device, first) = (self.device, self.first);
        let number = |number: usize| Some(Argument::U32(number as u32));
        let (contributions, mut written) = match &mut self.contributions {
            Some((contributions, buffer)) => (Some(*contributions), Some(&mut **buffer)),
            None => (None, None),
        };
        let mut v = Some(v);
        let argument = |&operand: &Operand| match operand {
            Operand::Nodes => Some(Argument::input(&block.nodes)),
            Operand::NodeCount => number(self.nodes),
            Operand::ComponentStride => number(self.stride),
            Operand::Contributions => written.take().map(Argument::output),
            Operand::ContributionStride => number(contributions?.stride()),
            Operand::ContributionFirst => number(first),
            Operand::Elements => block.list.as_ref().map(Argument::input),
            Operand::NodalFields => Some(Argument::input(self.fields)),
            Operand::FieldStride => number(self.field_stride),
            Operand::PointFields => block.point_fields.as_ref().map(Argument::input),
            Operand::EvalContext => Some(Argument::input(self.context)),
            Operand::U => u.map(Argument::input),
            Operand::V => v.take().map(Argument::output),
            Operand::Count => number(places),
            _ => family
                .argument(&block.data, source, operand)
                .or(match operand {
                    Operand::CellFields => block.cell_fields.as_ref().map(Argument::input),
                    // At degree 1 they are the nodes.
                    Operand::Vertices => Some(Argument::input(&block.nodes)),
                    _ => None,
                }),
        };
        let arguments: Option<Vec<Argument<'_>>> = source.operands.iter().map(argument).collect();
        let arguments = arguments.ok_or_else(|| OperatorError::MissingOperand {
            kernel: source.name.clone(),
            operand: format!("one of {:?}", source.operands),
        })?;
        device.launch(&compiled.kernel, &launch, &arguments)?;
        self.first += block.elements.len();
        Ok(())
    }
}
