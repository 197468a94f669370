//! Schedules of the six kernels: work per thread, knobs and rules.
//!
//! | schedule | text | work of a thread |
//! |---|---|---|
//! | [`Transposition`] | `thread_transposition.c` | a point, then a basis coefficient, for some cells |
//! | [`CellPerThread`] | `cell_per_thread.c` | a cell |
//! | [`PointAtATime`] | `point_at_a_time.c` | a basis function of a cell, at one point after the other |
//! | [`BlockLocal`] | `block_local.c` | a cell or a fan of cells, then a node of the block |
//! | [`MatrixUnits`] | `matrix_units.c` | a warp has eight points of its block's cells, then some of their nodes |
//! | the same, of classes | `matrix_units_of_classes.c` | a warp has a class of symmetry, a thread four points |
//!
//! The first is Knepley et al.'s; the second and third are those they compare with; the others are femto's
//! own, the fourth for L-vectors.

mod matrix_units;
mod transposition;

pub use matrix_units::MatrixUnits;
pub use transposition::{Quantities, Transposition};

use super::classes::CLASSES;
use super::source::Interleave;
use super::{FieldKind, Shape, Storage};
use crate::dialect::BlockShape;
use crate::family::{Limits, ScheduleError, Vectors};
use crate::scalar::Precision;
use core::fmt;

/// A schedule of one of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Knepley et al.'s.
    Transposition(Transposition),
    /// A cell per thread.
    CellPerThread(CellPerThread),
    /// A quadrature point at a time.
    PointAtATime(PointAtATime),
    /// L-vectors through lists of nodes per block.
    BlockLocal(BlockLocal),
    /// Values at points, and sums at nodes, by matrix units.
    MatrixUnits(MatrixUnits),
}

/// Knobs of `cell_per_thread.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellPerThread {
    /// Threads of a block, and so cells.
    pub threads: u32,
    /// Whether rows of numbers of neighbouring cells pass through shared memory.
    pub staged: bool,
    /// Whether these rows are padded to an odd length.
    pub padded: bool,
    /// Target number of resident blocks per compute unit, by which the compiler limits registers.
    pub blocks_per_unit: u32,
}

/// Knobs of `point_at_a_time.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PointAtATime {
    /// Cells of a block, each with a thread per node.
    pub cells_per_block: u32,
    /// Target number of resident blocks per compute unit.
    pub blocks_per_unit: u32,
}

/// Knobs of `block_local.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLocal {
    /// Threads of a block.
    pub threads: u32,
    /// Fans of a block, a multiple of its threads.
    pub fans_per_block: u32,
    /// Maximum number of cells of a fan (see [`Fans`](super::fans::Fans)); with 1, fans are single cells.
    pub fan_cells: u32,
    /// Places for a block's nodes in shared memory: at least as many as the largest block needs.
    pub block_nodes: u32,
    /// A block prefetches the lists of the block this many further on into the L2 cache; 0 disables it.
    pub blocks_ahead: u32,
    /// Target number of resident blocks per compute unit.
    pub blocks_per_unit: u32,
}

impl BlockLocal {
    /// A prefetch distance for large GPUs, which run 500 to 1000 blocks at a time: 400 to 800 were equally
    /// fast on an H200, 1600 slower (`benches/runs/2026-11-22-nvidia-h200/block-local-ahead.csv`).
    pub const AHEAD: u32 = 512;

    /// Places in the fans of a block.
    pub fn slots(&self, shape: &Shape) -> usize {
        (shape.nodes + self.fan_cells as usize - 1) * self.fans_per_block as usize
    }

    /// Bytes of a block's lists in shared memory.
    fn list_bytes(&self, shape: &Shape) -> u32 {
        2 * (2 * self.slots(shape) + self.block_nodes as usize) as u32
    }
}

impl Schedule {
    /// A schedule likely to suit cells of this shape; not measured.
    pub fn usual(shape: &Shape) -> Self {
        // A thread keeps a cell's unknowns in registers.
        let few = shape.unknowns() <= 32;
        Self::CellPerThread(CellPerThread {
            threads: if few { 128 } else { 64 },
            staged: false,
            padded: false,
            blocks_per_unit: 1,
        })
    }

    /// Checks whether a device can run it.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn validate(
        &self,
        shape: &Shape,
        (vectors, interleave): (Vectors, Interleave),
        precision: Precision,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        let broken = self.broken_rule(shape, vectors, interleave);
        if let Some(rule) = broken {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule,
            });
        }
        if matches!(self, Self::MatrixUnits(_)) && !limits.matrix_units {
            return Err(ScheduleError::MatrixUnits);
        }
        let is_given_tables = matches!(self, Self::CellPerThread(_) | Self::MatrixUnits(_));
        if !is_given_tables && !shape.has_constant_tables(precision) {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "values of the basis at all points fit constant memory: on this cell, lower degrees do",
            });
        }
        let block = self.block(shape);
        limits.check(&block, precision)?;
        let lists = match self {
            Self::BlockLocal(it) => it.list_bytes(shape),
            _ => 0,
        };
        let (asked, most) = (block.shared_bytes(precision) + lists, limits.shared_bytes);
        match asked > most {
            true => Err(ScheduleError::SharedMemory { asked, most }),
            false => Ok(()),
        }
    }

    fn broken_rule(
        &self,
        shape: &Shape,
        vectors: Vectors,
        interleave: Interleave,
    ) -> Option<&'static str> {
        let apart = interleave.data == 1 && interleave.vectors == 1;
        let nodal = vectors.scatter().is_some();
        if interleave.data == 0 || interleave.vectors == 0 {
            return Some("at least one cell is together");
        }
        match self {
            Self::Transposition(it) => {
                if it.blocks_per_batch == 0 || it.batches_per_chunk == 0 {
                    return Some("a chunk has batches, and a batch blocks");
                }
                (!apart).then_some("rows of cells are loaded as they are, not interleaved")
            }
            Self::CellPerThread(it) => {
                if it.threads == 0 {
                    return Some("a block has threads");
                }
                let rows = it.staged && !apart;
                rows.then_some("rows of cells are staged as they are, not interleaved")
            }
            Self::PointAtATime(it) => (it.cells_per_block == 0).then_some("a block has cells"),
            Self::BlockLocal(it) => {
                if it.threads == 0 || !it.fans_per_block.is_multiple_of(it.threads) {
                    Some("fans of a block are a multiple of its threads")
                } else if it.fans_per_block == 0 || it.fan_cells == 0 || it.block_nodes == 0 {
                    Some("a block has fans, of cells, and nodes")
                } else if it.slots(shape) >= 1 << 16 || !it.slots(shape).is_multiple_of(8) {
                    Some("slots of a block have 16-bit numbers, read by eights")
                } else if it.fan_cells > 1 && shape.storage != Storage::Vertices {
                    Some("cells of a fan have their geometry from vertices")
                } else if it.fan_cells > 1 && !shape.vertex_order_invariant {
                    Some("cells of a fan are turned, which the rule or the form allows not")
                } else if !nodal {
                    Some("nodes of a block are those of an L-vector")
                } else if shape.storage == Storage::Vertices && !shape.degree_one {
                    Some("the nodes of a block are its vertices, or the geometry is stored")
                } else {
                    None
                }
            }
            Self::MatrixUnits(it) => {
                if it.warps == 0 {
                    return Some("a block has warps");
                }
                if it.of_classes && (shape.classes.is_none() || it.warps as usize != CLASSES) {
                    return Some("four warps have a class each, of a symmetric tetrahedron");
                }
                (!apart).then_some("cells of a block are read as they are, not interleaved")
            }
        }
    }

    /// The block of threads and its shared memory.
    pub fn block(&self, shape: &Shape) -> BlockShape {
        let tables = shape.table_numbers();
        let (threads, blocks_per_unit, shared_reals) = match self {
            Self::Transposition(it) => {
                let n = it.quantities(shape);
                (n.n_t, it.blocks_per_unit, it.shared_reals(shape))
            }
            Self::CellPerThread(it) => {
                let reals = if it.staged {
                    it.threads as usize * staged_row(shape, it.padded)
                } else {
                    0
                };
                (it.threads as usize, it.blocks_per_unit, reals)
            }
            Self::PointAtATime(it) => {
                let threads = it.cells_per_block as usize * shape.nodes;
                (threads, it.blocks_per_unit, tables)
            }
            Self::BlockLocal(it) => {
                let axes = match shape.storage {
                    Storage::Vertices => shape.dim,
                    _ => 0,
                };
                let nodal = shape.fields_of(FieldKind::Nodal);
                let reals = (axes + shape.components + nodal) * it.block_nodes as usize
                    + shape.components * it.slots(shape);
                (it.threads as usize, it.blocks_per_unit, reals)
            }
            Self::MatrixUnits(it) => {
                return BlockShape {
                    threads: [32, it.warps, 1],
                    blocks_per_unit: it.blocks_per_unit,
                    shared_reals: it.shared_reals(shape) as u32,
                };
            }
        };
        BlockShape {
            threads: [threads as u32, 1, 1],
            blocks_per_unit,
            shared_reals: shared_reals as u32,
        }
    }

    /// Cells of a block of threads, Knepley et al.'s N_chunk; for fans, places for cells.
    pub fn cells_per_block(&self, shape: &Shape) -> usize {
        match self {
            Self::Transposition(it) => it.quantities(shape).n_chunk,
            Self::CellPerThread(it) => it.threads as usize,
            Self::PointAtATime(it) => it.cells_per_block as usize,
            Self::BlockLocal(it) => (it.fans_per_block * it.fan_cells) as usize,
            Self::MatrixUnits(_) => MatrixUnits::CELLS,
        }
    }

    /// Blocks for a number of cells; the last one guards its end.
    pub fn blocks(&self, shape: &Shape, cells: usize) -> u32 {
        cells.div_ceil(self.cells_per_block(shape)) as u32
    }

    /// Number of cells in full blocks; the remainder is Knepley et al.'s N_R, which the host can evaluate.
    pub fn cells_of_full_blocks(&self, shape: &Shape, cells: usize) -> usize {
        cells - cells % self.cells_per_block(shape)
    }

    /// The name of its text and of its kernel in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Transposition(_) => "thread_transposition",
            Self::CellPerThread(_) => "cell_per_thread",
            Self::PointAtATime(_) => "point_at_a_time",
            Self::BlockLocal(_) => "block_local",
            Self::MatrixUnits(it) if it.of_classes => "matrix_units_of_classes",
            Self::MatrixUnits(_) => "matrix_units",
        }
    }
}

/// Stride of rows in shared memory.
pub(super) fn row(numbers: usize, padded: bool) -> usize {
    if padded { numbers | 1 } else { numbers }
}

/// Length of a cell's row in shared memory: map, unknowns, nodal fields.
fn staged_row(shape: &Shape, padded: bool) -> usize {
    let map = if shape.map_is_constant() {
        shape.map_numbers()
    } else {
        0
    };
    let nodal = shape.fields_of(FieldKind::Nodal) * shape.nodes;
    let rows = [map, shape.unknowns(), nodal];
    rows.iter()
        .filter(|&&numbers| numbers > 0)
        .map(|&numbers| row(numbers, padded))
        .sum()
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |set: bool, word: &'static str| if set { word } else { "" };
        let blocks = match self {
            Self::Transposition(it) => {
                write!(
                    f,
                    "thread transposition, {} blocks a batch, {} batches a chunk{}{}{}",
                    it.blocks_per_batch,
                    it.batches_per_chunk,
                    word(it.by_component, ", a thread per component"),
                    word(it.padded, ", padded"),
                    word(it.prefetch, ", next batch fetched ahead"),
                )?;
                it.blocks_per_unit
            }
            Self::CellPerThread(it) => {
                write!(
                    f,
                    "a cell per thread, {} threads{}{}",
                    it.threads,
                    word(it.staged, ", staged"),
                    word(it.padded, ", padded"),
                )?;
                it.blocks_per_unit
            }
            Self::PointAtATime(it) => {
                write!(f, "a point at a time, {} cells a block", it.cells_per_block)?;
                it.blocks_per_unit
            }
            Self::BlockLocal(it) => {
                write!(
                    f,
                    "block-local nodes, {} {} and {} nodes a block, {} threads, listed sums",
                    it.fans_per_block,
                    match it.fan_cells {
                        1 => "cells".to_owned(),
                        most => format!("fans of {most}"),
                    },
                    it.block_nodes,
                    it.threads,
                )?;
                it.blocks_per_unit
            }
            Self::MatrixUnits(it) => {
                write!(
                    f,
                    "matrix units, {} cells and {} warps a block{}",
                    MatrixUnits::CELLS,
                    it.warps,
                    word(it.of_classes, ", each a class"),
                )?;
                it.blocks_per_unit
            }
        };
        write!(f, ", {blocks} blocks a unit")
    }
}

#[cfg(test)]
mod tests;
