//! The elements of a space: which cells, in which order, cut into chunks.

use std::ops::Range;

use rayon::prelude::*;

use crate::geometry::GeometryKind;
use crate::mesh::ordering::hilbert_order;
use crate::mesh::{CellFamily, Mesh};
use crate::reference::cell::HEX8_TO_LEXICOGRAPHIC;

use super::SpaceError;

/// The elements in order.
pub(super) struct Elements {
    /// Mesh cell number of each element.
    pub(super) cells: Vec<u32>,
    /// Runs of consecutive elements, together all of them.
    pub(super) chunks: Vec<Range<usize>>,
}

impl Elements {
    /// Orders the hexahedra of the mesh along a Hilbert curve, cuts the curve into chunks, and
    /// sorts each chunk by the cells' `kinds`, `[cells]`. Also gives the mesh nodes at the
    /// lexicographic vertices of each element.
    pub(super) fn new(
        mesh: &Mesh,
        kinds: &[GeometryKind],
        elements_per_chunk: usize,
    ) -> Result<(Self, Vec<[u32; 8]>), SpaceError> {
        let hexahedra = hexahedra(mesh)?;
        if kinds.len() != hexahedra.len() {
            return Err(SpaceError::GeometryCells {
                geometry: kinds.len(),
                mesh: hexahedra.len(),
            });
        }
        let centroids: Vec<[f64; 3]> = hexahedra
            .par_iter()
            .map(|vertices| {
                let x = vertices.map(|node| mesh.coordinates[node as usize]);
                [0, 1, 2].map(|a| x.iter().map(|x| x[a]).sum::<f64>() / 8.0)
            })
            .collect();
        let mut cells = hilbert_order(&centroids);
        let chunks = cut(cells.len(), elements_per_chunk);
        for chunk in &chunks {
            cells[chunk.clone()].sort_by_key(|&cell| kinds[cell as usize]);
        }
        let vertices = cells
            .par_iter()
            .map(|&cell| hexahedra[cell as usize])
            .collect();
        Ok((Self { cells, chunks }, vertices))
    }
}

/// Mesh nodes at the lexicographic vertices of all hexahedra, in mesh cell order.
fn hexahedra(mesh: &Mesh) -> Result<Vec<[u32; 8]>, SpaceError> {
    let mut hexahedra: Vec<[u32; 8]> = Vec::new();
    for block in mesh.blocks.iter().filter(|b| b.cell_type.dimension() == 3) {
        if block.cell_type.family() != CellFamily::Hexahedron {
            return Err(SpaceError::UnsupportedCells {
                name: block.cell_type.name(),
                count: block.len(),
            });
        }
        let cells = block.nodes.par_chunks_exact(block.cell_type.nodes());
        hexahedra.par_extend(cells.map(|nodes| HEX8_TO_LEXICOGRAPHIC.map(|vertex| nodes[vertex])));
    }
    if hexahedra.is_empty() {
        return Err(SpaceError::NoCells);
    }
    // Numbers of vertices, edges and faces together must fit 32 bits.
    if hexahedra.len() > u32::MAX as usize / 26 {
        return Err(SpaceError::TooManyCells {
            cells: hexahedra.len(),
        });
    }
    match (0..)
        .zip(&hexahedra)
        .find_map(|(cell, v)| bad_vertex(cell, v, mesh))
    {
        Some(error) => Err(error),
        None => Ok(hexahedra),
    }
}

/// What is wrong with the vertices of a cell by themselves.
fn bad_vertex(cell: u32, vertices: &[u32; 8], mesh: &Mesh) -> Option<SpaceError> {
    let nodes = mesh.coordinates.len();
    if let Some(&node) = vertices.iter().find(|&&node| node as usize >= nodes) {
        return Some(SpaceError::MissingNode { cell, node, nodes });
    }
    let repeated = (1..8).find(|&m| vertices[..m].contains(&vertices[m]))?;
    let node = vertices[repeated];
    Some(SpaceError::RepeatedVertex { cell, node })
}

/// Cuts `elements` into runs of at most `elements_per_chunk` whose lengths differ by one at most.
fn cut(elements: usize, elements_per_chunk: usize) -> Vec<Range<usize>> {
    let chunks = elements.div_ceil(elements_per_chunk);
    let start = |chunk: usize| (chunk as u64 * elements as u64 / chunks as u64) as usize;
    (0..chunks).map(|c| start(c)..start(c + 1)).collect()
}
