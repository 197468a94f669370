//! Positions of the nodes of a space.

use crate::geometry::{Geometry, Points};
use femto_element::basis::nodes;

use super::{Block, Space};
use crate::parallel;

/// The nodes of the reference element, in its order.
fn reference_nodes(space: &Space) -> Points {
    let (cell, degree) = (space.cell(), space.degree());
    match cell.is_tensor_product() {
        true if degree.is_uniform() => Points::Grid(nodes::gll(degree.horizontal)),
        _ => Points::List(nodes::positions(cell, degree)),
    }
}

impl Space {
    /// The positions of all L-vector nodes, `[nodes][3]`, with the geometry of the space; zero for nodes
    /// that belong only to other shapes.
    pub fn node_positions(&self, geometry: &Geometry) -> Vec<[f64; 3]> {
        let mut positions = vec![[0.0; 3]; self.nodes()];
        self.write_node_positions(geometry, &mut positions);
        positions
    }

    /// Overwrites the `positions` of the nodes that elements touch, `[nodes][3]`.
    fn write_node_positions(&self, geometry: &Geometry, positions: &mut [[f64; 3]]) {
        let restriction = &self.restriction;
        let nodes = reference_nodes(self);
        let mut interface = vec![[0.0; 3]; restriction.interface.len()];
        let (mut parts, shared) = restriction.split_mut(positions, &mut interface);
        parallel::each(&mut parts, |number, (private, list)| {
            let mut element_positions = Vec::new();
            for element in restriction.chunks[number].elements.clone() {
                let cell = self.cells()[element] as usize;
                geometry.positions(cell, &nodes, &mut element_positions);
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
            if let Some(&source) = restriction.sources(index).first() {
                *x = interface[source as usize];
            }
        }
    }
}

impl Block {
    /// The positions of all L-vector nodes, `[nodes][3]`, of all blocks of a mesh.
    pub fn node_positions(blocks: &[Self]) -> Vec<[f64; 3]> {
        let nodes = blocks.first().map_or(0, |block| block.space.nodes());
        let mut positions = vec![[0.0; 3]; nodes];
        for block in blocks {
            let space = &block.space;
            space.write_node_positions(&block.geometry, &mut positions);
        }
        positions
    }
}
