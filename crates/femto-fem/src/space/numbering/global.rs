//! L-vector numbers: chunk by chunk, then the nodes shared by chunks.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::NumberedElements;
use crate::parallel;
use crate::space::SpaceError;
use crate::space::topology::{Block, Entities};

/// Marks an entity that no chunk touches.
const NOBODY: u32 = u32::MAX;

/// Added to the number of a chunk: there are fewer than 2³¹.
const SHARED: u32 = 1 << 31;

/// A number of nodes, checked to fit 32 bits.
fn checked(nodes: u64) -> Result<usize, SpaceError> {
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
    /// First node of each entity. Its others follow in steps of the entities on its line, if columns are whole, otherwise
    /// consecutively: see [`NumberedChunk::visit`].
    pub(super) first: Vec<u32>,
    /// First interior node of each element, `[block][element]`.
    pub(super) interior: Vec<Vec<u32>>,
    /// Private nodes of each chunk, `[block][chunk]`.
    pub(super) private: Vec<Vec<Range<usize>>>,
    pub(super) first_interface: usize,
    pub(super) nodes: usize,
}

impl Numbers {
    pub(super) fn new(
        entities: &Entities,
        shapes: &[NumberedElements],
    ) -> Result<Self, SpaceError> {
        let chunks = shapes.iter().enumerate();
        let chunks = chunks.flat_map(|(block, shape)| {
            let elements = entities.block(block);
            let is_whole = shape.even_layers() > 1;
            (shape.chunks.iter()).map(move |chunk| NumberedChunk {
                shape,
                elements,
                chunk,
                is_whole,
            })
        });
        let chunks: Vec<NumberedChunk<'_>> = chunks.collect();
        let owners = Owners::new(entities.counts.iter().sum(), &chunks);
        let (first, counts) = number(&chunks, &owners);
        let on_entities = counts.iter().flatten().map(|&count| u64::from(count));
        let inside = |shape: &NumberedElements| {
            shape.elements() as u64 * shape.nodes.interior_positions.len() as u64
        };
        let total = on_entities.chain(shapes.iter().map(inside)).sum();
        let mut numbers = Self {
            first,
            interior: Vec::new(),
            private: Vec::new(),
            first_interface: 0,
            nodes: checked(total)?,
        };
        numbers.continue_counts(shapes, &counts, &owners);
        Ok(numbers)
    }

    /// Puts the nodes of chunks one after the other: the private ones of a chunk, the interiors of its elements, and after
    /// those of all chunks the shared ones.
    fn continue_counts(
        &mut self,
        shapes: &[NumberedElements],
        counts: &[[u32; 2]],
        owners: &Owners,
    ) {
        let (mut private, mut shared) = (0, 0);
        // First private and shared node of each chunk.
        let mut starts = Vec::with_capacity(counts.len());
        let mut counts = counts.iter();
        for shape in shapes {
            let inside = shape.nodes.interior_positions.len() as u32;
            let (mut interior, mut chunks) = (Vec::with_capacity(shape.elements()), Vec::new());
            for (chunk, count) in shape.chunks.iter().zip(&mut counts) {
                starts.push([private, shared]);
                let start = private + count[0];
                interior.extend((0..chunk.len() as u32).map(|element| start + element * inside));
                let end = start + chunk.len() as u32 * inside;
                chunks.push(private as usize..end as usize);
                (private, shared) = (end, shared + count[1]);
            }
            self.interior.push(interior);
            self.private.push(chunks);
        }
        parallel::each(&mut self.first, |entity, first| {
            let (owner, is_shared) = owners.of(entity as u32);
            // Entities without nodes have no owner.
            if let Some(&start) = starts.get(owner as usize) {
                *first += match is_shared {
                    false => start[0],
                    true => private + start[1],
                };
            }
        });
        self.first_interface = private as usize;
    }
}

/// Numbers the entities of each chunk from 0 on, private and shared ones apart, in element order, in columns line by line. A
/// shared entity belongs to the first chunk that touches it, and all elements have the same nodes on it. Those of a line have
/// their first nodes one after the other, then their second ones: threads with prisms on each other meet neighbours in memory.
/// Returns the first node of each entity, and each chunk's numbers of nodes of each kind.
fn number(chunks: &[NumberedChunk<'_>], owners: &Owners) -> (Vec<u32>, Vec<[u32; 2]>) {
    let first = parallel::unset(owners.0.len());
    let counts = parallel::map(chunks.len(), |number| {
        let (chunk, mut next) = (&chunks[number], [0; 2]);
        chunk.visit(|slot, line| {
            let (owner, is_shared) = owners.of(line.start);
            let first = &first[line.start as usize..line.end as usize];
            // No other chunk writes here.
            if owner as usize == number && first[0].load(Relaxed) == NOBODY {
                let next = &mut next[usize::from(is_shared)];
                let numbers = first.iter().zip(*next..);
                numbers.for_each(|(first, number)| first.store(number, Relaxed));
                *next += chunk.shape.nodes.size(slot) * first.len() as u32;
            }
        });
        next
    });
    (parallel::written(first), counts)
}

/// A chunk of a shape's elements.
pub(super) struct NumberedChunk<'a> {
    pub(super) shape: &'a NumberedElements,
    pub(super) elements: &'a Block,
    pub(super) chunk: &'a Range<usize>,
    /// Whether all chunks have whole columns.
    pub(super) is_whole: bool,
}

impl NumberedChunk<'_> {
    /// The steps between nodes of an entity, by its slot; nothing if they are 1.
    pub(super) fn steps(&self) -> Vec<u32> {
        match self.is_whole {
            true => self.elements.on_lines(),
            false => Vec::new(),
        }
    }

    /// Visits each element's entities up to the last that has nodes, with a slot, in the order of their numbers: those on a
    /// line together if columns are whole, otherwise one by one.
    pub(super) fn visit(&self, mut visit: impl FnMut(usize, Range<u32>)) {
        let (slots, chunk) = (self.shape.nodes.slots(), self.chunk.clone());
        match self.shape.layers {
            1 => chunk.for_each(|element| {
                let entities = self.elements.entities(element);
                let own = entities[..slots].iter().enumerate();
                own.for_each(|(slot, &entity)| visit(slot, entity..entity + 1));
            }),
            // Columns, or what the chunk has of them.
            layers => (chunk.start / layers..chunk.end.div_ceil(layers)).for_each(|column| {
                let (lowest, above) = (column * layers, (column + 1) * layers);
                let part = lowest.max(chunk.start)..above.min(chunk.end);
                self.elements
                    .walk_lines(part, slots, &mut |slot, line| match self.is_whole {
                        true => visit(slot, line),
                        false => line.for_each(|entity| visit(slot, entity..entity + 1)),
                    });
            }),
        }
    }
}

/// For each entity the first chunk that touches it, with [`SHARED`] if others do too; or [`NOBODY`].
struct Owners(Vec<AtomicU32>);

impl Owners {
    fn new(entities: usize, chunks: &[NumberedChunk<'_>]) -> Self {
        let owners = Self(parallel::unset(entities));
        // The outcome does not depend on the order.
        parallel::for_each(chunks.len(), |number| {
            let add = |entity: u32| owners.add(entity, number as u32);
            chunks[number].visit(|_, line| line.for_each(add));
        });
        owners
    }

    fn add(&self, entity: u32, chunk: u32) {
        let with = |owner: u32| match owner {
            NOBODY => Some(chunk),
            owner if owner & !SHARED == chunk => None,
            owner => Some((owner & !SHARED).min(chunk) | SHARED).filter(|&new| new != owner),
        };
        // Fails where nothing changes.
        let _ = self.0[entity as usize].fetch_update(Relaxed, Relaxed, with);
    }

    /// The owner, and whether the entity is shared.
    fn of(&self, entity: u32) -> (u32, bool) {
        let owner = self.0[entity as usize].load(Relaxed);
        match owner {
            NOBODY => (NOBODY, false),
            owner => (owner & !SHARED, owner & SHARED != 0),
        }
    }
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
