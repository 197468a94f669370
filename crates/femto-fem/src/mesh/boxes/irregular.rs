//! Irregular meshes: displaced vertices, shuffled cells.

use super::grid::Grid;
use super::simplices::barycentric_steps;
use crate::mesh::{CellBlock, Mesh};

/// The rotations of a triangle's and a tetrahedron's vertices: all even permutations.
const TRIANGLE_ROTATIONS: [[usize; 4]; 3] = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3]];
#[rustfmt::skip]
const TETRAHEDRON_ROTATIONS: [[usize; 4]; 12] = [
    [0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [0, 3, 1, 2], [3, 1, 0, 2], [1, 0, 3, 2],
    [0, 2, 3, 1], [2, 3, 0, 1], [3, 0, 2, 1], [1, 3, 2, 0], [3, 2, 1, 0], [2, 1, 3, 0],
];

/// A hash of two numbers with all bits mixed: the output of SplitMix64 (G. L. Steele, D. Lea and C. H.
/// Flood, OOPSLA 2014) at this position in its sequence.
pub(super) fn hash(seed: u64, index: u64) -> u64 {
    let z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Displaces the inner vertices by at most a quarter of the spacing: since the vertices of a cut rectangle
/// or box are 1/√2 spacings from the opposite sides of its simplices, and those move by no more, all keep
/// their orientation. Other nodes are put back on straight sides.
pub(super) fn displace(mesh: &mut Mesh, grid: &Grid, seed: u64) {
    let nodes = grid.nodes();
    let spacing = [0, 1, 2].map(|a| (grid.upper[a] - grid.lower[a]) / grid.cells[a] as f64);
    let most = 0.25 / (grid.dim as f64).sqrt();
    for (index, x) in mesh.coordinates.to_mut().iter_mut().enumerate() {
        let place = [
            index % nodes[0],
            index / nodes[0] % nodes[1],
            index / (nodes[0] * nodes[1]),
        ];
        let is_inner = |a: usize| place[a] > 0 && place[a] + 1 < nodes[a];
        let is_vertex = place.iter().all(|p| p % grid.order == 0);
        if is_vertex && (0..grid.dim).all(is_inner) {
            for a in 0..grid.dim {
                let bits = hash(seed, 3 * index as u64 + a as u64) >> 11;
                let uniform = bits as f64 / (1u64 << 52) as f64 - 1.0;
                x[a] += most * uniform * spacing[a];
            }
        }
    }
    if grid.order > 1 {
        straighten(mesh, grid);
    }
}

/// Moves all other nodes of the simplices to the positions given by their vertices.
fn straighten(mesh: &mut Mesh, grid: &Grid) {
    let Mesh {
        coordinates,
        blocks,
        ..
    } = mesh;
    let lattice = barycentric_steps(grid.dim, grid.order);
    let coordinates = coordinates.to_mut();
    for cell in blocks[0].cells() {
        let vertices = &cell[..=grid.dim];
        let corners: Vec<[f64; 3]> = vertices.iter().map(|&n| coordinates[n as usize]).collect();
        for (steps, &node) in lattice.iter().zip(&*cell).skip(corners.len()) {
            let along = |a: usize| {
                let parts = corners.iter().zip(steps).map(|(x, &s)| x[a] * s as f64);
                parts.sum::<f64>() / grid.order as f64
            };
            coordinates[node as usize] = [0, 1, 2].map(along);
        }
    }
}

/// Rotates the vertices of each cell, and puts the cells in random order.
pub(super) fn shuffle(block: &mut CellBlock, grid: &Grid, seed: u64) {
    let rotations: &[[usize; 4]] = match grid.dim {
        2 => &TRIANGLE_ROTATIONS,
        _ => &TETRAHEDRON_ROTATIONS,
    };
    let lattice = barycentric_steps(grid.dim, grid.order);
    // The original position of the node at each position of a rotated cell.
    let rotated = |rotation: &[usize; 4]| -> Vec<usize> {
        let source = |steps: &[usize; 4]| {
            let mut before = [0; 4];
            for (vertex, &place) in rotation.iter().enumerate() {
                before[place] = steps[vertex];
            }
            lattice
                .iter()
                .position(|other| *other == before)
                .unwrap_or(0)
        };
        lattice.iter().map(source).collect()
    };
    let tables: Vec<Vec<usize>> = rotations.iter().map(rotated).collect();
    let (cells, per_cell) = (block.len(), lattice.len());
    let mut before = vec![0; per_cell];
    let nodes = block.nodes.to_mut();
    for (index, cell) in nodes.chunks_exact_mut(per_cell).enumerate() {
        let choice = hash(!seed, index as u64) % tables.len() as u64;
        before.copy_from_slice(cell);
        for (node, &source) in cell.iter_mut().zip(&tables[choice as usize]) {
            *node = before[source];
        }
    }
    // Fisher–Yates; all cells have the same tag.
    for index in (1..cells).rev() {
        let other = hash(seed.rotate_left(32), index as u64) % (index as u64 + 1);
        swap(nodes, per_cell, index, other as usize);
    }
}

/// Exchanges two cells.
fn swap(nodes: &mut [u32], per_cell: usize, high: usize, low: usize) {
    if high != low {
        let (front, back) = nodes.split_at_mut(high * per_cell);
        front[low * per_cell..][..per_cell].swap_with_slice(&mut back[..per_cell]);
    }
}
