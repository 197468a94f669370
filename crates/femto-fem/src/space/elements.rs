//! The elements of a space: which cells, in which order, cut into chunks.

use std::ops::Range;

use rayon::prelude::*;

use crate::geometry::GeometryKind;
use crate::mesh::ordering::hilbert_order;
use crate::mesh::{CellFamily, Mesh};
use crate::reference::CellShape;

use super::SpaceError;

/// The elements in order.
pub(super) struct Elements {
    /// Mesh cell number of each element.
    pub(super) cells: Vec<u32>,
    /// Runs of consecutive elements, together all of them.
    pub(super) chunks: Vec<Range<usize>>,
}

impl Elements {
    /// Orders the cells of the mesh along a Hilbert curve, cuts the curve into chunks, and sorts
    /// each chunk by the cells' `kinds`, `[cells]`. Also gives the mesh nodes at the V vertices of
    /// each element; `places` is where Gmsh has the vertices of a cell of this `shape`.
    pub(super) fn new<const V: usize>(
        mesh: &Mesh,
        shape: CellShape,
        places: [usize; V],
        kinds: &[GeometryKind],
        elements_per_chunk: usize,
    ) -> Result<(Self, Vec<[u32; V]>), SpaceError> {
        let all = cells(mesh, shape, places)?;
        if kinds.len() != all.len() {
            return Err(SpaceError::GeometryCells {
                geometry: kinds.len(),
                mesh: all.len(),
            });
        }
        let centroids: Vec<[f64; 3]> = all
            .par_iter()
            .map(|vertices| {
                let x = vertices.map(|node| mesh.coordinates[node as usize]);
                [0, 1, 2].map(|a| x.iter().map(|x| x[a]).sum::<f64>() / V as f64)
            })
            .collect();
        let mut cells = hilbert_order(&centroids);
        let chunks = cut(cells.len(), elements_per_chunk);
        for chunk in &chunks {
            cells[chunk.clone()].sort_by_key(|&cell| kinds[cell as usize]);
        }
        let vertices = cells.par_iter().map(|&cell| all[cell as usize]).collect();
        Ok((Self { cells, chunks }, vertices))
    }
}

/// The family of the cells of a shape.
fn family(shape: CellShape) -> CellFamily {
    match shape {
        CellShape::Triangle => CellFamily::Triangle,
        CellShape::Tetrahedron => CellFamily::Tetrahedron,
        CellShape::Hexahedron => CellFamily::Hexahedron,
    }
}

/// Mesh nodes at the vertices of all cells, in mesh cell order. All cells of the dimension must be
/// of the shape.
fn cells<const V: usize>(
    mesh: &Mesh,
    shape: CellShape,
    places: [usize; V],
) -> Result<Vec<[u32; V]>, SpaceError> {
    let mut cells: Vec<[u32; V]> = Vec::new();
    let in_dimension = |dimension| dimension == shape.dim();
    for block in mesh
        .blocks
        .iter()
        .filter(|b| in_dimension(b.cell_type.dimension()))
    {
        if block.cell_type.family() != family(shape) {
            return Err(SpaceError::UnsupportedCells {
                name: block.cell_type.name(),
                count: block.len(),
            });
        }
        let nodes = block.nodes.par_chunks_exact(block.cell_type.nodes());
        cells.par_extend(nodes.map(|nodes| places.map(|vertex| nodes[vertex])));
    }
    if cells.is_empty() {
        return Err(SpaceError::NoCells);
    }
    // Numbers of vertices, edges and faces together must fit 32 bits.
    let entities = V + shape.edges().len() + shape.facets();
    let most = u32::MAX as usize / entities;
    if cells.len() > most {
        let cells = cells.len();
        return Err(SpaceError::TooManyCells { cells, most });
    }
    match (0..)
        .zip(&cells)
        .find_map(|(cell, v)| bad_vertex(cell, v, mesh))
    {
        Some(error) => Err(error),
        None => Ok(cells),
    }
}

/// What is wrong with the vertices of a cell by themselves.
fn bad_vertex<const V: usize>(cell: u32, vertices: &[u32; V], mesh: &Mesh) -> Option<SpaceError> {
    let nodes = mesh.coordinates.len();
    if let Some(&node) = vertices.iter().find(|&&node| node as usize >= nodes) {
        return Some(SpaceError::MissingNode { cell, node, nodes });
    }
    let repeated = (1..V).find(|&m| vertices[..m].contains(&vertices[m]))?;
    let node = vertices[repeated];
    Some(SpaceError::RepeatedVertex { cell, node })
}

/// Cuts `elements` into runs of at most `elements_per_chunk` whose lengths differ by one at most.
fn cut(elements: usize, elements_per_chunk: usize) -> Vec<Range<usize>> {
    let chunks = elements.div_ceil(elements_per_chunk);
    let start = |chunk: usize| (chunk as u64 * elements as u64 / chunks as u64) as usize;
    (0..chunks).map(|c| start(c)..start(c + 1)).collect()
}
