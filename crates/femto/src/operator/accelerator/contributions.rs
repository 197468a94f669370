//! Per-element contributions and their deterministic sum.

use super::table;
use crate::Number;
use crate::accelerator::language;
use crate::operator::OperatorError;
use femto_fem::space::{Layout, Space};
use femto_kernel::family::shared_nodes::{NodeKernel, sum_source};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Device, DeviceError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Per-element contributions, and the kernel that sums them.
#[derive(Debug)]
pub(super) struct Contributions<T: Number> {
    /// `[component][element][k][j][i]`, interior nodes unused; locked while an application is enqueued.
    contributions: Mutex<AcceleratorBuffer<T>>,
    /// Stride between components.
    stride: usize,
    /// Contributions written per component.
    places: usize,
    /// L-vector nodes on element shells, ascending.
    nodes: AcceleratorBuffer<u32>,
    /// The start of each node's sources.
    offsets: AcceleratorBuffer<u32>,
    /// Indices into a component's contributions, ascending for each node.
    sources: AcceleratorBuffer<u32>,
    count: usize,
    /// The first node whose sum is added to that of earlier blocks.
    first_added: u32,
    source: NodeKernel,
    kernel: Kernel,
}

impl<T: Number> Contributions<T> {
    /// `nodes` are the L-vector nodes of all places, such as `[element][k][j][i]`, group after group;
    /// places for which `is_shared(place)` holds are summed.
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        space: &Space,
        nodes: &[u32],
        is_shared: impl Fn(usize) -> bool,
    ) -> Result<Self, OperatorError> {
        let interleaved = space.layout() == Layout::Interleaved;
        let source = sum_source(
            language(device.features()),
            T::PRECISION,
            space.components(),
            interleaved,
        );
        let text = KernelText::new("sum of shared nodes", &source.text);
        let all = nodes.len();
        if u32::try_from(all).is_err() {
            return Err(OperatorError::TooManyContributions { found: all });
        }
        let restriction = space.restriction();
        let (begins, first) = (restriction.block == 0, restriction.first_interface);
        let is_begun = |node: usize| begins && node >= first;
        let (nodes, offsets, sources) = transpose(nodes, space.nodes(), is_shared, is_begun);
        Ok(Self {
            contributions: Mutex::new(device.zeros((all * space.components()).max(1))?),
            stride: all,
            places: sources.len(),
            count: nodes.len(),
            first_added: if begins { u32::MAX } else { first as u32 },
            nodes: table(device, nodes)?,
            offsets: device.upload(&offsets)?,
            sources: table(device, sources)?,
            kernel: device.compile(&text, cache)?.kernel("sum")?,
            source,
        })
    }

    /// The contributions, for one application.
    pub(super) fn lock(&self) -> MutexGuard<'_, AcceleratorBuffer<T>> {
        self.contributions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Stride between components.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Sums the contributions into v, whose components are `stride` apart.
    pub(super) fn sum(
        &self,
        device: &Accelerator,
        contributions: &AcceleratorBuffer<T>,
        stride: usize,
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
            Argument::input(contributions),
            Argument::U32(self.stride as u32),
            Argument::U32(stride as u32),
            Argument::U32(self.first_added),
            Argument::output(v),
            Argument::U32(self.count as u32),
        ];
        device.launch(&self.kernel, &launch, &arguments)
    }

    /// Number of nodes summed, and of their contributions.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.count, self.places)
    }

    pub(super) fn bytes(&self, components: usize) -> usize {
        let tables = 2 * self.count + 1 + self.places;
        self.stride * components * T::BYTES + tables * size_of::<u32>()
    }
}

/// Whether a place `[element][k][j][i]` is on the shell of its element.
pub(super) fn shell(space: &Space) -> impl Fn(usize) -> bool {
    let mut is_shell = vec![false; space.nodes_per_element()];
    for &position in &space.restriction().shell_positions {
        is_shell[position as usize] = true;
    }
    move |place| is_shell[place % is_shell.len()]
}

/// The nodes to sum, ascending, including those that start at zero without contributions; the start of each
/// node's places; the places, ascending for each node.
fn transpose(
    nodes: &[u32],
    count: usize,
    is_shared: impl Fn(usize) -> bool,
    is_begun: impl Fn(usize) -> bool,
) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let places = || {
        (0_u32..)
            .zip(nodes)
            .filter(|&(place, _)| is_shared(place as usize))
    };
    let mut next = vec![0_u32; count + 1];
    for (_, &node) in places() {
        next[node as usize + 1] += 1;
    }
    let contributions = places().count();
    let listed: Vec<u32> = (0..count as u32)
        .filter(|&node| next[node as usize + 1] > 0 || is_begun(node as usize))
        .collect();
    for node in 0..count {
        next[node + 1] += next[node];
    }
    let starts = listed.iter().map(|&node| next[node as usize]);
    let offsets: Vec<u32> = starts.chain([contributions as u32]).collect();
    let mut sources = vec![0; contributions];
    for (place, &node) in places() {
        let slot = &mut next[node as usize];
        sources[*slot as usize] = place;
        *slot += 1;
    }
    (listed, offsets, sources)
}

#[cfg(test)]
mod tests {
    use super::super::tests::block;
    use super::*;
    use femto_fem::mesh::boxes::BoxMesh;

    #[test]
    fn every_place_on_a_shell_is_listed_once_under_its_node() {
        let mesh = BoxMesh::unit_cube(2).build(|x| x).unwrap();
        let space = block(&mesh, 2).space;
        let nodes: Vec<u32> = (0..8)
            .flat_map(|element| space.element_nodes(element))
            .collect();
        let (listed, offsets, sources) = transpose(&nodes, space.nodes(), shell(&space), |_| false);
        // All nodes but each element's interior one.
        assert_eq!((listed.len(), sources.len()), (125 - 8, 8 * 26));
        assert_eq!((offsets.len(), offsets[0]), (listed.len() + 1, 0));
        for (&node, ends) in listed.iter().zip(offsets.windows(2)) {
            let places = &sources[ends[0] as usize..ends[1] as usize];
            assert!(places.is_sorted_by(|a, b| a < b));
            assert!(places.iter().all(|&place| nodes[place as usize] == node));
        }
    }
}
