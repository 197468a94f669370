//! Knepley et al.'s quantities.

use super::staged_row;
use crate::family::cell_quadrature::Shape;

/// Knobs of `thread_transposition.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transposition {
    /// N_bl: cell blocks that are worked on at the same time.
    pub blocks_per_batch: u32,
    /// N_cb: batches that a block of threads takes one after the other.
    pub batches_per_chunk: u32,
    /// A thread per component, as in Knepley et al.: threads of one point evaluate the same form and keep a
    /// component each. Otherwise a thread keeps all components, and there are N_comp times fewer.
    pub by_component: bool,
    /// Rows in shared memory are an odd number of numbers apart.
    pub padded: bool,
    /// The next batch is asked for before this one is computed.
    pub prefetch: bool,
    /// Blocks that shall fit a compute unit at the same time.
    pub blocks_per_unit: u32,
}

/// Knepley et al.'s quantities (section 3), by its names.
///
/// Where N_b and N_q have a factor in common, a group of N_bs = LCM(N_b, N_q) threads is filled by fewer
/// cells than LCM: N_sqc cells for each of its N_bs / N_q groups of points, which is N_sqc · N_sbc cells.
/// Knepley et al.'s texts take LCM or N_b · N_q cells instead; where N_b and N_q are coprime all agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantities {
    /// Threads of a block of threads, N_bs · N_comp · N_bl.
    pub n_t: usize,
    /// Threads of a cell block for each component, LCM(N_b, N_q).
    pub n_bs: usize,
    /// Cell blocks at the same time.
    pub n_bl: usize,
    /// Cells of a batch.
    pub n_bc: usize,
    /// Batches of a chunk.
    pub n_cb: usize,
    /// Cells that a thread does in series as a point, N_bs / N_b.
    pub n_sqc: usize,
    /// Cells that a thread does in series as a basis coefficient, N_bs / N_q.
    pub n_sbc: usize,
    /// Cells of a chunk, N_cb · N_bc.
    pub n_chunk: usize,
}

impl Transposition {
    /// Knepley et al.'s quantities for cells of a shape.
    pub fn quantities(&self, shape: &Shape) -> Quantities {
        let (n_b, n_q) = (shape.nodes, shape.points);
        let (n_bl, n_cb) = (
            self.blocks_per_batch as usize,
            self.batches_per_chunk as usize,
        );
        let n_bs = lcm(n_b, n_q);
        let (n_sqc, n_sbc) = (n_bs / n_b, n_bs / n_q);
        let n_bc = n_bl * n_sqc * n_sbc;
        Quantities {
            n_t: n_bs * self.thread_components(shape) * n_bl,
            n_bs,
            n_bl,
            n_bc,
            n_cb,
            n_sqc,
            n_sbc,
            n_chunk: n_cb * n_bc,
        }
    }

    /// Components that have threads of their own.
    pub(in crate::family::cell_quadrature) fn thread_components(&self, shape: &Shape) -> usize {
        if self.by_component {
            shape.components
        } else {
            1
        }
    }

    /// Numbers in shared memory: tables, rows of cells, and what is tested.
    pub(super) fn shared_reals(&self, shape: &Shape) -> usize {
        let n_bc = self.quantities(shape).n_bc;
        let flux =
            usize::from(shape.writes_values) + shape.dim * usize::from(shape.writes_gradients);
        let tested = shape.points * shape.components * flux;
        shape.table_numbers() + n_bc * (staged_row(shape, self.padded) + tested)
    }

    /// The usual number of cell blocks: about `threads` threads.
    pub fn blocks_for(shape: &Shape, by_component: bool, threads: usize) -> u32 {
        let components = if by_component { shape.components } else { 1 };
        let of_block = lcm(shape.nodes, shape.points) * components;
        (threads / of_block).max(1) as u32
    }
}

/// The least common multiple.
fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}
