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
        (block, inside): (&'a Block, &'a [u32]),
        (numbers, nodes): (&'a Numbers, &ElementNodes),
        (elements, private): (&'a Range<usize>, Range<usize>),
    ) -> Self {
        let mut interface: Vec<(u32, u32, u32)> = Vec::new();
        let slots = nodes.slots();
        for element in elements.clone() {
            for (slot, &entity) in block.entities(element)[..slots].iter().enumerate() {
                let first = numbers.first[entity as usize];
                if first as usize >= numbers.first_interface {
                    interface.push((first, nodes.size(slot), 0));
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

    /// The shell nodes of each element, or of the lowest of each of the columns with so many `layers`.
    pub(super) fn fill_shell(&self, (nodes, layers): (&ElementNodes, usize), shell: &mut [u32]) {
        let shells = shell.chunks_exact_mut(nodes.shell_positions.len());
        for (element, shell) in self.elements.clone().step_by(layers).zip(shells) {
            self.fill_element(nodes, element, shell);
        }
    }

    fn fill_element(&self, nodes: &ElementNodes, element: usize, shell: &mut [u32]) {
        let entities = &*self.block.entities(element);
        nodes.fill_shell(entities, |slot| self.first(entities[slot]), shell);
    }

    /// The first interior node of each element; nothing if elements have none.
    pub(super) fn fill_interior(&self, interior: &mut [u32]) {
        for (element, interior) in self.elements.clone().zip(interior) {
            *interior = self.inside[element] - self.private.start as u32;
        }
    }

    /// The steps from the shell nodes of an element to those of the one above it; zero if `layers` are 1.
    pub(super) fn steps(&self, nodes: &ElementNodes, layers: usize) -> Vec<u32> {
        let mut low = vec![0; nodes.shell_positions.len()];
        let mut high = low.clone();
        if layers > 1 && self.elements.len() > 1 {
            self.fill_element(nodes, self.elements.start, &mut low);
            self.fill_element(nodes, self.elements.start + 1, &mut high);
        }
        let steps = high.iter().zip(low);
        steps.map(|(high, low)| high - low).collect()
    }
}
