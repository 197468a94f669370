//! Knepley et al.'s thread transposition: knobs and quantities.

use super::staged_row;
use crate::family::cell_quadrature::Shape;

/// Knobs of `thread_transposition.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transposition {
    /// N_bl: cell blocks evaluated at the same time.
    pub blocks_per_batch: u32,
    /// N_cb: batches that a block of threads takes in series.
    pub batches_per_chunk: u32,
    /// One thread per component, as in Knepley et al.: the threads of a point evaluate the same form and
    /// keep one component each. Otherwise a thread keeps all components, with N_comp times fewer threads.
    pub by_component: bool,
    /// Whether rows in shared memory are padded to an odd length.
    pub padded: bool,
    /// Whether the next batch is loaded while this one is computed.
    pub prefetch: bool,
    /// Target number of resident blocks per compute unit.
    pub blocks_per_unit: u32,
}

/// Knepley et al.'s quantities (section 3), by their names.
///
/// If N_b and N_q have a common factor, a group of N_bs = LCM(N_b, N_q) threads is filled by fewer than LCM
/// cells: N_sqc cells for each of its N_bs / N_q groups of points, which is N_sqc · N_sbc cells. Knepley et
/// al.'s texts take LCM or N_b · N_q cells instead; for coprime N_b and N_q all agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantities {
    /// Threads of a block of threads, N_bs · N_comp · N_bl.
    pub n_t: usize,
    /// Threads of a cell block for each component, LCM(N_b, N_q).
    pub n_bs: usize,
    /// Concurrent cell blocks.
    pub n_bl: usize,
    /// Cells of a batch.
    pub n_bc: usize,
    /// Batches of a chunk.
    pub n_cb: usize,
    /// Cells that a thread evaluates in series as a point, N_bs / N_b.
    pub n_sqc: usize,
    /// Cells that a thread evaluates in series as a basis coefficient, N_bs / N_q.
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

    /// Number of components with their own threads.
    pub(in crate::family::cell_quadrature) fn thread_components(&self, shape: &Shape) -> usize {
        if self.by_component {
            shape.components
        } else {
            1
        }
    }

    /// Numbers in shared memory: tables, rows of cells, and fluxes to be tested.
    pub(super) fn shared_reals(&self, shape: &Shape) -> usize {
        let n_bc = self.quantities(shape).n_bc;
        let tested = shape.points * shape.components * shape.fluxes();
        shape.table_numbers() + n_bc * (staged_row(shape, self.padded) + tested)
    }

    /// The usual number of cell blocks, for about `threads` threads.
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
