//! Chunk-local indices.

use std::ops::Range;

use crate::space::element_nodes::ElementNodes;
use crate::space::topology::Block;

use super::global::{NumberedChunk, Numbers};

/// Chunk-local indices of the nodes of one chunk.
pub(super) struct LocalNumbers<'a> {
    block: &'a Block,
    numbers: &'a Numbers,
    /// First interior node of each element of the block.
    inside: &'a [u32],
    elements: &'a Range<usize>,
    private: Range<usize>,
    /// Shared entities, or lines of them: first node, size, chunk-local index; ascending.
    interface: Vec<(u32, u32, u32)>,
    /// The steps between nodes of an entity, by its slot; 1 if there is none.
    steps: Vec<u32>,
}

impl<'a> LocalNumbers<'a> {
    pub(super) fn new(
        chunk: &NumberedChunk<'a>,
        (numbers, inside): (&'a Numbers, &'a [u32]),
        private: Range<usize>,
    ) -> Self {
        let mut interface: Vec<(u32, u32, u32)> = Vec::new();
        chunk.visit(|slot, line| {
            let first = numbers.first[line.start as usize];
            if first as usize >= numbers.first_interface {
                let size = chunk.shape.nodes.size(slot) * line.len() as u32;
                interface.push((first, size, 0));
            }
        });
        interface.sort_unstable();
        interface.dedup();
        let mut next = private.len() as u32;
        for (_, size, local) in &mut interface {
            *local = next;
            next += *size;
        }
        Self {
            block: chunk.elements,
            numbers,
            inside,
            elements: chunk.chunk,
            private,
            interface,
            steps: chunk.steps(),
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
        let after = self.interface.partition_point(|it| it.0 <= first);
        let (start, _, local) = self.interface[after - 1];
        local + (first - start)
    }

    /// The shell nodes of each element, or of the lowest of each of the columns with so many `layers`.
    pub(super) fn fill_shell(&self, (nodes, layers): (&ElementNodes, usize), shell: &mut [u32]) {
        let shells = shell.chunks_exact_mut(nodes.shell_positions.len());
        for (element, shell) in self.elements.clone().step_by(layers).zip(shells) {
            let entities = &*self.block.entities(element);
            let first = |slot: usize| self.first(entities[slot]);
            let step = |slot: usize| self.steps.get(slot).copied().unwrap_or(1);
            nodes.fill_shell(entities, first, step, shell);
        }
    }

    /// The first interior node of each element; nothing if elements have none.
    pub(super) fn fill_interior(&self, interior: &mut [u32]) {
        for (element, interior) in self.elements.clone().zip(interior) {
            *interior = self.inside[element] - self.private.start as u32;
        }
    }
}
