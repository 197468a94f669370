//! Node tables, and gather and scatter between vectors and the lanes of tensor-product cells.

use super::{Source, Target, elements, rows, runs};
use crate::scalar::Lanes;

/// Maximum number of lanes of any instruction set.
pub const MAX_LANES: usize = 16;

/// Maximum number of nodes of a chunk: local indices are `u16`, and local vectors have room for all of
/// them, so that no index needs a check.
pub const LOCAL_NODES: usize = 1 << 16;

/// The location of a batch's nodes in a vector.
#[derive(Clone, Copy, Debug)]
pub enum Nodes<'a> {
    /// Element after element: an E-vector `[element][component][node]`, cut to the batch.
    Element,
    /// Indices into a local vector, as packed by [`NodeTable::pack`].
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
}

impl NodeTable {
    /// For elements of `nodes` nodes, all of them indexed.
    pub fn listed(nodes: usize) -> Self {
        Self {
            nodes,
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
        let interior = |&p: &usize| along(p)[..dim].iter().all(|&n| inside(n));
        let all = 0..nodes;
        let cast = |p: usize| p as u16;
        Self {
            nodes,
            indexed: all.clone().filter(|p| !interior(p)).map(cast).collect(),
            run: all.filter(interior).map(cast).collect(),
        }
    }

    /// Whether interior nodes are a run, addressed by its first one; they are read and written in the L-vectors
    /// then, not in local ones.
    pub fn has_run(&self) -> bool {
        !self.run.is_empty()
    }

    /// Length of the table of a batch of `width` lanes.
    pub fn len(&self, width: usize) -> usize {
        (self.indexed.len() + usize::from(self.has_run())) * width
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
        source: Source<L::Real>,
        nodal: &mut [L],
    ) {
        match *nodes {
            Nodes::Element => elements::gather(token, elements, source.numbers, nodal),
            Nodes::Local(table) => {
                let (table, first) = table.split_at(self.indexed.len() * L::WIDTH);
                let list = self.list(table, nodal.len());
                rows::gather_listed(token, list, source.numbers, nodal);
                if self.has_run() {
                    runs::gather(token, self.runs(first), source.private, nodal);
                }
            }
        }
    }

    /// Writes (`Element`) or adds (`Local`) `nodal`, of hexahedra or quadrilaterals, to `target`.
    #[inline(always)]
    pub(crate) fn scatter<L: Lanes>(
        &self,
        elements: usize,
        nodes: &Nodes,
        nodal: &[L],
        target: Target<L::Real>,
    ) {
        match *nodes {
            Nodes::Element => elements::scatter(elements, nodal, target.numbers),
            Nodes::Local(table) => {
                let (table, first) = table.split_at(self.indexed.len() * L::WIDTH);
                let list = self.list(table, nodal.len());
                rows::scatter_listed(elements, list, nodal, target.numbers);
                if self.has_run() {
                    runs::scatter(self.runs(&first[..elements]), nodal, target.private);
                }
            }
        }
    }

    /// The interior nodes.
    #[inline(always)]
    fn runs<'a>(&'a self, first: &'a [u16]) -> runs::Runs<'a> {
        runs::Runs {
            first,
            positions: &self.run,
            nodes: self.nodes,
        }
    }

    /// The indexed nodes of elements with this many numbers.
    #[inline(always)]
    fn list<'a>(
        &'a self,
        table: &'a [u16],
        numbers: usize,
    ) -> rows::List<'a, impl Iterator<Item = usize>> {
        rows::List {
            table,
            positions: self.indexed.iter().map(|&position| usize::from(position)),
            nodes: self.nodes,
            components: numbers / self.nodes,
            are_columns: false,
        }
    }
}
