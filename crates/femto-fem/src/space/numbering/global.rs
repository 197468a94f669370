//! L-vector numbers: chunk by chunk, then the nodes shared by chunks.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::ShapeElements;
use crate::space::SpaceError;
use crate::space::topology::Topology;

/// Owner of an entity: this, or the number of the only chunk that touches it.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// A number of nodes, checked to fit 32 bits.
pub(super) fn checked(nodes: u64) -> Result<usize, SpaceError> {
    if nodes < u64::from(u32::MAX) {
        Ok(nodes as usize)
    } else {
        Err(SpaceError::TooManyNodes { nodes })
    }
}

/// Fails unless the entries of the interface lists, and so their offsets, fit 32 bits.
pub(super) fn check_interface(entries: u64) -> Result<(), SpaceError> {
    if entries <= u64::from(u32::MAX) {
        Ok(())
    } else {
        Err(SpaceError::TooManyShared { entries })
    }
}

/// L-vector numbers of the nodes of all entities and elements.
pub(super) struct Numbers {
    /// First node of each entity; its others follow consecutively.
    pub(super) first: Vec<u32>,
    /// First interior node of each element, `[block][element]`.
    pub(super) interior: Vec<Vec<u32>>,
    /// Private nodes of each chunk, `[block][chunk]`.
    pub(super) private: Vec<Vec<Range<usize>>>,
    pub(super) first_interface: usize,
    pub(super) nodes: usize,
    /// Number of nodes of a vertex, an edge, a triangle, a quadrilateral.
    sizes: [u32; 4],
    /// The first entity that is an edge, a triangle, a quadrilateral.
    starts: [u32; 3],
}

impl Numbers {
    pub(super) fn new(
        topology: &Topology,
        shapes: &[ShapeElements<'_>],
    ) -> Result<Self, SpaceError> {
        let [vertices, edges, triangles, _] = topology.counts;
        // All shapes with an entity have the same nodes on it.
        let mut on_entity = [0; 4];
        for shape in shapes {
            for (most, own) in on_entity.iter_mut().zip(shape.nodes.inside) {
                *most = own.max(*most);
            }
        }
        let on_entities = topology.counts.iter().zip(on_entity);
        let inside =
            |shape: &ShapeElements<'_>| (shape.elements(), shape.nodes.interior_positions.len());
        let total: u64 = on_entities
            .map(|(&count, size)| (count, size))
            .chain(shapes.iter().map(inside))
            .map(|(count, size)| count as u64 * size as u64)
            .sum();
        let mut numbers = Self {
            first: vec![NOBODY; topology.counts.iter().sum()],
            interior: Vec::with_capacity(shapes.len()),
            private: Vec::with_capacity(shapes.len()),
            first_interface: 0,
            nodes: checked(total)?,
            sizes: on_entity.map(|size| size as u32),
            starts: [vertices, vertices + edges, vertices + edges + triangles]
                .map(|start| start as u32),
        };
        let owners = owners(topology, shapes);
        numbers.number(topology, shapes, &owners);
        Ok(numbers)
    }

    /// Number of nodes of an entity.
    pub(super) fn size(&self, entity: u32) -> u32 {
        let dimension = self.starts.iter().filter(|&&start| entity >= start).count();
        self.sizes[dimension]
    }

    /// Numbers entities in element order, in columns line by line, private and shared ones; the interiors of a chunk
    /// follow its private entities.
    fn number(&mut self, topology: &Topology, shapes: &[ShapeElements<'_>], owners: &[AtomicU32]) {
        let (mut private, mut several) = (0, 0);
        for (block, shape) in shapes.iter().enumerate() {
            let inside = shape.nodes.interior_positions.len() as u32;
            let mut interior = Vec::with_capacity(shape.elements());
            let mut chunks = Vec::with_capacity(shape.chunks.len());
            let elements = topology.block(block);
            for chunk in shape.chunks {
                let start = private;
                let mut meet = |entity: u32| {
                    if self.first[entity as usize] == NOBODY {
                        let next = match owners[entity as usize].load(Relaxed) {
                            SEVERAL => &mut several,
                            _ => &mut private,
                        };
                        self.first[entity as usize] = *next;
                        *next += self.size(entity);
                    }
                };
                match shape.layers {
                    1 => (chunk.clone())
                        .flat_map(|element| elements.entities(element))
                        .for_each(|&entity| meet(entity)),
                    layers => (chunk.clone().step_by(layers))
                        .for_each(|lowest| elements.walk_lines(lowest..lowest + layers, &mut meet)),
                }
                for _ in chunk.clone() {
                    interior.push(private);
                    private += inside;
                }
                chunks.push(start as usize..private as usize);
            }
            self.interior.push(interior);
            self.private.push(chunks);
        }
        // Shared entities come after the private nodes.
        let numbers = self.first.par_iter_mut().zip(owners);
        numbers.for_each(|(first, owner)| {
            if owner.load(Relaxed) == SEVERAL {
                *first += private;
            }
        });
        self.first_interface = private as usize;
    }
}

/// The owner of each entity: the number of the only chunk of all shapes that touches it, or [`SEVERAL`].
fn owners(topology: &Topology, shapes: &[ShapeElements<'_>]) -> Vec<AtomicU32> {
    let entities = 0..topology.counts.iter().sum();
    let owners: Vec<AtomicU32> = entities.map(|_| AtomicU32::new(NOBODY)).collect();
    let blocks = shapes.iter().enumerate();
    let chunks = blocks.flat_map(|(block, shape)| shape.chunks.iter().map(move |it| (block, it)));
    let chunks: Vec<_> = (0..).zip(chunks).collect();
    // The outcome does not depend on the order.
    chunks.into_par_iter().for_each(|(number, (block, chunk))| {
        let elements = topology.block(block);
        for element in chunk.clone() {
            for &entity in elements.entities(element) {
                let owner = &owners[entity as usize];
                let before = owner.load(Relaxed);
                if before == number || before == SEVERAL {
                    continue;
                }
                let taken = owner.compare_exchange(NOBODY, number, Relaxed, Relaxed);
                if taken.is_err() {
                    owner.store(SEVERAL, Relaxed);
                }
            }
        }
    });
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_32_bits_cannot_count_is_an_error() {
        let most = u64::from(u32::MAX);
        assert_eq!(checked(most - 1).unwrap() as u64, most - 1);
        let error = checked(most).unwrap_err().to_string();
        assert_eq!(
            error,
            "4294967295 nodes; at most 4294967294 can be numbered"
        );
        check_interface(most).unwrap();
        let error = check_interface(most + 1).unwrap_err().to_string();
        assert!(error.starts_with("4294967296 entries"), "{error}");
    }
}
