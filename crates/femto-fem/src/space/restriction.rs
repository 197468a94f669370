//! The restriction between L-vectors and E-vectors: its arrays, and a plain version of it.

use std::ops::{AddAssign, Range};

use rayon::prelude::*;

use super::Layout;

/// A run of consecutive elements whose nodes fit a core's cache.
///
/// A node of a chunk has a *chunk-local index*: its private nodes come first, in L-vector order,
/// then the nodes of its list in [`Restriction::interface`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The chunk's elements.
    pub elements: Range<usize>,
    /// L-vector nodes that this chunk alone touches, none of them constrained.
    pub private: Range<usize>,
    /// The chunk's part of [`Restriction::interface`].
    pub interface: Range<usize>,
}

impl Chunk {
    /// Number of nodes that the chunk touches.
    pub fn nodes(&self) -> usize {
        self.private.len() + self.interface.len()
    }
}

/// Which L-vector node sits at which position of which element.
///
/// L-vector nodes are numbered: private nodes of chunk 0, of chunk 1, ...; then free nodes that
/// several chunks touch, from [`Restriction::first_interface`]; then constrained (Dirichlet)
/// nodes, from [`Restriction::free_nodes`]. So a T-vector is the leading part of an L-vector.
///
/// Nodes on vertices, edges and faces of an element form its *shell*, each with its own index;
/// those inside follow each other in the L-vector, so that their first one is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restriction {
    /// The chunks; their elements, their private nodes and their interface lists follow each other.
    pub chunks: Vec<Chunk>,
    /// Chunk-local index of each shell node, `[elements][shell_nodes]`.
    pub shell: Vec<u32>,
    /// Chunk-local index of the first interior node of each element, `[elements]`; meaningless
    /// where elements have none (continuous, degree 1).
    pub interior: Vec<u32>,
    /// Lexicographic position in the element of each shell node, ascending, `[shell_nodes]`.
    pub shell_positions: Vec<u32>,
    /// Lexicographic position of each interior node, ascending, `[(degree - 1)³]`.
    pub interior_positions: Vec<u32>,
    /// For each chunk, ascending, the L-vector nodes it touches that are not private to it: entry
    /// `t` of a chunk's list has the chunk-local index `private.len() + t`.
    pub interface: Vec<u32>,
    /// Where the sources of each L-vector node from `first_interface` to `nodes` begin,
    /// `[nodes - first_interface + 1]`.
    pub interface_sources_offsets: Vec<u32>,
    /// Positions in `interface` at which the node is listed, ascending, that is in chunk order.
    pub interface_sources: Vec<u32>,
    /// Number of private nodes, the first node after them.
    pub first_interface: usize,
    /// Number of free nodes, the first constrained node.
    pub free_nodes: usize,
    /// Number of L-vector nodes.
    pub nodes: usize,
}

/// How the components of a vector lie in memory: `count` fields after each other, each with
/// `width` numbers per node.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    count: usize,
    width: usize,
}

impl Fields {
    pub(super) fn new(layout: Layout, components: usize) -> Self {
        let (count, width) = match layout {
            Layout::ByNode => (1, components),
            Layout::ByComponent => (components, 1),
        };
        Self { count, width }
    }

    fn components(self) -> usize {
        self.count * self.width
    }
}

impl Restriction {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.interior.len()
    }

    /// Number of shell nodes of an element.
    pub fn shell_nodes(&self) -> usize {
        self.shell_positions.len()
    }

    /// Number of nodes of an element.
    pub fn nodes_per_element(&self) -> usize {
        self.shell_positions.len() + self.interior_positions.len()
    }

    /// The number in `chunks` of the chunk that has the element.
    pub fn chunk_of(&self, element: usize) -> usize {
        self.chunks
            .partition_point(|chunk| chunk.elements.end <= element)
    }

    /// The L-vector node with a chunk-local index.
    pub fn node(&self, chunk: &Chunk, local: u32) -> usize {
        let local = local as usize;
        match local.checked_sub(chunk.private.len()) {
            None => chunk.private.start + local,
            Some(t) => self.interface[chunk.interface.start + t] as usize,
        }
    }

    /// The places in `interface` that list L-vector node `first_interface + index`.
    pub fn sources(&self, index: usize) -> &[u32] {
        let ends = &self.interface_sources_offsets[index..index + 2];
        &self.interface_sources[ends[0] as usize..ends[1] as usize]
    }

    /// Memory of the arrays, in bytes.
    pub fn bytes(&self) -> usize {
        let numbers = self.shell.len()
            + self.interior.len()
            + self.shell_positions.len()
            + self.interior_positions.len()
            + self.interface.len()
            + self.interface_sources_offsets.len()
            + self.interface_sources.len();
        numbers * size_of::<u32>() + self.chunks.len() * size_of::<Chunk>()
    }

    /// Lexicographic position and chunk-local index of each node of an element.
    pub(super) fn element(&self, element: usize) -> impl Iterator<Item = (usize, u32)> {
        let shell = &self.shell[element * self.shell_nodes()..][..self.shell_nodes()];
        let shell = self.shell_positions.iter().zip(shell.iter().copied());
        let interior = self.interior_positions.iter().zip(self.interior[element]..);
        shell
            .chain(interior)
            .map(|(&position, local)| (position as usize, local))
    }

    /// Fills the E-vector `e` from `l`, of which entries beyond its length read as zero.
    pub(super) fn gather<T: Copy + Default + Send + Sync>(
        &self,
        fields: Fields,
        l: &[T],
        e: &mut [T],
    ) {
        let (components, width) = (fields.components(), fields.width);
        let (nodes, np) = (l.len() / components, self.nodes_per_element());
        let elements = self.chunks.iter().map(|c| c.elements.len());
        let parts = split(e, elements.map(|n| n * components * np));
        let gather_chunk = |(chunk, e): (&Chunk, &mut [T])| {
            for (element, e) in chunk
                .elements
                .clone()
                .zip(e.chunks_exact_mut(components * np))
            {
                for (position, local) in self.element(element) {
                    let node = self.node(chunk, local);
                    for c in 0..components {
                        let field = c / width * nodes * width;
                        let value = || l[field + node * width + c % width];
                        e[c * np + position] = if node < nodes { value() } else { T::default() };
                    }
                }
            }
        };
        self.chunks.par_iter().zip(parts).for_each(gather_chunk);
    }

    /// Adds `value(element, component, position)` of all element nodes to `l`, dropping what falls
    /// beyond its length.
    ///
    /// Chunks run in parallel: each sums what its elements add, then adds the sums of its private
    /// nodes to its own part of `l`. The sums of the other nodes are put down, and added node by
    /// node in chunk order afterwards. So the result does not depend on the number of threads.
    pub(super) fn scatter_add<T: Copy + Default + AddAssign + Send + Sync>(
        &self,
        fields: Fields,
        value: impl Fn(usize, usize, usize) -> T + Sync,
        l: &mut [T],
    ) {
        let components = fields.components();
        let nodes = l.len() / components;
        let (mut private, mut shared) = self.split_fields(fields, l);

        let mut interface = vec![T::default(); self.interface.len() * components];
        let lists = self.chunks.iter().map(|c| c.interface.len() * components);
        let lists = split(&mut interface, lists);
        let chunks = self.chunks.par_iter().zip(&mut private).zip(lists);
        chunks.for_each(|((chunk, private), list)| {
            let sums = self.sum_chunk(chunk, components, &value);
            let (own, other) = sums.split_at(chunk.private.len() * components);
            list.copy_from_slice(other);
            for (node, sums) in own.chunks_exact(components).enumerate() {
                add(private, fields.width, node, sums);
            }
        });

        for index in 0..nodes.saturating_sub(self.first_interface) {
            for c in 0..components {
                let mut sum = T::default();
                for &source in self.sources(index) {
                    sum += interface[source as usize * components + c];
                }
                shared[c / fields.width][index * fields.width + c % fields.width] += sum;
            }
        }
    }

    /// What the chunk's elements add to each of its nodes, `[chunk nodes][components]`.
    fn sum_chunk<T: Copy + Default + AddAssign>(
        &self,
        chunk: &Chunk,
        components: usize,
        value: &impl Fn(usize, usize, usize) -> T,
    ) -> Vec<T> {
        let mut sums = vec![T::default(); chunk.nodes() * components];
        for element in chunk.elements.clone() {
            for (position, local) in self.element(element) {
                for c in 0..components {
                    sums[local as usize * components + c] += value(element, c, position);
                }
            }
        }
        sums
    }

    /// For each chunk the parts of all fields with its private nodes, `[chunks][fields]`, and the
    /// parts of all fields with the nodes that follow, `[fields]`.
    #[allow(clippy::type_complexity)]
    fn split_fields<'l, T>(
        &self,
        fields: Fields,
        l: &'l mut [T],
    ) -> (Vec<Vec<&'l mut [T]>>, Vec<&'l mut [T]>) {
        let length = (l.len() / fields.count).max(1);
        let mut private: Vec<Vec<_>> = self.chunks.iter().map(|_| Vec::new()).collect();
        let mut shared = Vec::with_capacity(fields.count);
        for field in l.chunks_exact_mut(length) {
            let (own, other) = field.split_at_mut(self.first_interface * fields.width);
            let lengths = self.chunks.iter().map(|c| c.private.len() * fields.width);
            for (parts, part) in private.iter_mut().zip(split(own, lengths)) {
                parts.push(part);
            }
            shared.push(other);
        }
        (private, shared)
    }
}

/// Adds the components of one node, which lies at `node` of every field.
fn add<T: Copy + AddAssign>(fields: &mut [&mut [T]], width: usize, node: usize, values: &[T]) {
    for (field, values) in fields.iter_mut().zip(values.chunks_exact(width)) {
        for (sum, &value) in field[node * width..].iter_mut().zip(values) {
            *sum += value;
        }
    }
}

/// Cuts a slice into consecutive parts of the given lengths.
pub(super) fn split<T>(slice: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = slice;
    lengths
        .map(|length| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(length);
            rest = tail;
            part
        })
        .collect()
}
