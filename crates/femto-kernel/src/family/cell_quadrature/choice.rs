//! Schedules of cell_quadrature for a block, best first: the fastest or nearly on an H200 for P1 Poisson and elasticity
//! (`benches/runs/2026-11-22-nvidia-h200/simplices-ahead.csv`).

use super::schedule::{BlockLocal, CellPerThread, Schedule};
use super::{Shape, Storage};
use crate::scalar::Precision;

/// Node numbers of the cells that are evaluated through lists per block: those of degree 1.
const BLOCK_LOCAL_DEGREES: [usize; 2] = [3, 4];

const BLOCK_LOCAL_THREADS: u32 = 128;

/// Fans per block and maximum cells per fan for schedules with lists: best first, then those that need less
/// shared memory.
pub(super) fn fans(shape: &Shape, precision: Precision) -> Vec<(u32, u32)> {
    if !BLOCK_LOCAL_DEGREES.contains(&shape.nodes) {
        return Vec::new();
    }
    if shape.vertex_order_invariant && shape.storage == Storage::Vertices {
        let cells: &[u32] = match (shape.dim, precision) {
            (2, Precision::Fp64) if shape.components == 1 => &[4],
            (2, _) => &[8, 4],
            _ => &[6, 4],
        };
        let with = |&cells: &u32| (BLOCK_LOCAL_THREADS, cells);
        return cells.iter().map(with).collect();
    }
    vec![match precision {
        Precision::Fp64 => (2 * BLOCK_LOCAL_THREADS, 1),
        Precision::Fp32 => (4 * BLOCK_LOCAL_THREADS, 1),
    }]
}

/// The schedule for blocks of such fans, the largest of which has `most_nodes` nodes.
pub(super) fn block_local(
    shape: &Shape,
    precision: Precision,
    (fans_per_block, fan_cells): (u32, u32),
    most_nodes: usize,
) -> Schedule {
    Schedule::BlockLocal(BlockLocal {
        threads: BLOCK_LOCAL_THREADS,
        fans_per_block,
        fan_cells,
        // Rounded, so that similar meshes share a text.
        block_nodes: most_nodes.next_multiple_of(32) as u32,
        blocks_ahead: BlockLocal::AHEAD,
        blocks_per_unit: blocks_per_unit(shape, precision),
    })
}

/// Target number of resident blocks with lists per compute unit: for simple forms, fewer registers than
/// compilers like to use were faster.
fn blocks_per_unit(shape: &Shape, precision: Precision) -> u32 {
    let simple = shape.form_flops <= 40 && shape.vertex_order_invariant;
    match precision {
        Precision::Fp32 if simple => 8,
        Precision::Fp64 if simple && shape.components == 1 => 6,
        _ => 1,
    }
}

/// The schedule that every device can run.
pub(super) fn plainest() -> Schedule {
    Schedule::CellPerThread(CellPerThread {
        threads: 32,
        staged: false,
        padded: false,
        blocks_per_unit: 1,
    })
}
