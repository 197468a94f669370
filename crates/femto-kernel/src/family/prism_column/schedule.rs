//! Schedules of prism_column.

use super::tables::Tables;
use crate::dialect::BlockShape;
use crate::family::{Knob, Knobs, Limits, ScheduleError};
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

const THREADS: Knob = Knob {
    name: "elements",
    most: 1024,
};
const CARRY: Knob = Knob {
    name: "carry",
    most: 1,
};
const BLOCKS: Knob = Knob {
    name: "blocks",
    most: 32,
};

/// The knobs of all schedules.
pub(super) const KNOBS: [Knob; 3] = [THREADS, CARRY, BLOCKS];

impl Schedule {
    /// The legal one with the least needs.
    pub(super) const PLAIN: Self = Self {
        threads: 64,
        carry: false,
        blocks_per_unit: 1,
    };

    /// The schedules for a prism, by points or by matrices, best first on an H200; only the first one with knobs, if any are
    /// set.
    pub(super) fn all(
        (tables, components): (&Tables, usize),
        by_matrices: bool,
        knobs: &Knobs,
    ) -> Vec<Self> {
        let (threads, blocks_per_unit) = match (tables.degree, by_matrices, components) {
            // At degree 1 more blocks at a time are worth more than registers.
            (1, ..) => (128, 0),
            // Few numbers: half of the registers are enough.
            (2, true, 1) => (64, 8),
            (2, false, _) => (128, 1),
            _ => (64, 1),
        };
        let best = Self {
            threads,
            carry: true,
            blocks_per_unit,
        };
        if knobs.is_empty() {
            return vec![best, Self::PLAIN];
        }
        vec![Self {
            threads: knobs.get(THREADS.name).unwrap_or(best.threads),
            carry: knobs.get(CARRY.name).map_or(best.carry, |is| is == 1),
            blocks_per_unit: knobs.get(BLOCKS.name).unwrap_or(best.blocks_per_unit),
        }]
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
        if self.threads == 0 {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "a block has elements",
            });
        }
        limits.check(&self.block(tables, components), precision)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a prism per thread, {} a block", self.threads)?;
        if self.carry {
            write!(f, ", sums of triangles between prisms carried upwards")?;
        }
        match self.blocks_per_unit {
            0 | 1 => Ok(()),
            blocks => write!(f, ", {blocks} blocks a unit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_element::basis::LagrangeBasis;
    use femto_element::quadrature::rule;
    use femto_element::tables::DenseTables;

    #[test]
    fn knobs_replace_numbers_of_the_best_schedule() {
        let basis = LagrangeBasis::new(Cell::Prism, 1).unwrap();
        let dense = DenseTables::new(&basis, &rule(Cell::Prism, 2).unwrap());
        let tables = Tables::new(&dense).unwrap();
        let all = |knobs: &str| Schedule::all((&tables, 1), true, &knobs.parse().unwrap());
        let best = all("best");
        assert_eq!((best.len(), best[0].carry), (2, true));
        let wanted = Schedule {
            threads: 96,
            carry: false,
            ..best[0]
        };
        assert_eq!(all("carry=0+elements=96"), [wanted]);
        let none = all("elements=0")[0].validate((&tables, 1), Precision::Fp64, &Limits::default());
        assert!(matches!(none, Err(ScheduleError::Rule { .. })), "{none:?}");
    }
}
