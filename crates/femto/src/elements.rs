//! Parallel traversal of the elements of a space, chunk by chunk, with deterministic sums.

use crate::vector::Csr;
use femto_fem::parallel;
use femto_fem::space::{Chunk, Space};
use std::ops::Range;

/// Approximate points per call: enough to hide its overhead, few enough for the caches.
const GROUP_POINTS: usize = 2048;

/// The chunk's elements in groups of about [`GROUP_POINTS`] points.
fn groups(chunk: &Chunk, points: usize) -> impl Iterator<Item = Range<usize>> {
    let group = (GROUP_POINTS / points).max(1);
    let end = chunk.elements.end;
    let starts = chunk.elements.clone().step_by(group);
    starts.map(move |start| start..(start + group).min(end))
}

/// Combines the elements' values at their nodes into an L-vector.
///
/// `give` takes a group of elements, cut to a good amount of work at `points` points each, and returns
/// `[element of the group][node]`. `add` combines values of several elements at one node, in an order that
/// depends on the space alone.
///
/// # Errors
/// That of the first chunk of those that failed.
pub(crate) fn collect<V: Copy + Default + Send + Sync, E: Send>(
    space: &Space,
    points: usize,
    give: impl Fn(Range<usize>) -> Result<Vec<V>, E> + Sync,
    add: impl Fn(&mut V, V) + Sync,
    result: &mut [V],
) -> Result<(), E> {
    let restriction = space.restriction();
    let mut listed = vec![V::default(); restriction.interface.len()];
    let (mut parts, shared) = restriction.split_mut(result, &mut listed);
    parallel::try_each(&mut parts, |number, (own, list)| {
        let chunk = &restriction.chunks[number];
        let mut sums = vec![V::default(); chunk.nodes()];
        for elements in groups(chunk, points) {
            let given = give(elements.clone())?;
            let given = given.chunks_exact(space.nodes_per_element());
            for (element, given) in elements.zip(given) {
                for (position, local) in restriction.element(element) {
                    add(&mut sums[local as usize], given[position]);
                }
            }
        }
        let (first, second) = sums.split_at(own.len());
        own.copy_from_slice(first);
        list.copy_from_slice(second);
        Ok(())
    })?;
    parallel::each(shared, |index, value| {
        for &source in restriction.sources(index) {
            add(value, listed[source as usize]);
        }
    });
    Ok(())
}

/// The places of each entry of L-vectors of interleaved components in E-vectors `[element][component][node]` of
/// spaces, one after the other, whose length must fit 32 bits.
pub(crate) fn places<'s>(spaces: impl IntoIterator<Item = &'s Space>) -> Csr<()> {
    let (mut of_blocks, mut columns) = (Vec::new(), 0);
    for space in spaces {
        of_blocks.push(BlockPlaces::new(space, columns));
        columns += space.element_dofs();
    }
    let first = of_blocks.first().map(|block: &BlockPlaces| block.space);
    let (nodes, components) = first.map_or((0, 1), |it| (it.nodes(), it.components()));
    Csr::by_rows((nodes * components, columns), |entry, found| {
        let (node, component) = (entry / components, entry % components);
        for block in &of_blocks {
            block.visit(node, component, |place| found.push((place as u32, ())));
        }
    })
}

/// The places of the nodes of one block.
struct BlockPlaces<'a> {
    space: &'a Space,
    /// The block's first entry in E-vectors.
    first: usize,
    chunks: Vec<ChunkPlaces>,
}

/// The places `[element][node]` of the nodes of a chunk, from its first element on.
#[derive(Clone, Default)]
struct ChunkPlaces {
    /// Start of each node's places, by chunk-local index, and the end of the last.
    offsets: Vec<u32>,
    /// Ascending for each node.
    places: Vec<u32>,
}

impl<'a> BlockPlaces<'a> {
    fn new(space: &'a Space, first: usize) -> Self {
        let chunks = &space.restriction().chunks;
        let chunks = parallel::map(chunks.len(), |chunk| {
            ChunkPlaces::new(space, &chunks[chunk])
        });
        Self {
            space,
            first,
            chunks,
        }
    }

    /// Visits the places of a node's component in E-vectors, ascending.
    fn visit(&self, node: usize, component: usize, mut visit: impl FnMut(usize)) {
        let restriction = self.space.restriction();
        let (per_element, components) = (self.space.nodes_per_element(), self.space.components());
        for (chunk, local) in restriction.chunks_with(node) {
            let first = restriction.chunks[chunk].elements.start;
            for &place in self.chunks[chunk].of(local) {
                let place = place as usize;
                let item = (first + place / per_element) * components + component;
                visit(self.first + item * per_element + place % per_element);
            }
        }
    }
}

impl ChunkPlaces {
    fn new(space: &Space, chunk: &Chunk) -> Self {
        let restriction = space.restriction();
        let per_element = space.nodes_per_element();
        let all = || {
            let elements = (0..).zip(chunk.elements.clone());
            elements.flat_map(move |(own, element)| {
                let nodes = restriction.element(element);
                nodes.map(move |(position, local)| (own * per_element + position, local as usize))
            })
        };
        let mut offsets = vec![0; chunk.nodes() + 1];
        all().for_each(|(_, local)| offsets[local + 1] += 1);
        for local in 0..chunk.nodes() {
            offsets[local + 1] += offsets[local];
        }
        let mut next = offsets.clone();
        let mut places = vec![0; chunk.elements.len() * per_element];
        for (place, local) in all() {
            places[next[local] as usize] = place as u32;
            next[local] += 1;
        }
        Self { offsets, places }
    }

    fn of(&self, local: usize) -> &[u32] {
        &self.places[self.offsets[local] as usize..self.offsets[local + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_fem::geometry::Geometry;
    use femto_fem::mesh::boxes::AnyBox;
    use femto_fem::space::{Block, SpaceParams};

    #[test]
    fn every_place_is_listed_once_under_its_entry() {
        for cell in [Cell::Hexahedron, Cell::Triangle] {
            let mesh = AnyBox::unit(cell, 4).build(|x| x).unwrap();
            let params = SpaceParams {
                degree: 3.into(),
                components: 2,
                chunk_nodes: 60,
                ..SpaceParams::default()
            };
            let geometries = Geometry::of_shapes(&mesh).unwrap();
            let blocks = Block::all(&mesh, geometries, params).unwrap();
            let space = &blocks[0].space;
            assert!(space.restriction().chunks.len() > 1);
            let mut wanted = vec![Vec::new(); space.dofs()];
            let per_element = space.nodes_per_element();
            for place in 0..space.element_dofs() {
                let (item, node) = (place / per_element, place % per_element);
                let node = space.element_nodes(item / 2)[node] as usize;
                wanted[node * 2 + item % 2].push(place as u32);
            }
            let found = places([space]);
            assert_eq!(
                (found.rows(), found.columns()),
                (space.dofs(), space.element_dofs())
            );
            for (entry, wanted) in wanted.iter().enumerate() {
                assert_eq!(found.row_columns(entry), wanted);
            }
        }
    }
}
