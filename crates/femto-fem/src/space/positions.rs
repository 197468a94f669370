//! Positions of the nodes of a space.

use rayon::prelude::*;

use crate::geometry::Geometry;
use femto_element::basis::nodes;

use super::gather_scatter::split;
use super::{Chunk, Space};

/// Where the nodes of the reference element are.
struct ReferenceNodes {
    /// `[nodes][3]`
    listed: Vec<[f64; 3]>,
    /// Of a tensor product, the same along each axis, `[nodes_1d]`.
    nodes_1d: Option<Vec<f64>>,
}

impl ReferenceNodes {
    fn new(space: &Space) -> Self {
        let (cell, degree) = (space.cell(), space.degree());
        Self {
            listed: nodes::positions(cell, degree),
            nodes_1d: cell.is_tensor_product().then(|| nodes::gll(degree)),
        }
    }

    /// The positions of all nodes of a cell, in the element's order.
    fn positions(&self, geometry: &Geometry, cell: usize, out: &mut Vec<[f64; 3]>) {
        match &self.nodes_1d {
            Some(nodes_1d) => geometry.node_positions(cell, nodes_1d, out),
            None => geometry.positions_at(cell, &self.listed, out),
        }
    }
}

impl Space {
    /// The positions of all L-vector nodes, `[nodes][3]`, with the geometry that the space was
    /// made with.
    pub fn node_positions(&self, geometry: &Geometry) -> Vec<[f64; 3]> {
        let restriction = &self.restriction;
        let nodes = ReferenceNodes::new(self);
        let mut positions = vec![[0.0; 3]; self.nodes()];
        let mut interface = vec![[0.0; 3]; restriction.interface.len()];

        let (private, shared) = positions.split_at_mut(restriction.first_interface);
        let chunks = restriction.chunks.iter();
        let private = split(private, chunks.clone().map(|c| c.private.len()));
        let lists = split(&mut interface, chunks.map(|c| c.interface.len()));
        let chunks = restriction.chunks.par_iter().zip(private).zip(lists);
        chunks.for_each_init(Vec::new, |element_positions, ((chunk, private), list)| {
            for element in chunk.elements.clone() {
                let cell = self.cells[element] as usize;
                nodes.positions(geometry, cell, element_positions);
                for (position, local) in restriction.element(element) {
                    let x = element_positions[position];
                    match (local as usize).checked_sub(private.len()) {
                        None => private[local as usize] = x,
                        Some(t) => list[t] = x,
                    }
                }
            }
        });
        for (index, x) in shared.iter_mut().enumerate() {
            *x = interface[restriction.sources(index)[0] as usize];
        }
        positions
    }

    /// The positions of the constrained nodes, `[nodes - free_nodes][3]`, with the geometry that
    /// the space was made with.
    ///
    /// Looks only at the chunks with constrained nodes, and maps only these nodes.
    pub fn constrained_positions(&self, geometry: &Geometry) -> Vec<[f64; 3]> {
        let nodes = ReferenceNodes::new(self);
        let chunks = self.restriction.chunks.par_iter();
        let found: Vec<Vec<(u32, [f64; 3])>> = chunks
            .map(|chunk| self.constrained_of(chunk, geometry, &nodes))
            .collect();
        let mut positions = vec![[0.0; 3]; self.constrained_nodes().len()];
        for (node, x) in found.into_iter().flatten() {
            positions[node as usize - self.free_nodes()] = x;
        }
        positions
    }

    /// The chunk's constrained nodes and their positions, each from one element.
    fn constrained_of(
        &self,
        chunk: &Chunk,
        geometry: &Geometry,
        nodes: &ReferenceNodes,
    ) -> Vec<(u32, [f64; 3])> {
        let restriction = &self.restriction;
        let list = &restriction.interface[chunk.interface.clone()];
        // The list ascends, so the constrained nodes are its end, and the end of the chunk's own
        // numbers.
        let start = list.partition_point(|&node| (node as usize) < self.free_nodes());
        let constrained = &list[start..];
        let first = (chunk.private.len() + start) as u32;
        if constrained.is_empty() {
            return Vec::new();
        }
        let mut positions = vec![None; constrained.len()];
        for element in chunk.elements.clone() {
            for (position, local) in restriction.element(element) {
                let Some(t) = local.checked_sub(first) else {
                    continue;
                };
                positions[t as usize].get_or_insert_with(|| {
                    geometry.map(self.cells[element] as usize, nodes.listed[position])
                });
            }
        }
        let constrained = constrained.iter().copied();
        constrained.zip(positions.into_iter().flatten()).collect()
    }
}
