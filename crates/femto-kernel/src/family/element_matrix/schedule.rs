//! Schedules of the kernels: the storage of the matrices, and how a block of threads shares them.

use crate::dialect::BlockShape;
use crate::family::{Limits, MatrixStorage, ScheduleError};
use crate::scalar::Precision;
use core::fmt;

/// A schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Whether only a triangle is stored, as the matrix is symmetric.
    pub triangle: bool,
    /// Elements side by side in a block.
    pub elements_aside: u32,
    /// Whether the columns, or diagonals, of these elements are interleaved,
    /// `[group][column][element of the group][row]`; otherwise the matrices follow one another.
    pub interleaved: bool,
    /// Rows of a thread.
    pub rows_per_thread: u32,
    /// Columns, or diagonals, that are unrolled; 0 unrolls all.
    pub unroll: u32,
    /// Whether a block first brings its matrices, interleaved, into the L2 cache.
    pub prefetch: bool,
    /// Blocks for which a multiprocessor shall have registers: 1 lets a thread use as many as help it alone, 0 leaves them to
    /// the compiler.
    pub blocks_per_unit: u32,
}

/// The sizes of the matrices, on which a schedule depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of a matrix.
    pub unknowns: usize,
    /// Right-hand sides of a matrix: groups of coupled components.
    pub sides: usize,
}

impl Sizes {
    /// Those of elements with these numbers of nodes and components, of which so many are coupled.
    pub(super) fn new(nodes: usize, components: usize, coupled: usize) -> Self {
        Self {
            unknowns: nodes * coupled,
            sides: components / coupled,
        }
    }

    pub(super) fn storage(self, triangle: bool) -> MatrixStorage {
        MatrixStorage {
            unknowns: self.unknowns,
            triangle,
        }
    }
}

impl Schedule {
    /// Elements whose matrices are interleaved.
    pub fn group(&self) -> usize {
        match self.interleaved {
            true => self.elements_aside as usize,
            false => 1,
        }
    }

    /// Numbers of a right-hand side in shared memory.
    pub(super) fn input(&self, sizes: Sizes) -> usize {
        match self.triangle {
            true => 2 * sizes.unknowns,
            false => sizes.unknowns,
        }
    }

    /// Threads and shared memory of a block.
    pub fn block(&self, sizes: Sizes) -> BlockShape {
        let rows = (sizes.unknowns as u32).div_ceil(self.rows_per_thread);
        BlockShape {
            threads: [rows, self.elements_aside, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: self.elements_aside * (self.input(sizes) * sizes.sides) as u32,
        }
    }

    /// Checks whether a device can run it.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn validate(
        &self,
        sizes: Sizes,
        precision: Precision,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        if self.elements_aside == 0 || self.rows_per_thread == 0 {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "blocks have elements and threads have rows",
            });
        }
        if self.prefetch && !self.interleaved {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "only interleaved matrices are prefetched: their array is padded to whole blocks",
            });
        }
        limits.check(&self.block(sizes), precision)
    }

    /// The same without unrolled loops.
    pub(super) fn plain(self) -> Self {
        Self {
            unroll: 1,
            prefetch: false,
            blocks_per_unit: 1,
            ..self
        }
    }
}

/// Threads of a block that are aimed at.
const THREADS: u32 = 128;

/// Most unknowns whose columns are all unrolled: those of tetrahedra of degree 8.
const UNROLLED: usize = 165;
/// Bytes of the largest column of which a triangle is all unrolled.
const UNROLLED_BYTES: usize = 300;

/// The schedule for a number of unknowns, as measured with matrices of tetrahedra of degree 1 to 8 on an H200
/// (`benches/runs/2026-12-02-nvidia-h200/matrices`).
pub fn default(sizes: Sizes, triangle: bool, precision: Precision, limits: &Limits) -> Schedule {
    let Sizes { unknowns, sides } = sizes;
    let rows_per_thread = (unknowns as u32).div_ceil(limits.threads.min(limits.threads_xyz[0]));
    let rows = (unknowns as u32).div_ceil(rows_per_thread);
    let (unroll, blocks_per_unit) = match triangle {
        false if unknowns <= UNROLLED => (0, u32::from(sides == 1)),
        true if unknowns * precision.bytes() <= UNROLLED_BYTES => (0, 0),
        true if unknowns <= 60 => (4, 1),
        _ => (8, 1),
    };
    let prefetch = match (triangle, sides) {
        (true, 1) => unknowns <= 100,
        (true, _) => true,
        (false, 1) => false,
        (false, _) => unknowns <= 10,
    };
    Schedule {
        triangle,
        elements_aside: (THREADS / rows).max(1).min(limits.threads_xyz[1]),
        interleaved: true,
        rows_per_thread,
        unroll,
        prefetch,
        blocks_per_unit,
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = match self.triangle {
            true => "a triangle",
            false => "full matrices",
        };
        write!(f, "{stored}, {} elements a block", self.elements_aside)?;
        if self.interleaved && self.elements_aside > 1 {
            write!(f, ", interleaved")?;
        }
        if self.rows_per_thread > 1 {
            write!(f, ", {} rows a thread", self.rows_per_thread)?;
        }
        match self.unroll {
            0 => write!(f, ", unrolled"),
            count => write!(f, ", unrolled by {count}"),
        }?;
        if self.prefetch {
            write!(f, ", prefetched")?;
        }
        match self.blocks_per_unit {
            0 => write!(f, ", registers left to the compiler"),
            _ => Ok(()),
        }
    }
}
