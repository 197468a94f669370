//! Arrays of the restriction between L-vectors and E-vectors.

use std::ops::Range;

use crate::few::in_column;
use crate::parallel::split;

/// A run of consecutive elements whose nodes fit a core's cache.
///
/// A node of a chunk has a *chunk-local index*: its private nodes come first, in L-vector order,
/// then the nodes of its list in [`Restriction::interface`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The chunk's elements.
    pub elements: Range<usize>,
    /// L-vector nodes that only this chunk touches: first those on shells of elements, then `interior`.
    pub private: Range<usize>,
    /// The end of `private`: interior nodes, element by element. No two elements share any of these.
    pub interior: Range<usize>,
    /// The chunk's part of [`Restriction::interface`].
    pub interface: Range<usize>,
}

impl Chunk {
    /// Number of nodes that the chunk touches.
    pub fn nodes(&self) -> usize {
        self.private.len() + self.interface.len()
    }
}

/// The map from element positions to L-vector nodes.
///
/// L-vector nodes are numbered: private nodes of chunk 0, of chunk 1, ...; then nodes shared by several
/// chunks, from [`Restriction::first_interface`].
///
/// A mesh of several shapes has a restriction for each, a *block*, on the same L-vectors: the private nodes
/// of one block follow those of the previous one, and the shared nodes follow those of all.
///
/// Positions in an element are lexicographic in tensor-product cells, and in the order of
/// [`femto_element::cell`] in others.
///
/// Nodes on vertices, edges and faces of an element (in the plane: vertices and edges) form its *shell*,
/// each with its own index; interior nodes are consecutive in the L-vector, so only the first one is
/// stored. Within a chunk's private nodes those on shells precede interior ones, so that nodes summed over
/// several elements are one run: `private.start..interior.start`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restriction {
    /// The chunks; their elements, their private nodes and their interface lists are consecutive.
    pub chunks: Vec<Chunk>,
    /// Elements of a column, if each shell node of one follows that of the element below it; otherwise 1.
    pub layers: usize,
    /// Chunk-local index of each shell node of the lowest element of each column, `[elements / layers][shell_nodes]`.
    pub shell: Vec<u32>,
    /// Chunk-local index of the first interior node of each element, `[elements]`; empty if elements have none.
    pub interior: Vec<u32>,
    /// Position in the element of each shell node, ascending, `[shell_nodes]`.
    pub shell_positions: Vec<u32>,
    /// Position in the element of each interior node, ascending, `[interior_nodes]`; hexahedra have
    /// (degree - 1)³ of them.
    pub interior_positions: Vec<u32>,
    /// For each chunk, ascending, the shared L-vector nodes that it touches: entry `t` of a chunk's list
    /// has the chunk-local index `private.len() + t`.
    pub interface: Vec<u32>,
    /// Start of the sources of each L-vector node from `first_interface` to `nodes`,
    /// `[nodes - first_interface + 1]`; nodes that only other blocks touch have none.
    pub interface_sources_offsets: Vec<u32>,
    /// Positions in `interface` at which the node is listed, ascending, which is chunk order.
    pub interface_sources: Vec<u32>,
    /// Number of private nodes of all blocks, and so the first node after them.
    pub first_interface: usize,
    /// Number of L-vector nodes.
    pub nodes: usize,
    /// The number of this block in the space. The first block initialises the sums of shared nodes.
    pub block: usize,
    /// Number of blocks.
    pub blocks: usize,
}

impl Restriction {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.elements.end)
    }

    /// Number of shell nodes of an element.
    pub fn shell_nodes(&self) -> usize {
        self.shell_positions.len()
    }

    /// Number of nodes of an element.
    pub fn nodes_per_element(&self) -> usize {
        self.shell_positions.len() + self.interior_positions.len()
    }

    /// Maximum number of nodes that a chunk touches.
    pub fn most_chunk_nodes(&self) -> usize {
        self.chunks.iter().map(Chunk::nodes).max().unwrap_or(0)
    }

    /// The index in `chunks` of the chunk that contains the element.
    pub fn chunk_of(&self, element: usize) -> usize {
        self.chunks
            .partition_point(|chunk| chunk.elements.end <= element)
    }

    /// The private nodes of all chunks.
    pub fn private(&self) -> Range<usize> {
        match &self.chunks[..] {
            [first, .., last] => first.private.start..last.private.end,
            [only] => only.private.clone(),
            [] => 0..0,
        }
    }

    /// For each chunk the part of an L-vector that is private to it, and that of values at nodes of [`Self::interface`]; and the
    /// part of the L-vector from the first interface node on.
    ///
    /// # Panics
    /// If the slices are shorter.
    #[expect(clippy::type_complexity, reason = "two slices for each chunk, and one")]
    pub fn split_mut<'a, 'b, V>(
        &self,
        l_vector: &'a mut [V],
        listed: &'b mut [V],
    ) -> (Vec<(&'a mut [V], &'b mut [V])>, &'a mut [V]) {
        let (private, shared) = l_vector.split_at_mut(self.first_interface);
        let (_, private) = private.split_at_mut(self.private().start);
        let chunks = self.chunks.iter();
        let private = split(private, chunks.clone().map(|chunk| chunk.private.len()));
        let lists = split(listed, chunks.map(|chunk| chunk.interface.len()));
        (private.into_iter().zip(lists).collect(), shared)
    }

    /// Whether elements touch an L-vector node.
    pub fn touches(&self, node: usize) -> bool {
        match node.checked_sub(self.first_interface) {
            None => self.private().contains(&node),
            Some(index) => !self.sources(index).is_empty(),
        }
    }

    /// Number of L-vector nodes that elements touch.
    pub fn touched(&self) -> usize {
        let shared = 0..self.nodes - self.first_interface;
        let shared = shared.filter(|&index| !self.sources(index).is_empty());
        self.private().len() + shared.count()
    }

    /// The chunks that have an L-vector node, ascending, with its chunk-local index.
    pub fn chunks_with(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let listed = node.checked_sub(self.first_interface);
        let own = (listed.is_none() && self.private().contains(&node)).then(|| {
            let chunk = self.chunks.partition_point(|it| it.private.end <= node);
            (chunk, node - self.chunks[chunk].private.start)
        });
        let sources = listed.map_or(&[][..], |index| self.sources(index));
        let of_source = |&source: &u32| {
            let source = source as usize;
            let chunk = (self.chunks).partition_point(|it| it.interface.end <= source);
            let Chunk {
                private, interface, ..
            } = &self.chunks[chunk];
            (chunk, private.len() + source - interface.start)
        };
        own.into_iter().chain(sources.iter().map(of_source))
    }

    /// The L-vector node of a chunk-local index.
    pub fn node(&self, chunk: &Chunk, local: u32) -> usize {
        let local = local as usize;
        match local.checked_sub(chunk.private.len()) {
            None => chunk.private.start + local,
            Some(t) => self.interface[chunk.interface.start + t] as usize,
        }
    }

    /// The positions in `interface` that list L-vector node `first_interface + index`.
    pub fn sources(&self, index: usize) -> &[u32] {
        self.sources_from(index).next().unwrap_or_default()
    }

    /// [`Restriction::sources`] of one node after the other, from `first_interface + first` on.
    pub fn sources_from(&self, first: usize) -> impl Iterator<Item = &[u32]> {
        let ends = self.interface_sources_offsets[first..].windows(2);
        ends.map(|ends| &self.interface_sources[ends[0] as usize..ends[1] as usize])
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

    /// The chunk-local index of each shell node of an element, `[shell_nodes]`.
    pub fn shell_of(&self, element: usize) -> impl ExactSizeIterator<Item = u32> {
        let (column, layer) = in_column(element, self.layers);
        let lowest = &self.shell[column * self.shell_nodes()..][..self.shell_nodes()];
        lowest.iter().map(move |lowest| lowest + layer)
    }

    /// One of [`Self::shell_of`].
    pub fn shell_at(&self, element: usize, place: usize) -> u32 {
        let (column, layer) = in_column(element, self.layers);
        self.shell[column * self.shell_nodes() + place] + layer
    }

    /// The chunk-local index of the first interior node of an element; meaningless if it has none.
    pub fn first_inside(&self, element: usize) -> u32 {
        self.interior.get(element).copied().unwrap_or_default()
    }

    /// Position and chunk-local index of each node of an element: its shell, then
    /// its interior, both ascending in position.
    pub fn element(&self, element: usize) -> impl Iterator<Item = (usize, u32)> {
        let shell = self.shell_positions.iter().zip(self.shell_of(element));
        let first = self.first_inside(element);
        let interior = self.interior_positions.iter().zip(first..);
        shell
            .chain(interior)
            .map(|(&position, local)| (position as usize, local))
    }
}
