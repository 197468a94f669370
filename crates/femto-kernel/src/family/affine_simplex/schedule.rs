//! Schedules of the kernels: where data live, and how many elements a thread and a block have.

use crate::dialect::BlockShape;
use crate::family::fragments::LEFT_TILE;
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

/// A schedule of one of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// A row of the matrices per thread.
    Rows(Rows),
    /// Matrix units.
    MatrixUnits(MatrixUnits),
}

/// A schedule of `matrix_units.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixUnits {
    /// Warps of a block.
    pub warps: u32,
    /// Tiles of sixteen elements of a warp: a fragment of the matrices is read once for all of them.
    pub element_tiles: u32,
    /// Whether the input is in shared memory; otherwise it is in registers.
    pub input_shared: bool,
    /// Whether the warps of a block wait for each other, so that they read the same fragments together.
    pub lockstep: bool,
    /// Whether the warps of a block share its elements, and fluxes pass through shared memory.
    pub together: bool,
    /// Blocks for which a multiprocessor shall have registers.
    pub blocks_per_unit: u32,
}

/// A schedule of `apply.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
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
    /// Blocks for which a multiprocessor shall have registers: 1 lets a thread use as many as help it alone, 0 leaves them to
    /// the compiler.
    pub blocks_per_unit: u32,
}

/// The sizes on which a schedule depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes of an element, and rows of the matrices.
    pub nodes: usize,
    /// Factors of an element.
    pub factors: usize,
    /// Dimension.
    pub dim: usize,
    /// Classes of nodes.
    pub classes: usize,
    /// Tiles of eight sums of all classes.
    pub sum_tiles: usize,
}

impl Rows {
    /// The schedule with the least shared memory and registers among those of operators.
    pub const PLAIN: Self = Self {
        const_inputs: true,
        unroll: 1,
        input: Input::Shared,
        factors: Factors::After,
        symmetric: true,
        elements_per_thread: 1,
        elements_aside: 1,
        blocks_per_unit: 1,
    };

    fn elements_per_block(&self) -> u32 {
        self.elements_per_thread * self.elements_aside
    }

    fn block(&self, sizes: Sizes) -> BlockShape {
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
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: self.elements_per_block() * (input + factors) as u32,
        }
    }
}

/// The distance of elements in the shared memory of `matrix_units.c`, with which the threads of a warp find their elements in
/// different banks.
pub(super) fn stride(nodes: usize) -> u32 {
    (nodes as u32 + 4).div_ceil(8) * 8 - 4
}

impl MatrixUnits {
    /// The teams of warps of a block that share elements.
    fn teams(&self) -> u32 {
        if self.together { 1 } else { self.warps }
    }

    fn block(&self, sizes: Sizes) -> BlockShape {
        let elements = self.element_tiles * LEFT_TILE;
        let sums = match self.input_shared {
            true => elements * 8 * sizes.sum_tiles as u32,
            false => 0,
        };
        let fluxes = match self.together {
            true => 2 * elements * 8 * (sizes.classes * sizes.dim) as u32,
            false => 0,
        };
        let nodal = match sizes.classes {
            1 => 0,
            _ => (elements * stride(sizes.nodes)).max(fluxes),
        };
        BlockShape {
            threads: [32, self.warps, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: self.teams() * (sums + nodal),
        }
    }
}

impl Schedule {
    /// The schedule, if it has a row per thread.
    pub fn rows(&self) -> Option<&Rows> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::MatrixUnits(_) => None,
        }
    }

    /// Elements of a block.
    pub fn elements_per_block(&self) -> u32 {
        match self {
            Self::Rows(rows) => rows.elements_per_block(),
            Self::MatrixUnits(it) => it.teams() * it.element_tiles * LEFT_TILE,
        }
    }

    /// Threads and shared memory of a block.
    pub fn block(&self, sizes: Sizes) -> BlockShape {
        match self {
            Self::Rows(rows) => rows.block(sizes),
            Self::MatrixUnits(it) => it.block(sizes),
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
        if let Self::MatrixUnits(it) = self {
            if !limits.matrix_units {
                return Err(ScheduleError::MatrixUnits);
            }
            let has_classes = sizes.classes > 1 && it.warps as usize == sizes.classes;
            if it.together && !(has_classes && it.input_shared && !it.lockstep) {
                return Err(ScheduleError::Rule {
                    schedule: self.to_string(),
                    rule: "warps that share elements have a class each, u in shared memory, and wait for each other as it is",
                });
            }
        }
        limits.check(&self.block(sizes), precision)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => rows.fmt(f),
            Self::MatrixUnits(it) => it.fmt(f),
        }
    }
}

impl fmt::Display for MatrixUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = if self.input_shared {
            "shared memory"
        } else {
            "registers"
        };
        let (elements, warps) = (self.element_tiles * LEFT_TILE, self.warps);
        write!(
            f,
            "matrix units, {elements} elements a warp, {warps} warps, u in {memory}"
        )?;
        if self.lockstep {
            write!(f, ", warps in lockstep")?;
        }
        if self.together {
            write!(f, ", shared by all warps")?;
        }
        if self.blocks_per_unit > 1 {
            write!(f, ", registers for {} blocks", self.blocks_per_unit)?;
        }
        Ok(())
    }
}

impl fmt::Display for Rows {
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
        }?;
        match self.blocks_per_unit {
            0 => write!(f, ", registers left to the compiler"),
            _ => Ok(()),
        }
    }
}
