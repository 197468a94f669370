//! The edges of elements.

use super::chains::Chains;
use super::ranges::VertexRanges;
use super::{NONE, Topology};
use crate::parallel;

impl Topology {
    /// Finds the edges, by their lower vertex, each with the higher one.
    pub(super) fn find_edges(&self, ranges: &VertexRanges) -> Vec<Chains<u32>> {
        ranges.map(|range| {
            let mut edges = Chains::new(range.vertices.clone());
            for (number, block) in self.entities.blocks.iter().enumerate() {
                for element in ranges.elements((number, block), range) {
                    let vertices = block.vertices(element);
                    for ends in block.cell.edges() {
                        let [low, high] = ascending(ends.map(|m| vertices[m]));
                        let is_new = || edges.find(low, &[high], |&other| other == high).is_none();
                        if range.vertices.contains(&low) && is_new() {
                            edges.push(low, &[high], high);
                        }
                    }
                }
            }
            edges
        })
    }

    /// Numbers the edges in the order of their parts.
    pub(super) fn number_edges(&mut self, parts: &[Chains<u32>]) {
        let mut next = self.entities.counts[0];
        let first = |part: &Chains<u32>| {
            let first = next;
            next += part.links.len();
            first
        };
        let firsts: Vec<usize> = parts.iter().map(first).collect();
        self.entities.counts[1] = next - self.entities.counts[0];
        for block in &mut self.entities.blocks {
            let cell = block.cell;
            parallel::chunks(&mut block.entities, block.stride, |_, own| {
                let (vertices, rest) = own.split_at_mut(cell.vertices());
                for (ends, edge) in cell.edges().iter().zip(rest) {
                    let [low, high] = ascending(ends.map(|m| vertices[m]));
                    let part = parts.partition_point(|part| part.vertices.end <= low);
                    let found = parts[part].find(low, &[high], |&other| other == high);
                    *edge = found.map_or(NONE, |place| (firsts[part] + place) as u32);
                }
            });
        }
    }
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
