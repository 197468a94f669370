//! Schedules of the published hexahedral kernels: sizes, common knobs, one variant per kernel.
//!
//! A schedule is legal for some sizes and devices and illegal for others; [`Schedule::validate`] names the
//! rule that is broken. [`super::ladder`] has the published sequences of schedules and their kernel texts.
//! A schedule contains only the knobs of its benchmark's text.

mod bk1_layers;
mod bk3_layers;
mod bk5_layers;
mod cubes;
mod memory;
mod plan;

pub use bk1_layers::{Bk1Layers, Temporaries};
pub use bk3_layers::{Bk3Layers, Layer};
pub use bk5_layers::{Bk5Layers, Values};
pub use cubes::{Cubes, Exchange};
pub use memory::{BlockWork, Memory};
pub(super) use plan::Plan;

use crate::dialect::BlockShape;
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;
use core::fmt;

/// Nodes and points along an axis of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Nodes along an axis, q = N + 1.
    pub nodes_1d: u32,
    /// Quadrature points along an axis, g.
    pub points_1d: u32,
}

impl Sizes {
    /// Nodes of an element.
    pub fn nodes(self) -> u32 {
        self.nodes_1d.pow(3)
    }

    /// Points of an element.
    pub fn points(self) -> u32 {
        self.points_1d.pow(3)
    }
}

/// Loops that are unrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unroll {
    /// None.
    #[default]
    None,
    /// All but those that the text marks as the last: of BK1 the loop over layers, of BK5 the transposes.
    Most,
    /// All.
    All,
}

/// Knobs common to all schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Common {
    /// Whether inputs are declared `const` and `restrict`.
    pub const_inputs: bool,
    /// Loops that are unrolled.
    pub unroll: Unroll,
    /// Whether rows of 8 or 16 numbers in shared memory are padded by one, to spread over the banks.
    pub pad: bool,
}

impl Common {
    /// The stride of rows of `len` numbers in shared memory.
    pub fn row(&self, len: u32) -> u32 {
        padded(len, self.pad)
    }
}

/// The stride of rows of `len` numbers.
fn padded(len: u32, pad: bool) -> u32 {
    len + u32::from(pad && matches!(len, 8 | 16))
}

/// A schedule of one of the published kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// The mass operator, one thread per column.
    Bk1Layers(Bk1Layers),
    /// The collocated screened Poisson operator, one thread per column.
    Bk5Layers(Bk5Layers),
    /// The screened Poisson operator with Gauss points, one thread per column.
    Bk3Layers(Bk3Layers),
    /// Either screened Poisson operator, one thread per point.
    Cubes(Cubes),
}

impl Schedule {
    pub(super) fn plan(&self) -> &dyn Plan {
        match self {
            Self::Bk1Layers(plan) => plan,
            Self::Bk5Layers(plan) => plan,
            Self::Bk3Layers(plan) => plan,
            Self::Cubes(plan) => plan,
        }
    }

    /// Knobs common to all schedules.
    pub fn common(&self) -> &Common {
        self.plan().common()
    }

    /// The memory of the kernel.
    pub fn memory(&self, sizes: Sizes) -> Memory {
        self.plan().memory(sizes)
    }

    /// Threads and shared memory of a block, which has one element.
    pub fn block(&self, sizes: Sizes) -> BlockShape {
        BlockShape {
            threads: self.plan().threads(sizes),
            // The authors' kernels state no bounds.
            blocks_per_unit: 0,
            shared_reals: self.memory(sizes).shared_reals(),
        }
    }

    /// Accesses to shared memory and barriers of a block.
    pub fn block_work(&self, sizes: Sizes) -> BlockWork {
        self.plan().block_work(sizes)
    }

    /// Checks the schedule against the sizes, its own rules and a device.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(
        &self,
        sizes: Sizes,
        precision: Precision,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        let rule = |rule| ScheduleError::Rule {
            schedule: self.to_string(),
            rule,
        };
        if sizes.nodes_1d < 2 || sizes.points_1d < sizes.nodes_1d {
            return Err(rule("at least 2 nodes and as many points along an axis"));
        }
        self.plan().rules(sizes).map_err(rule)?;
        limits.check(&self.block(sizes), precision)
    }
}

impl fmt::Display for Schedule {
    /// The knobs in use, such as `const unroll k_outermost`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let common = self.common();
        let mut words = Vec::new();
        let flags = [
            (common.const_inputs, "const"),
            (common.unroll == Unroll::Most, "unroll_most"),
            (common.unroll == Unroll::All, "unroll"),
            (common.pad, "pad"),
        ];
        let own = self.plan().words();
        let set = flags.iter().chain(&own).filter(|(set, _)| *set);
        words.extend(set.map(|(_, word)| *word));
        if words.is_empty() {
            words.push("base");
        }
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        nodes_1d: 4,
        points_1d: 5,
    };

    fn broken(schedule: Schedule, sizes: Sizes, limits: &Limits) -> String {
        let result = schedule.validate(sizes, Precision::Fp64, limits);
        result.expect_err("illegal").to_string()
    }

    #[test]
    fn an_illegal_schedule_names_the_rule() {
        let limits = Limits::default();
        let symmetry = Schedule::Bk1Layers(Bk1Layers {
            symmetry: true,
            ..Bk1Layers::default()
        });
        assert_eq!(
            broken(symmetry, SIZES, &limits),
            "the schedule \"symmetry\" breaks a rule: symmetry is used by contractions in a cube only"
        );
        let collocated = Schedule::Bk5Layers(Bk5Layers::default());
        assert!(broken(collocated, SIZES, &limits).contains("the points are the nodes"));
        let cubes = Schedule::Cubes(Cubes::default());
        let large = Sizes {
            nodes_1d: 10,
            points_1d: 11,
        };
        assert!(broken(cubes, large, &limits).contains("11 × 11 × 11 threads"));
        let small = Limits {
            shared_bytes: 100,
            ..limits
        };
        let error = broken(cubes, SIZES, &small);
        assert_eq!(
            error,
            "a block needs 360 bytes of shared memory, the device allows 100"
        );
    }

    #[test]
    fn schedules_are_told_by_what_they_set() {
        assert_eq!(Schedule::Cubes(Cubes::default()).to_string(), "base");
        let schedule = Schedule::Bk1Layers(Bk1Layers {
            common: Common {
                unroll: Unroll::Most,
                pad: true,
                ..Common::default()
            },
            temporaries: Temporaries::Cube,
            ..Bk1Layers::default()
        });
        assert_eq!(schedule.to_string(), "unroll_most pad cube");
    }
}
