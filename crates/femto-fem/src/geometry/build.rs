//! Making the geometry of a mesh: collect the hexahedra, classify, lift the curved ones.

use super::{Geometry, GeometryError, GeometryKind, polynomial};
use crate::mesh::{CellBlock, CellFamily, CellType, Mesh};
use crate::reference::cell::HEX8_TO_LEXICOGRAPHIC;
use polynomial::Tensor;
use rayon::prelude::*;

impl Geometry {
    /// The maps of all hexahedra of a mesh.
    ///
    /// # Errors
    /// A mesh without hexahedra, hexahedra of an order other than 1 and 2, cells with nodes that
    /// the mesh does not have. Whether the maps can be inverted is for [`Geometry::check`] to say.
    pub fn new(mesh: &Mesh) -> Result<Self, GeometryError> {
        let blocks = hexahedra(mesh)?;
        let cells: usize = blocks.iter().map(|block| block.len()).sum();
        let mut geometry = Self {
            kinds: Vec::with_capacity(cells),
            coordinates: mesh.coordinates.clone(),
            vertices: Vec::with_capacity(cells),
            curved_index: Vec::with_capacity(cells),
            curved: Vec::new(),
        };
        for block in blocks {
            geometry.append(block)?;
        }
        Ok(geometry)
    }

    fn append(&mut self, block: &CellBlock) -> Result<(), GeometryError> {
        let per_cell = block.cell_type.nodes();
        if let Some(at) = first_missing(&block.nodes, self.coordinates.len()) {
            return Err(GeometryError::MissingNode {
                cell: self.len() + at / per_cell,
                node: block.nodes[at],
                nodes: self.coordinates.len(),
            });
        }
        let coordinates = &self.coordinates;
        let cells = || block.nodes.par_chunks_exact(per_cell).with_min_len(1024);
        let lexicographic = |cell: &[u32]| HEX8_TO_LEXICOGRAPHIC.map(|m| cell[m]);
        let first = self.kinds.len();
        self.vertices.par_extend(cells().map(lexicographic));
        if block.cell_type == CellType::HEX8 {
            self.kinds.par_extend(cells().map(|cell| {
                polynomial::kind(&polynomial::vertex_monomials(
                    coordinates,
                    &lexicographic(cell),
                ))
            }));
        } else {
            self.kinds
                .par_extend(cells().map(|cell| polynomial::kind(&quadratic(coordinates, cell))));
        }
        let kinds = &self.kinds[first..];
        let curved = || kinds.iter().map(|&kind| kind == GeometryKind::Curved);
        let mut next = self.curved.len() as u32;
        self.curved_index.extend(curved().map(|is_curved| {
            let index = next;
            next += u32::from(is_curved);
            index
        }));
        self.curved.par_extend(
            cells()
                .zip(kinds)
                .filter(|&(_, &kind)| kind == GeometryKind::Curved)
                .map(|(cell, _)| quadratic(coordinates, cell)),
        );
        Ok(())
    }
}

/// Monomial coefficients of a hex20 or hex27.
fn quadratic(coordinates: &[[f64; 3]], cell: &[u32]) -> Tensor<3> {
    let mut nodes = [[0.0; 3]; 27];
    for (position, &node) in nodes.iter_mut().zip(cell) {
        *position = coordinates[node as usize];
    }
    polynomial::monomials(polynomial::quadratic_nodes(&nodes[..cell.len()]))
}

/// Where the first node is that does not exist.
fn first_missing(nodes: &[u32], count: usize) -> Option<usize> {
    nodes
        .par_iter()
        .with_min_len(65536)
        .position_first(|&node| node as usize >= count)
}

/// The blocks of hexahedra in mesh order.
fn hexahedra(mesh: &Mesh) -> Result<Vec<&CellBlock>, GeometryError> {
    let is_hexahedron = |block: &&CellBlock| {
        block.cell_type.family() == CellFamily::Hexahedron && !block.is_empty()
    };
    let blocks: Vec<_> = mesh.blocks.iter().filter(is_hexahedron).collect();
    if let Some(block) = blocks.iter().find(|block| block.cell_type.order() > 2) {
        return Err(GeometryError::UnsupportedOrder {
            found: block.cell_type.name(),
            count: block.len(),
        });
    }
    if blocks.is_empty() {
        let list = |block: &CellBlock| format!("{} {}", block.len(), block.cell_type.name());
        let found = mesh.blocks.iter().map(list).collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() {
            "no cells".into()
        } else {
            found
        };
        return Err(GeometryError::NoHexahedra { found });
    }
    Ok(blocks)
}
