//! Making the geometry of a mesh: collect the cells, classify, lift the curved ones.

use super::simplex::Simplices;
use super::tensor::TensorMaps;
use super::{Geometry, GeometryError, Maps};
use crate::mesh::{CellBlock, Mesh};
use femto_element::{Cell, CellType};
use rayon::prelude::*;
use std::sync::Arc;

impl Geometry {
    /// The maps of all hexahedra of a mesh; in a mesh without any, of all tetrahedra; in a mesh
    /// without solid cells, of all quadrilaterals, or else of all triangles.
    ///
    /// # Errors
    /// A mesh without such cells, cells of an order that is not supported, cells with nodes that
    /// the mesh does not have, triangles or quadrilaterals outside the plane z = 0. Whether the maps can be
    /// inverted is for [`Geometry::check`] to say.
    pub fn new(mesh: &Mesh) -> Result<Self, GeometryError> {
        let (cell, blocks) = cells(mesh)?;
        let cells: usize = blocks.iter().map(|block| block.len()).sum();
        let order = blocks.iter().map(|block| block.cell_type.order()).max();
        let (coordinates, mut kinds) = (&mesh.coordinates[..], Vec::with_capacity(cells));
        let check = |block: &CellBlock, first: usize| {
            check_nodes(block, coordinates, first)?;
            check_plane(block, coordinates, first)
        };
        let maps = if cell.is_tensor_product() {
            let mut maps = TensorMaps::new(cell, cells);
            for block in blocks {
                check(block, kinds.len())?;
                maps.append(block, coordinates, &mut kinds);
            }
            Maps::Tensor(Arc::new(maps))
        } else {
            let mut maps = Simplices::new(cell.dim(), order.unwrap_or(1));
            for block in blocks {
                check(block, kinds.len())?;
                maps.append(block, coordinates, &mut kinds);
            }
            Maps::Simplex(Arc::new(maps))
        };
        Ok(Self {
            cell,
            kinds: kinds.into(),
            coordinates: coordinates.into(),
            maps,
        })
    }
}

/// Whether the mesh has the nodes of a block, whose cells are numbered from `first` on.
fn check_nodes(
    block: &CellBlock,
    coordinates: &[[f64; 3]],
    first: usize,
) -> Result<(), GeometryError> {
    match first_missing(&block.nodes, coordinates.len()) {
        None => Ok(()),
        Some(at) => Err(GeometryError::MissingNode {
            cell: first + at / block.cell_type.nodes(),
            node: block.nodes[at],
            nodes: coordinates.len(),
        }),
    }
}

/// Whether a block lies in the plane z = 0, if its cells have to.
fn check_plane(
    block: &CellBlock,
    coordinates: &[[f64; 3]],
    first: usize,
) -> Result<(), GeometryError> {
    if block.cell_type.dimension() == 3 {
        return Ok(());
    }
    let cells = block.nodes.par_chunks_exact(block.cell_type.nodes());
    let of_cell = |(cell, nodes)| {
        let position = off_plane(coordinates, nodes)?;
        let cell = first + cell;
        Some(GeometryError::OffPlane { cell, position })
    };
    match cells.with_min_len(4096).enumerate().find_map_first(of_cell) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// Where the first node is that does not exist.
fn first_missing(nodes: &[u32], count: usize) -> Option<usize> {
    nodes
        .par_iter()
        .with_min_len(65536)
        .position_first(|&node| node as usize >= count)
}

/// The shape of the cells that carry unknowns, and their blocks in mesh order.
fn cells(mesh: &Mesh) -> Result<(Cell, Vec<&CellBlock>), GeometryError> {
    let has = |wanted: &dyn Fn(CellType) -> bool| {
        let mut blocks = mesh.blocks.iter().filter(|block| !block.is_empty());
        blocks.any(|block| wanted(block.cell_type))
    };
    let solid = has(&|cell_type| cell_type.dimension() == 3);
    let found = SUPPORTED.into_iter().find(|&(cell, _)| {
        has(&|cell_type| cell_type.cell() == cell) && (cell.dim() == 3 || !solid)
    });
    let Some((cell, most)) = found else {
        let list = |block: &CellBlock| format!("{} {}", block.len(), block.cell_type.name());
        let found = mesh.blocks.iter().map(list).collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() {
            "no cells".into()
        } else {
            found
        };
        return Err(GeometryError::NoSupportedCells { found });
    };
    let is_wanted = |block: &&CellBlock| block.cell_type.cell() == cell && !block.is_empty();
    let blocks: Vec<_> = mesh.blocks.iter().filter(is_wanted).collect();
    // The triangle of order 3 with 9 nodes has no full polynomial.
    let is_bad = |cell_type: CellType| {
        let needs_all = !cell_type.cell().is_tensor_product();
        cell_type.order() > most || (needs_all && !cell_type.is_complete())
    };
    if let Some(block) = blocks.iter().find(|block| is_bad(block.cell_type)) {
        return Err(GeometryError::UnsupportedOrder {
            found: block.cell_type.name(),
            count: block.len(),
        });
    }
    Ok((cell, blocks))
}

/// The cells that carry unknowns and the highest order of their maps; the first that a mesh has is taken.
const SUPPORTED: [(Cell, usize); 4] = [
    (Cell::Hexahedron, 2),
    (Cell::Tetrahedron, 3),
    (Cell::Quadrilateral, 2),
    (Cell::Triangle, 3),
];

/// A node of a cell that is off the plane z = 0 by more than 1e-12 of the cell's extent.
fn off_plane(coordinates: &[[f64; 3]], cell: &[u32]) -> Option<[f64; 3]> {
    let positions = || cell.iter().map(|&node| coordinates[node as usize]);
    if positions().all(|[_, _, z]| z == 0.0) {
        return None;
    }
    let [x0, y0, _] = coordinates[cell[0] as usize];
    let distance = |[x, y, _]: [f64; 3]| (x - x0).abs().max((y - y0).abs());
    let extent = positions().map(distance).fold(0.0, f64::max);
    positions().find(|[_, _, z]| z.is_nan() || z.abs() > 1e-12 * extent)
}
