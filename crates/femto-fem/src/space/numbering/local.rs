//! Chunk-local indices.

use std::ops::Range;

use crate::space::element_nodes::ElementNodes;
use crate::space::topology::Block;

use super::global::Numbers;

/// Chunk-local indices of the nodes of one chunk.
pub(super) struct LocalNumbers<'a> {
    block: &'a Block,
    numbers: &'a Numbers,
    /// First interior node of each element of the block.
    inside: &'a [u32],
    elements: &'a Range<usize>,
    private: Range<usize>,
    /// Shared entities: first node, size, chunk-local index; ascending.
    interface: Vec<(u32, u32, u32)>,
}

impl<'a> LocalNumbers<'a> {
    pub(super) fn new(
        (block, inside, slots): (&'a Block, &'a [u32], usize),
        numbers: &'a Numbers,
        (elements, private): (&'a Range<usize>, Range<usize>),
    ) -> Self {
        let mut interface: Vec<(u32, u32, u32)> = Vec::new();
        for element in elements.clone() {
            for &entity in &block.entities(element)[..slots] {
                let first = numbers.first[entity as usize];
                if first as usize >= numbers.first_interface {
                    interface.push((first, numbers.size(entity), 0));
                }
            }
        }
        interface.sort_unstable();
        interface.dedup();
        let mut next = private.len() as u32;
        for (_, size, local) in &mut interface {
            *local = next;
            next += *size;
        }
        Self {
            block,
            numbers,
            inside,
            elements,
            private,
            interface,
        }
    }

    /// The chunk's shared L-vector nodes, ascending.
    pub(super) fn list(&self) -> Vec<u32> {
        let entities = self.interface.iter();
        entities
            .flat_map(|&(first, size, _)| first..first + size)
            .collect()
    }

    /// The chunk-local index of an entity's first node.
    fn first(&self, entity: u32) -> u32 {
        let first = self.numbers.first[entity as usize];
        if (first as usize) < self.numbers.first_interface {
            return first - self.private.start as u32;
        }
        let place = self
            .interface
            .partition_point(|&(other, _, _)| other < first);
        self.interface[place].2
    }

    pub(super) fn fill(&self, nodes: &ElementNodes, shell: &mut [u32], interior: &mut [u32]) {
        let shells = shell.chunks_exact_mut(nodes.shell_positions.len());
        for ((element, shell), interior) in self.elements.clone().zip(shells).zip(interior) {
            let entities = self.block.entities(element);
            nodes.fill_shell(entities, |slot| self.first(entities[slot]), shell);
            *interior = self.inside[element] - self.private.start as u32;
        }
    }
}
