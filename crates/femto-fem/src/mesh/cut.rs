//! Meshes of several shapes, made from others.

use super::{CellBlock, Mesh};
use femto_element::CellType;

/// Where each of the two triangles has the nodes of a quadrilateral, vertices, then edges, in Gmsh's order.
const TRIANGLES: [[usize; 6]; 2] = [[0, 1, 2, 4, 5, 8], [0, 2, 3, 8, 6, 7]];

impl Mesh {
    /// The mesh with some of its quad4 or quad9 cells cut into two triangles of the same order, those that `is_cut`
    /// says by number in their block. Groups stay.
    pub fn cut_quadrilaterals(&self, is_cut: impl Fn(usize) -> bool) -> Self {
        let mut mesh = Self {
            blocks: Vec::new(),
            ..self.clone()
        };
        for block in &self.blocks {
            let (cell_type, corners) = match block.cell_type {
                CellType::QUAD4 => (CellType::TRI3, 3),
                CellType::QUAD9 => (CellType::TRI6, 6),
                _ => {
                    mesh.blocks.push(block.clone());
                    continue;
                }
            };
            let empty = |cell_type| CellBlock {
                cell_type,
                nodes: Vec::new(),
                tags: Vec::new(),
            };
            let (mut whole, mut triangles) = (empty(block.cell_type), empty(cell_type));
            for (number, &tag) in block.tags.iter().enumerate() {
                let nodes = block.cell(number);
                if !is_cut(number) {
                    whole.nodes.extend_from_slice(nodes);
                    whole.tags.push(tag);
                    continue;
                }
                for places in TRIANGLES {
                    triangles
                        .nodes
                        .extend(places[..corners].iter().map(|&place| nodes[place]));
                    triangles.tags.push(tag);
                }
            }
            let both = [whole, triangles].into_iter();
            mesh.blocks.extend(both.filter(|block| !block.is_empty()));
        }
        mesh
    }
}
