//! Ranges of vertices, by which threads share the search for edges and facets.

use std::ops::Range;

use super::{Block, Entities};
use crate::parallel;

/// At most as many ranges: each has a bit.
const MOST: usize = 64;

/// Elements of a run.
const RUN: usize = 256;

/// A range of vertices, with the elements that have some of them.
pub(super) struct VertexRange {
    pub(super) vertices: Range<u32>,
    number: usize,
}

/// A range for each thread.
pub(super) struct VertexRanges {
    ranges: Vec<VertexRange>,
    /// The ranges of which each run of elements has vertices, as bits, `[block][run]`.
    touched: Vec<Vec<u64>>,
}

impl VertexRanges {
    pub(super) fn new(entities: &Entities) -> Self {
        let (vertices, count) = (
            entities.counts[0] as u64,
            rayon::current_num_threads().min(MOST),
        );
        let start = |number: usize| (vertices * number as u64 / count as u64) as u32;
        let ranges: Vec<VertexRange> = (0..count)
            .map(|number| VertexRange {
                vertices: start(number)..start(number + 1),
                number,
            })
            .collect();
        let bit = |&vertex: &u32| 1 << ranges.partition_point(|it| it.vertices.end <= vertex);
        let touched = |block: &Block| {
            let bits = |run| {
                let vertices = elements(block, run).flat_map(|element| block.vertices(element));
                vertices.map(bit).fold(0, |all, bit| all | bit)
            };
            parallel::map(block.elements().div_ceil(RUN), bits)
        };
        Self {
            touched: entities.blocks.iter().map(touched).collect(),
            ranges,
        }
    }

    /// Results for all ranges.
    pub(super) fn map<R: Send>(
        &self,
        of_range: impl Fn(&VertexRange) -> R + Send + Sync,
    ) -> Vec<R> {
        parallel::gather(self.ranges.len(), |number, results| {
            results.push(of_range(&self.ranges[number]));
        })
    }

    /// The elements of a block, of the given number, that have vertices in a range, ascending.
    pub(super) fn elements<'a>(
        &'a self,
        (number, block): (usize, &'a Block),
        range: &'a VertexRange,
    ) -> impl Iterator<Item = usize> + 'a {
        let runs = self.touched[number].iter().enumerate();
        let runs = runs.filter(|(_, bits)| **bits & 1 << range.number != 0);
        runs.flat_map(|(run, _)| elements(block, run))
            .filter(|&element| {
                let mut vertices = block.vertices(element).iter();
                vertices.any(|vertex| range.vertices.contains(vertex))
            })
    }
}

/// The elements of a run.
fn elements(block: &Block, run: usize) -> Range<usize> {
    run * RUN..block.elements().min((run + 1) * RUN)
}
