//! Making the geometry of a mesh: collect the cells, classify, lift the curved ones.

use super::simplex::Simplices;
use super::{Geometry, GeometryError, GeometryKind, polynomial};
use crate::mesh::{CellBlock, CellFamily, CellType, Mesh};
use crate::reference::CellShape;
use crate::reference::cell::HEX8_TO_LEXICOGRAPHIC;
use polynomial::Tensor;
use rayon::prelude::*;

impl Geometry {
    /// The maps of all hexahedra of a mesh; in a mesh without any, of all tetrahedra; in a mesh
    /// without solid cells, of all triangles.
    ///
    /// # Errors
    /// A mesh without such cells, cells of an order that is not supported, cells with nodes that
    /// the mesh does not have, triangles outside the plane z = 0. Whether the maps can be inverted
    /// is for [`Geometry::check`] to say.
    pub fn new(mesh: &Mesh) -> Result<Self, GeometryError> {
        let (shape, blocks) = cells(mesh)?;
        let cells: usize = blocks.iter().map(|block| block.len()).sum();
        let order = blocks.iter().map(|block| block.cell_type.order()).max();
        let hexahedra = if shape.is_simplex() { 0 } else { cells };
        let mut geometry = Self {
            shape,
            kinds: Vec::with_capacity(cells),
            coordinates: mesh.coordinates.clone(),
            vertices: Vec::with_capacity(hexahedra),
            curved_index: Vec::with_capacity(hexahedra),
            curved: Vec::new(),
            simplices: Simplices::new(shape.dim(), order.unwrap_or(1)),
        };
        for block in blocks {
            geometry.check_nodes(block)?;
            match shape {
                CellShape::Hexahedron => geometry.append(block),
                CellShape::Triangle | CellShape::Tetrahedron => {
                    let coordinates = &geometry.coordinates;
                    geometry
                        .simplices
                        .append(block, coordinates, &mut geometry.kinds)?;
                }
            }
        }
        Ok(geometry)
    }

    /// Whether the mesh has the nodes of the next block.
    fn check_nodes(&self, block: &CellBlock) -> Result<(), GeometryError> {
        match first_missing(&block.nodes, self.coordinates.len()) {
            None => Ok(()),
            Some(at) => Err(GeometryError::MissingNode {
                cell: self.len() + at / block.cell_type.nodes(),
                node: block.nodes[at],
                nodes: self.coordinates.len(),
            }),
        }
    }

    /// Appends a block of hexahedra.
    fn append(&mut self, block: &CellBlock) {
        let per_cell = block.cell_type.nodes();
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

/// The shape of the cells that carry unknowns, and their blocks in mesh order.
fn cells(mesh: &Mesh) -> Result<(CellShape, Vec<&CellBlock>), GeometryError> {
    let has = |wanted: &dyn Fn(CellType) -> bool| {
        let mut blocks = mesh.blocks.iter().filter(|block| !block.is_empty());
        blocks.any(|block| wanted(block.cell_type))
    };
    let families = [
        (CellFamily::Hexahedron, CellShape::Hexahedron, 2),
        (CellFamily::Tetrahedron, CellShape::Tetrahedron, 3),
        (CellFamily::Triangle, CellShape::Triangle, 3),
    ];
    let solid = has(&|cell_type| cell_type.dimension() == 3);
    let found = families.into_iter().find(|&(family, shape, _)| {
        has(&|cell_type| cell_type.family() == family) && (shape.dim() == 3 || !solid)
    });
    let Some((family, shape, most)) = found else {
        let list = |block: &CellBlock| format!("{} {}", block.len(), block.cell_type.name());
        let found = mesh.blocks.iter().map(list).collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() {
            "no cells".into()
        } else {
            found
        };
        return Err(GeometryError::NoSupportedCells { found });
    };
    let is_wanted = |block: &&CellBlock| block.cell_type.family() == family && !block.is_empty();
    let blocks: Vec<_> = mesh.blocks.iter().filter(is_wanted).collect();
    // The triangle of order 3 with 9 nodes has no full polynomial.
    let is_bad = |cell_type: CellType| cell_type.order() > most || cell_type.nodes() == 9;
    if let Some(block) = blocks.iter().find(|block| is_bad(block.cell_type)) {
        return Err(GeometryError::UnsupportedOrder {
            found: block.cell_type.name(),
            count: block.len(),
        });
    }
    Ok((shape, blocks))
}
