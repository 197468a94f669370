//! Schedules of the kernel: where data live, and how many elements a thread and a block have.

use crate::dialect::BlockShape;
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;
use core::fmt;

/// Where the input is when it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Read from global memory in every product.
    Global,
    /// Read from global memory once per column of the matrices.
    Register,
    /// In shared memory.
    Shared,
}

/// Where the factors of an element are, and when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factors {
    /// In registers, before the products.
    Before,
    /// In shared memory, element by element along with the input.
    Shared,
    /// In shared memory, those of all elements of a block as one run of numbers.
    SharedFlat,
    /// In registers, after the products.
    After,
}

/// A schedule of `apply.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Whether pointers to inputs are `const`.
    pub const_inputs: bool,
    /// Columns of the matrices that are unrolled; 0 unrolls all.
    pub unroll: u32,
    /// Where the input is.
    pub input: Input,
    /// Where the factors are.
    pub factors: Factors,
    /// Whether S_ab and S_ba are one matrix.
    pub symmetric: bool,
    /// Elements of a thread, one after the other: an entry of a matrix is read once for all of them.
    pub elements_per_thread: u32,
    /// Elements side by side in a block.
    pub elements_aside: u32,
}

/// The sizes on which a schedule depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes of an element, and rows of the matrices.
    pub nodes: usize,
    /// Factors of an element.
    pub factors: usize,
}

impl Schedule {
    /// The schedule with the least shared memory and registers among those of operators.
    pub const PLAIN: Self = Self {
        const_inputs: true,
        unroll: 1,
        input: Input::Shared,
        factors: Factors::After,
        symmetric: true,
        elements_per_thread: 1,
        elements_aside: 1,
    };

    /// Elements of a block.
    pub fn elements_per_block(&self) -> u32 {
        self.elements_per_thread * self.elements_aside
    }

    /// Threads and shared memory of a block.
    pub fn block(&self, sizes: Sizes) -> BlockShape {
        let input = match self.input {
            Input::Shared => sizes.nodes,
            Input::Global | Input::Register => 0,
        };
        let factors = match self.factors {
            Factors::Shared | Factors::SharedFlat => sizes.factors,
            Factors::Before | Factors::After => 0,
        };
        BlockShape {
            threads: [sizes.nodes as u32, self.elements_aside, 1],
            blocks_per_unit: 1,
            shared_reals: self.elements_per_block() * (input + factors) as u32,
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
        if self.elements_per_block() == 0 {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "threads and blocks have elements",
            });
        }
        if precision == Precision::Fp64 && !limits.fp64 {
            return Err(ScheduleError::Fp64);
        }
        let block = self.block(sizes);
        let fits =
            (block.threads.iter().zip(limits.threads_xyz)).all(|(&asked, most)| asked <= most);
        if block.threads() > limits.threads || !fits {
            return Err(ScheduleError::Threads {
                asked: block.threads,
                most: limits.threads,
                most_xyz: limits.threads_xyz,
            });
        }
        let (asked, most) = (block.shared_bytes(precision), limits.shared_bytes);
        if asked > most {
            return Err(ScheduleError::SharedMemory { asked, most });
        }
        Ok(())
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = match self.input {
            Input::Global => "u from global memory",
            Input::Register => "u from global memory once a column",
            Input::Shared => "u in shared memory",
        };
        let factors = match self.factors {
            Factors::Before => "factors in registers",
            Factors::Shared => "factors in shared memory",
            Factors::SharedFlat => "factors in shared memory, loaded flat",
            Factors::After => "factors read last",
        };
        let matrices = if self.symmetric { "symmetric" } else { "all" };
        let (each, aside) = (self.elements_per_thread, self.elements_aside);
        write!(
            f,
            "a row per thread, {each} elements a thread, {aside} side by side, {input}, {factors}, {matrices} matrices"
        )?;
        match self.unroll {
            0 => write!(f, ", unrolled"),
            1 => Ok(()),
            count => write!(f, ", unrolled by {count}"),
        }
    }
}

/// The best schedule measured for a degree, given by its nodes, on tetrahedra; triangles take that of the
/// tetrahedron with as many nodes.
pub fn defaults(dim: usize, nodes: usize, precision: Precision) -> Schedule {
    // Elements of a thread and side by side, by degree; Karakus, Warburton et al.'s for a Titan V.
    const FP64: [(u32, u32); 8] = [
        (1, 24),
        (5, 3),
        (4, 3),
        (5, 7),
        (4, 1),
        (6, 3),
        (4, 3),
        (4, 3),
    ];
    const FP32: [(u32, u32); 8] = [
        (2, 24),
        (6, 3),
        (4, 3),
        (8, 7),
        (3, 6),
        (4, 3),
        (6, 3),
        (5, 5),
    ];
    const NODES: [usize; 8] = [4, 10, 20, 35, 56, 84, 120, 165];
    let rows = match precision {
        Precision::Fp64 => FP64,
        Precision::Fp32 => FP32,
    };
    let index = NODES.iter().position(|&most| nodes <= most).unwrap_or(7);
    let (each, aside) = rows[index];
    // Triangles have fewer matrices, so their threads have room for more.
    let each = if dim == 2 { each.max(4) } else { each };
    Schedule {
        unroll: 4,
        elements_per_thread: each,
        elements_aside: aside,
        ..Schedule::PLAIN
    }
}
