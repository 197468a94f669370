//! Auxiliary fields in the solution's space, on a device.

use super::block::BoundBlock;
use crate::Number;
use crate::accelerator::language;
use crate::operator::{OperatorError, OperatorParams};
use femto_fem::space::{Layout, Space};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::vector::source::{FIELD_BLOCK, field_source};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};

/// The fields, `[field][node]`, and the kernel that copies them from vectors.
#[derive(Debug)]
pub(super) struct NodalFields<T: Number> {
    pub(super) values: AcceleratorBuffer<T>,
    nodes: usize,
    components: usize,
    interleaved: bool,
    kernel: Option<Kernel>,
}

impl<T: Number> NodalFields<T> {
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        space: &Space,
        params: &OperatorParams,
    ) -> Result<Self, OperatorError> {
        let fields = params.auxiliary_of(FieldKind::Nodal).flatten();
        let mut values: Vec<T> = fields.map(|&value| T::from_f64(value)).collect();
        let text = field_source(language(device.features()), T::PRECISION);
        let text = KernelText::new("vector field", &text);
        let kernel = if values.is_empty() {
            // Buffers cannot be empty.
            values.push(T::default());
            None
        } else {
            Some(device.compile(&text, cache)?.kernel("field")?)
        };
        Ok(Self {
            values: device.upload(&values)?,
            nodes: space.nodes(),
            components: space.components(),
            interleaved: space.layout() == Layout::Interleaved,
            kernel,
        })
    }

    /// Stride between fields.
    pub(super) fn stride(&self) -> usize {
        self.nodes
    }

    /// Copies the components of an L-vector into the fields from number `first` on.
    pub(super) fn set(
        &mut self,
        device: &Accelerator,
        first: usize,
        u: &AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let Some(kernel) = &self.kernel else {
            return Ok(());
        };
        let threads = FIELD_BLOCK.threads;
        let launch = Launch {
            blocks: self.nodes.div_ceil(threads[0] as usize) as u32,
            threads,
            shared_bytes: 0,
        };
        for component in 0..self.components {
            let (stride, offset) = match self.interleaved {
                true => (self.components, component),
                false => (1, component * self.nodes),
            };
            let arguments = [
                Argument::input(u),
                Argument::U32(stride as u32),
                Argument::U32(offset as u32),
                Argument::output(&mut self.values),
                Argument::U32((first + component) as u32),
                Argument::U32(self.nodes as u32),
            ];
            device.launch(kernel, &launch, &arguments)?;
        }
        Ok(())
    }

    /// The fields as an E-vector `[element][field][node]` over all blocks' elements, gathered on the host;
    /// `None` without fields.
    pub(super) fn of_elements(
        &self,
        device: &Accelerator,
        blocks: &[BoundBlock<T>],
    ) -> Result<Option<AcceleratorBuffer<T>>, DeviceError> {
        if self.kernel.is_none() {
            return Ok(None);
        }
        let mut values = vec![T::default(); self.values.len()];
        device.read(&self.values, &mut values)?;
        let fields = values.len() / self.nodes;
        let numbers: usize = blocks.iter().map(|block| block.list.nodes.len()).sum();
        let mut out = vec![T::default(); numbers * fields];
        for block in blocks {
            let mut nodes = vec![0; block.list.nodes.len()];
            device.read(&block.list.nodes, &mut nodes)?;
            let own = nodes.len() / block.list.elements.len();
            for (&element, nodes) in block.list.elements.iter().zip(nodes.chunks_exact(own)) {
                let first = element as usize * fields * own;
                let row = values.chunks_exact(self.nodes);
                let row = row.flat_map(|field| nodes.iter().map(|&node| field[node as usize]));
                out[first..][..fields * own]
                    .iter_mut()
                    .zip(row)
                    .for_each(|(out, value)| *out = value);
            }
        }
        device.upload(&out).map(Some)
    }

    pub(super) fn bytes(&self) -> usize {
        match self.kernel {
            Some(_) => self.values.len() * T::BYTES,
            None => 0,
        }
    }
}
