//! Parts of a mesh that nothing holds.

use crate::problem::Discretization;
use femto_fem::space::{Block, Constraints, Parts};
use serde::Serialize;
use std::fmt;

/// Parts of a mesh, which share no vertices with others, where a constant of the first component is free by itself. Any
/// condition holds a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LooseParts {
    /// Their number.
    pub count: usize,
    /// The number of all parts.
    pub of: usize,
    /// Mesh cell number of the first cell in the first of them.
    pub cell: usize,
}

impl fmt::Display for LooseParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, of, cell } = self;
        let what = match count {
            1 => "one of them, around".to_owned(),
            _ => format!("{count} of them, the first around"),
        };
        write!(
            f,
            "the mesh has {of} parts that share no vertices, and nothing holds {what} mesh cell {cell}"
        )
    }
}

/// A mesh of several parts, some without constraints.
pub(super) struct Apart<'a> {
    on: Discretization<'a>,
    parts: Parts,
    /// The part of each node.
    of_nodes: Vec<Option<u32>>,
    /// Whether each part has constraints.
    is_held: Vec<bool>,
}

impl<'a> Apart<'a> {
    /// `None` if all parts have constraints, or there is only one.
    pub(super) fn new(on: Discretization<'a>, constraints: &Constraints) -> Option<Self> {
        let parts = Block::parts(on.blocks);
        if parts.count < 2 {
            return None;
        }
        let space = on.space();
        let mut of_nodes = vec![None; space.nodes()];
        for (block, of_elements) in on.blocks.iter().zip(&parts.of_elements) {
            for (element, &part) in of_elements.iter().enumerate() {
                let nodes = block.space.element_nodes(element).into_iter();
                nodes.for_each(|node| of_nodes[node as usize] = Some(part));
            }
        }
        let entries = constraints.entries().iter();
        let entries = entries.map(|&entry| space.node_of(entry as usize).0);
        let slanted = constraints.slanted().iter().map(|(node, _)| node);
        let mut is_held = vec![false; parts.count];
        for part in entries.chain(slanted).filter_map(|node| of_nodes[node]) {
            is_held[part as usize] = true;
        }
        is_held.contains(&false).then_some(Self {
            on,
            parts,
            of_nodes,
            is_held,
        })
    }

    /// The parts where a constant is free, all but one if all are, as those are known that are one function on the whole
    /// mesh. `product` gives A z and D z, D the diagonal of A; `is_rounding` says whether an energy is only
    /// rounding beside (z, D z).
    pub(super) fn loose<E>(
        &self,
        product: impl FnOnce(&[f64]) -> Result<[Vec<f64>; 2], E>,
        is_rounding: impl Fn(f64, f64) -> bool,
    ) -> Result<Option<LooseParts>, E> {
        // One operator for all parts, which have no entries in common.
        let space = self.on.space();
        let mut ones = vec![0.0; space.dofs()];
        let nodes = || {
            (self.of_nodes.iter().enumerate()).filter_map(|(i, part)| Some((i, (*part)? as usize)))
        };
        nodes().for_each(|(node, _)| ones[space.entry(node, 0)] = 1.0);
        let [product, diagonal] = product(&ones)?;
        let mut sums = vec![[0.0; 2]; self.parts.count];
        for (node, part) in nodes() {
            let entry = space.entry(node, 0);
            sums[part][0] += product[entry];
            sums[part][1] += diagonal[entry];
        }
        let all = sums.iter().zip(&self.is_held);
        let is_loose = all.map(|([energy, size], is_held)| !is_held && is_rounding(*energy, *size));
        let mut is_loose: Vec<bool> = is_loose.collect();
        is_loose[0] &= is_loose.contains(&false);
        let Some(first) = is_loose.iter().position(|is_loose| *is_loose) else {
            return Ok(None);
        };
        let blocks = self.on.blocks.iter().zip(&self.parts.of_elements);
        let cells = blocks.flat_map(|(block, of_elements)| {
            let elements = of_elements.iter().zip(block.space.cells());
            let own = elements.filter(|(part, _)| **part as usize == first);
            own.map(|(_, &cell)| block.geometry.first_cell() + cell as usize)
        });
        Ok(Some(LooseParts {
            count: is_loose.iter().filter(|is_loose| **is_loose).count(),
            of: self.parts.count,
            cell: cells.min().unwrap_or_default(),
        }))
    }
}
