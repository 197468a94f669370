//! Node tables, and gather and scatter between chunk-local vectors and lanes.

use super::{elements, rows::row_len};
use crate::scalar::Lanes;

/// Maximum number of lanes of any instruction set.
pub const MAX_LANES: usize = 16;

/// Maximum number of nodes of a chunk: local indices are `u16`, and local vectors have room for all of
/// them, so that no index needs a check.
pub const LOCAL_NODES: usize = 1 << 16;

/// Stride of components in a local vector: not a multiple of the page size, because addresses with the same
/// page offset conflict.
pub const LOCAL_STRIDE: usize = LOCAL_NODES + 520;

/// Elements up to this degree have an index for every node; above it, interior nodes are addressed from the
/// first one.
const MAX_INDEXED_DEGREE: usize = 3;

/// The layout of a chunk-local vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalLayout {
    /// Stride between the components of a node.
    pub component: usize,
    /// Stride between the nodes of a component.
    pub node: usize,
}

impl LocalLayout {
    /// Component after component.
    pub const BY_COMPONENT: Self = Self {
        component: LOCAL_STRIDE,
        node: 1,
    };

    /// One row per node.
    pub const fn interleaved(components: usize) -> Self {
        Self {
            component: 1,
            node: row_len(components),
        }
    }

    /// Length of a vector.
    pub const fn len(self, components: usize) -> usize {
        match self {
            Self::BY_COMPONENT => components * LOCAL_STRIDE,
            Self { node, .. } => node * LOCAL_NODES,
        }
    }

    /// The index of one number.
    #[inline]
    pub const fn place(self, component: usize, node: usize) -> usize {
        component * self.component + node * self.node
    }
}

/// The location of a batch's nodes in a vector.
#[derive(Clone, Copy, Debug)]
pub enum Nodes<'a> {
    /// Element after element: an E-vector `[element][component][node]`, cut to the batch.
    Element,
    /// Indices into a local vector, as packed by [`NodeTable::pack`]; see [`NodeTable::layout`].
    Local(&'a [u16]),
}

/// The nodes of an element that have their own index, in order.
///
/// A batch's table is `[indexed node][lane]`, then the first interior node of each lane.
#[derive(Clone, Debug)]
pub struct NodeTable {
    /// Nodes of an element.
    nodes: usize,
    /// Positions in the element of the indexed nodes.
    indexed: Vec<u16>,
    /// Positions of the others, which are numbered consecutively, in that order.
    run: Vec<u16>,
    /// Whether the components of a node are adjacent in local vectors.
    interleaved: bool,
}

impl NodeTable {
    /// For simplices of `nodes` nodes, all of them indexed.
    pub fn listed(nodes: usize) -> Self {
        Self {
            nodes,
            interleaved: true,
            indexed: (0..nodes).map(|p| p as u16).collect(),
            run: Vec::new(),
        }
    }

    /// For hexahedra or quadrilaterals with `nodes_1d` nodes along each of `dim` axes, whose interior nodes
    /// are numbered consecutively.
    pub fn tensor(dim: usize, nodes_1d: usize) -> Self {
        let nodes = nodes_1d.pow(dim as u32);
        let inside = |n: usize| n > 0 && n < nodes_1d - 1;
        let along = |p: usize| [p, p / nodes_1d, p / (nodes_1d * nodes_1d)].map(|n| n % nodes_1d);
        let interior = |&p: &usize| {
            nodes_1d > MAX_INDEXED_DEGREE + 1 && along(p)[..dim].iter().all(|&n| inside(n))
        };
        let all = 0..nodes;
        let cast = |p: usize| p as u16;
        Self {
            nodes,
            interleaved: false,
            indexed: all.clone().filter(|p| !interior(p)).map(cast).collect(),
            run: all.filter(interior).map(cast).collect(),
        }
    }

    /// The layout of local vectors of these elements.
    pub fn layout(&self, components: usize) -> LocalLayout {
        match self.interleaved {
            true => LocalLayout::interleaved(components),
            false => LocalLayout::BY_COMPONENT,
        }
    }

    /// Length of the table of a batch of `width` lanes.
    pub fn len(&self, width: usize) -> usize {
        (self.indexed.len() + usize::from(!self.run.is_empty())) * width
    }

    /// Whether a batch needs no table; never the case.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Writes one lane's part: `node(position)` is the local index of the node at a position in the
    /// element, lexicographic in hexahedra and quadrilaterals.
    pub fn pack(
        &self,
        (lane, width): (usize, usize),
        node: impl Fn(usize) -> u16,
        table: &mut [u16],
    ) {
        let first = self.indexed.iter().chain(self.run.first());
        for (row, &position) in first.enumerate() {
            table[row * width + lane] = node(usize::from(position));
        }
    }

    /// Reads `elements` hexahedra or quadrilaterals into `nodal` `[component][node]`; lanes without an
    /// element repeat the last one of an E-vector, or follow their table in a local vector.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(
        &self,
        token: L::Token,
        elements: usize,
        nodes: &Nodes,
        source: &[L::Real],
        nodal: &mut [L],
    ) {
        match *nodes {
            Nodes::Element => elements::gather(token, elements, source, nodal),
            Nodes::Local(table) => {
                let np = self.nodes;
                let (indices, first) = table.split_at(self.indexed.len() * L::WIDTH);
                let components = source.chunks_exact(LOCAL_STRIDE);
                for (nodal, source) in nodal.chunks_exact_mut(np).zip(components) {
                    let Some(source) = source.first_chunk::<LOCAL_NODES>() else {
                        continue;
                    };
                    for (row, &position) in indices.chunks_exact(L::WIDTH).zip(&self.indexed) {
                        nodal[usize::from(position)] =
                            L::from_fn(token, |lane| source[usize::from(row[lane])]);
                    }
                    if !self.run.is_empty() {
                        gather_runs(token, &self.run, first, source, nodal);
                    }
                }
            }
        }
    }

    /// Writes (`Element`) or adds (`Local`) `nodal`, of hexahedra or quadrilaterals, to `target`, element
    /// after element.
    #[inline(always)]
    pub(crate) fn scatter<L: Lanes>(
        &self,
        elements: usize,
        nodes: &Nodes,
        nodal: &[L],
        target: &mut [L::Real],
    ) {
        match *nodes {
            Nodes::Element => elements::scatter(elements, nodal, target),
            Nodes::Local(table) => {
                let np = self.nodes;
                let (indices, first) = table.split_at(self.indexed.len() * L::WIDTH);
                let components = target.chunks_exact_mut(LOCAL_STRIDE);
                for (nodal, target) in nodal.chunks_exact(np).zip(components) {
                    let Some(target) = target.first_chunk_mut::<LOCAL_NODES>() else {
                        continue;
                    };
                    for (row, &position) in indices.chunks_exact(L::WIDTH).zip(&self.indexed) {
                        let value = nodal[usize::from(position)];
                        if elements == L::WIDTH {
                            for lane in 0..L::WIDTH {
                                target[usize::from(row[lane])] += value.lanes()[lane];
                            }
                        } else {
                            for lane in 0..elements {
                                target[usize::from(row[lane])] += value.lanes()[lane];
                            }
                        }
                    }
                    // Interior nodes belong to a single element.
                    for (lane, &first) in first.iter().enumerate().take(elements) {
                        let out = &mut target[usize::from(first)..][..self.run.len()];
                        for (out, &position) in out.iter_mut().zip(&self.run) {
                            *out = nodal[usize::from(position)].lanes()[lane];
                        }
                    }
                }
            }
        }
    }
}

/// Reads the interior nodes, eight at a time from each lane's run.
#[inline(always)]
fn gather_runs<L: Lanes>(
    token: L::Token,
    positions: &[u16],
    first: &[u16],
    source: &[L::Real; LOCAL_NODES],
    nodal: &mut [L],
) {
    const BLOCK: usize = 8;
    let len = positions.len();
    let runs: [&[L::Real]; MAX_LANES] =
        core::array::from_fn(|lane| &source[usize::from(first[lane % L::WIDTH])..][..len]);
    let (blocks, rest) = positions.as_chunks::<BLOCK>();
    for (b, positions) in blocks.iter().enumerate() {
        let values: [&[L::Real]; MAX_LANES] =
            core::array::from_fn(|lane| &runs[lane][b * BLOCK..][..BLOCK]);
        for (i, &position) in positions.iter().enumerate() {
            nodal[usize::from(position)] = L::from_fn(token, |lane| values[lane][i]);
        }
    }
    let start = blocks.len() * BLOCK;
    for (i, &position) in rest.iter().enumerate() {
        nodal[usize::from(position)] = L::from_fn(token, |lane| runs[lane][start + i]);
    }
}
