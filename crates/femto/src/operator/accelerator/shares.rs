//! Repeatable sums: shares of elements, added up in a fixed order.

use super::{language, table};
use crate::Number;
use crate::operator::OperatorError;
use femto_fem::space::{Layout, Space};
use femto_kernel::family::tensor_hex::pencils::{NodeKernel, sum_source};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Device, DeviceError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where elements write their shares, and who adds them up.
#[derive(Debug)]
pub(super) struct Shares<T: Number> {
    /// `[component][element][shell node]`; locked while an application is put in the queue.
    shares: Mutex<AcceleratorBuffer<T>>,
    /// Distance of components.
    stride: usize,
    /// L-vector nodes on shells, ascending.
    nodes: AcceleratorBuffer<u32>,
    /// Where the sources of each begin.
    offsets: AcceleratorBuffer<u32>,
    /// Places in the shares of a component, ascending for each node.
    sources: AcceleratorBuffer<u32>,
    count: usize,
    source: NodeKernel,
    kernel: Kernel,
}

impl<T: Number> Shares<T> {
    /// `shells` are L-vector nodes `[element][shell node]`, all groups one after the other.
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        space: &Space,
        shells: &[u32],
    ) -> Result<Self, OperatorError> {
        let by_node = space.layout() == Layout::ByNode;
        let source = sum_source(language(device), T::PRECISION, space.components(), by_node);
        let text = KernelText {
            name: "tensor_hex sum",
            text: &source.text,
            options: &[],
        };
        let (nodes, offsets, sources) = transpose(shells, space.nodes());
        Ok(Self {
            shares: Mutex::new(device.zeros((shells.len() * space.components()).max(1))?),
            stride: shells.len(),
            count: nodes.len(),
            nodes: table(device, nodes)?,
            offsets: device.upload(&offsets)?,
            sources: table(device, sources)?,
            kernel: device.compile(&text, cache)?.kernel("sum")?,
            source,
        })
    }

    /// The shares, for one application.
    pub(super) fn lock(&self) -> MutexGuard<'_, AcceleratorBuffer<T>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The arguments that tell a kernel where its shares are; `first` counts shell nodes' elements.
    pub(super) fn arguments<'a>(
        &self,
        shares: &'a mut AcceleratorBuffer<T>,
        first: usize,
    ) -> [Argument<'a>; 3] {
        [
            Argument::output(shares),
            Argument::U32(self.stride as u32),
            Argument::U32(first as u32),
        ]
    }

    /// Adds the shares up. `nodes` and distance of components are those of the vector.
    pub(super) fn sum(
        &self,
        device: &Accelerator,
        shares: &AcceleratorBuffer<T>,
        [nodes, stride]: [Argument<'_>; 2],
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        if self.count == 0 {
            return Ok(());
        }
        let launch = Launch {
            blocks: self.count.div_ceil(self.source.block.threads[0] as usize) as u32,
            threads: self.source.block.threads,
            shared_bytes: 0,
        };
        let arguments = [
            Argument::input(&self.nodes),
            Argument::input(&self.offsets),
            Argument::input(&self.sources),
            Argument::input(shares),
            Argument::U32(self.stride as u32),
            nodes,
            stride,
            Argument::output(v),
            Argument::U32(self.count as u32),
        ];
        device.launch(&self.kernel, &launch, &arguments)
    }

    /// How many nodes are summed, and from how many shares.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.count, self.stride)
    }

    pub(super) fn bytes(&self, components: usize) -> usize {
        let tables = 2 * self.count + 1 + self.stride;
        self.stride * components * T::BYTES + tables * size_of::<u32>()
    }
}

/// The nodes that occur in `shells`, ascending; where the places of each begin; the places.
fn transpose(shells: &[u32], nodes: usize) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut next = vec![0_u32; nodes + 1];
    for &node in shells {
        next[node as usize + 1] += 1;
    }
    let listed: Vec<u32> = (0..nodes as u32)
        .filter(|&node| next[node as usize + 1] > 0)
        .collect();
    for node in 0..nodes {
        next[node + 1] += next[node];
    }
    let starts = listed.iter().map(|&node| next[node as usize]);
    let offsets: Vec<u32> = starts.chain([shells.len() as u32]).collect();
    let mut sources = vec![0; shells.len()];
    for (place, &node) in (0..).zip(shells) {
        let slot = &mut next[node as usize];
        sources[*slot as usize] = place;
        *slot += 1;
    }
    (listed, offsets, sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_listed_once_under_its_node() {
        let shells = [4, 1, 1, 0, 4, 4];
        let (nodes, offsets, sources) = transpose(&shells, 6);
        assert_eq!(nodes, [0, 1, 4]);
        assert_eq!(offsets, [0, 1, 3, 6]);
        assert_eq!(sources, [3, 1, 2, 0, 4, 5]);
    }
}
