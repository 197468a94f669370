//! Schedules of prism_column.

use super::tables::Tables;
use crate::dialect::BlockShape;
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;
use core::fmt;

/// The layout of a kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Threads of a block, each with a prism.
    pub threads: u32,
    /// Whether a thread hands what it adds to the upper triangle to the thread above, through shared memory.
    pub carry: bool,
    /// Target number of resident blocks per compute unit; 0 leaves registers to the compiler.
    pub blocks_per_unit: u32,
}

impl Schedule {
    /// The legal one with the least needs.
    pub(super) const PLAIN: Self = Self {
        threads: 64,
        carry: false,
        blocks_per_unit: 1,
    };

    /// The schedules for a prism, best first.
    pub(super) fn all(tables: &Tables) -> [Self; 2] {
        let best = Self {
            threads: if tables.degree < 3 { 128 } else { 64 },
            carry: true,
            // At degree 1 more blocks at a time are worth more than registers; at higher degrees threads need all.
            blocks_per_unit: if tables.degree == 1 { 0 } else { 1 },
        };
        [best, Self::PLAIN]
    }

    pub(super) fn block(&self, tables: &Tables, components: usize) -> BlockShape {
        let top = tables.triangle[0] * components;
        BlockShape {
            threads: [self.threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: if self.carry {
                self.threads * top as u32
            } else {
                0
            },
        }
    }

    pub(super) fn validate(
        &self,
        (tables, components): (&Tables, usize),
        precision: Precision,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        limits.check(&self.block(tables, components), precision)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a prism per thread, {} a block", self.threads)?;
        match self.carry {
            true => write!(f, ", sums of triangles between prisms carried upwards"),
            false => Ok(()),
        }
    }
}
