//! Zeroing of shared nodes before atomic sums.

use super::table;
use crate::Number;
use crate::accelerator::language;
use crate::operator::OperatorError;
use femto_fem::space::{Layout, Space};
use femto_kernel::family::shared_nodes::{NodeKernel, zero_source};
use femto_platform::cache::KernelCache;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};

/// At most this many nodes in a piece; a block of threads takes one piece.
const PIECE: usize = 2048;

/// Zeroes nodes: in each chunk those on shells, or all; for the first block of a space also the nodes that
/// chunks share.
#[derive(Debug)]
pub(super) struct Zero {
    /// First node and end of each piece.
    pieces: AcceleratorBuffer<u32>,
    count: usize,
    nodes: usize,
    source: NodeKernel,
    kernel: Kernel,
}

impl Zero {
    pub(super) fn new<T: Number>(
        device: &Accelerator,
        cache: &KernelCache,
        space: &Space,
        shells: bool,
    ) -> Result<Self, OperatorError> {
        let restriction = space.restriction();
        let private = restriction.chunks.iter();
        let private = private.map(|chunk| match shells {
            true => chunk.private.start..chunk.interior.start,
            false => chunk.private.clone(),
        });
        let rest = match restriction.block {
            0 => restriction.first_interface..restriction.nodes,
            _ => 0..0,
        };
        let mut pieces = Vec::new();
        let mut nodes = 0;
        for run in private.chain([rest]) {
            nodes += run.len();
            for start in run.clone().step_by(PIECE) {
                pieces.extend([start as u32, run.end.min(start + PIECE) as u32]);
            }
        }
        let interleaved = space.layout() == Layout::Interleaved;
        let source = zero_source(
            language(device.features()),
            T::PRECISION,
            space.components(),
            interleaved,
        );
        let text = KernelText::new("zero of shared nodes", &source.text);
        Ok(Self {
            count: pieces.len() / 2,
            nodes,
            pieces: table(device, pieces)?,
            kernel: device.compile(&text, cache)?.kernel("zero")?,
            source,
        })
    }

    /// `stride` is the distance between the components of v.
    pub(super) fn apply<T: Number>(
        &self,
        device: &Accelerator,
        stride: usize,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        if self.count == 0 {
            return Ok(());
        }
        let launch = Launch {
            blocks: self.count as u32,
            threads: self.source.block.threads,
            shared_bytes: 0,
        };
        let arguments = [
            Argument::input(&self.pieces),
            Argument::U32(stride as u32),
            Argument::output(v),
        ];
        device.launch(&self.kernel, &launch, &arguments)
    }

    /// Number of nodes zeroed.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn bytes(&self) -> usize {
        2 * self.count * size_of::<u32>()
    }
}
