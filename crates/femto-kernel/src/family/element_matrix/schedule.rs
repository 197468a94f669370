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
}

/// The sizes of the matrices, on which a schedule depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of a matrix.
    pub unknowns: usize,
    /// Right-hand sides of a matrix: the components, if these do not mix.
    pub sides: usize,
}

impl Sizes {
    /// Those of elements with these numbers of nodes and components, which are mixed or not.
    pub(super) fn new(nodes: usize, components: usize, mixed: bool) -> Self {
        let (unknowns, sides) = match mixed {
            true => (nodes * components, 1),
            false => (nodes, components),
        };
        Self { unknowns, sides }
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
            blocks_per_unit: 1,
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
            ..self
        }
    }
}

/// Threads of a block that are aimed at.
const THREADS: u32 = 128;

/// The schedule for a number of unknowns, as measured with matrices of tetrahedra of degree 1 to 8 on an H200
/// (`benches/runs/2026-11-24-nvidia-h200/matrices`).
pub fn default(sizes: Sizes, triangle: bool, limits: &Limits) -> Schedule {
    let Sizes { unknowns, sides } = sizes;
    let rows_per_thread = (unknowns as u32).div_ceil(limits.threads.min(limits.threads_xyz[0]));
    let rows = (unknowns as u32).div_ceil(rows_per_thread);
    let (unroll, prefetch) = match (triangle, sides) {
        (true, 1) => (if unknowns <= 60 { 4 } else { 8 }, unknowns <= 100),
        (true, _) => (if unknowns <= 60 { 4 } else { 8 }, true),
        (false, 1) => (if unknowns <= 128 { 0 } else { 8 }, false),
        (false, _) => (8, unknowns <= 10),
    };
    Schedule {
        triangle,
        elements_aside: (THREADS / rows).max(1).min(limits.threads_xyz[1]),
        interleaved: true,
        rows_per_thread,
        unroll,
        prefetch,
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
        match self.prefetch {
            true => write!(f, ", prefetched"),
            false => Ok(()),
        }
    }
}
