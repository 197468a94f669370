//! Schedules of cell_quadrature for a block, best first: the fastest or nearly on an H200, at degree 1 for Poisson and
//! elasticity (`benches/runs/2026-11-22-nvidia-h200/simplices-ahead.csv`).

use super::schedule::{BlockLocal, CellPerThread, MatrixUnits, Schedule};
use super::{ClassSizes, Shape, Storage};
use crate::family::fragments::TILE;
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

/// Schedules for devices with matrix units, best first: those of classes where they were measured to be faster, on an H200
/// as all others (`benches/runs/2026-12-02-nvidia-h200/points`). None where cells have so few nodes that a cell per thread
/// was faster (`benches/runs/2026-12-01-nvidia-h200/points`).
pub(super) fn matrix_units(shape: &Shape, precision: Precision) -> Vec<Schedule> {
    let least = match precision {
        Precision::Fp64 => 20,
        Precision::Fp32 => 35,
    };
    if shape.nodes < least {
        return Vec::new();
    }
    let (nodes, points) = (shape.nodes.div_ceil(TILE), shape.points.div_ceil(TILE));
    // Products of all warps, whether they have tiles left to multiply or wait for others.
    let taken =
        |warps: usize| warps * (points.div_ceil(warps) * nodes + points * nodes.div_ceil(warps));
    // Those whose sums fit registers first, or lack fewest, then those that multiply less.
    let cost = |&warps: &usize| {
        let sums = shape.components * nodes.div_ceil(warps);
        (sums.saturating_sub(MOST_TILES_OF_SUMS), taken(warps))
    };
    let mut all = [4, 3, 2, 8];
    all.sort_by_key(cost);
    let least_of_classes = match precision {
        Precision::Fp64 => 56,
        Precision::Fp32 => 35,
    };
    let classes = shape.classes.filter(|_| shape.nodes >= least_of_classes);
    let with_classes =
        classes.map(|it| MatrixUnits::with_classes(blocks_of_classes(shape, &it, precision)));
    let others = all.map(|warps| MatrixUnits {
        warps: warps as u32,
        of_classes: false,
        blocks_per_unit: (8 / warps) as u32,
    });
    let all = with_classes.into_iter().chain(others);
    all.map(Schedule::MatrixUnits).collect()
}

/// The best target number of resident blocks of those that were tried for one component and for three
/// (`benches/runs/2026-12-02-nvidia-h200/points`).
fn blocks_of_classes(shape: &Shape, classes: &ClassSizes, precision: Precision) -> u32 {
    let functions = shape.functions();
    match (precision, functions, functions * classes.sum_tiles()[0]) {
        (Precision::Fp64, 1, ..=3) => 5,
        (Precision::Fp64, 1, _) => 4,
        (Precision::Fp64, _, ..=6) => 3,
        (Precision::Fp64, _, _) => 2,
        (Precision::Fp32, 1, _) => 6,
        (Precision::Fp32, _, _) => 3,
    }
}

/// Tiles of sums that a warp keeps in registers without spilling, with about eight warps on a multiprocessor.
const MOST_TILES_OF_SUMS: usize = 12;

/// The schedule that every device can run.
pub(super) fn plainest() -> Schedule {
    Schedule::CellPerThread(CellPerThread {
        threads: 32,
        staged: false,
        padded: false,
        blocks_per_unit: 1,
    })
}
