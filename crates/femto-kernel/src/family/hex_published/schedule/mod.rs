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
pub use bk3_layers::{Bk3Layers, Points};
pub use bk5_layers::{Bk5Column, Bk5Layers, Fluxes};
pub use cubes::{CubeTemporaries, Cubes, Partials};
pub use memory::{Memory, SharedAccesses};
pub(super) use plan::{Plan, text};

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

/// Knobs common to all schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Common {
    /// Elements of a block; the published steps have one.
    pub elements_per_block: u32,
    /// Whether inputs are declared `const` and `restrict`.
    pub const_inputs: bool,
    /// Whether all loops are unrolled.
    pub unroll: bool,
    /// Whether rows of 8 or 16 numbers in shared memory are padded by one, to spread over the banks.
    pub pad: bool,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            elements_per_block: 1,
            const_inputs: false,
            unroll: false,
            pad: false,
        }
    }
}

impl Common {
    /// The stride of rows of `len` numbers in shared memory.
    pub fn row(&self, len: u32) -> u32 {
        len + u32::from(self.pad && matches!(len, 8 | 16))
    }
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

    /// Threads and shared memory of a block.
    pub fn block(&self, sizes: Sizes) -> BlockShape {
        let elements = self.common().elements_per_block;
        let [x, y, z] = self.plan().threads(sizes);
        BlockShape {
            threads: [x, y, z * elements],
            blocks_per_unit: 1,
            shared_reals: self.memory(sizes).shared_reals(elements),
        }
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
        if self.common().elements_per_block == 0 {
            return Err(rule("a block has at least one element"));
        }
        self.plan().rules(sizes).map_err(rule)?;
        let block = self.block(sizes);
        let mut axes = block.threads.iter().zip(&limits.threads_xyz);
        if block.threads() > limits.threads || axes.any(|(asked, most)| asked > most) {
            return Err(ScheduleError::Threads {
                asked: block.threads,
                most: limits.threads,
                most_xyz: limits.threads_xyz,
            });
        }
        let asked = block.shared_bytes(precision);
        if asked > limits.shared_bytes {
            return Err(ScheduleError::SharedMemory {
                asked,
                most: limits.shared_bytes,
            });
        }
        if precision == Precision::Fp64 && !limits.fp64 {
            return Err(ScheduleError::Fp64);
        }
        Ok(())
    }
}

impl fmt::Display for Schedule {
    /// The knobs in use, such as `const unroll k_outermost`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let common = self.common();
        let mut words: Vec<String> = Vec::new();
        if common.elements_per_block != 1 {
            words.push(format!("elements_per_block={}", common.elements_per_block));
        }
        let flags = [
            (common.const_inputs, "const"),
            (common.unroll, "unroll"),
            (common.pad, "pad"),
        ];
        let own = self.plan().words();
        let set = flags.iter().chain(&own).filter(|(set, _)| *set);
        words.extend(set.map(|(_, word)| (*word).to_owned()));
        if words.is_empty() {
            words.push("base".to_owned());
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
                elements_per_block: 4,
                pad: true,
                ..Common::default()
            },
            temporaries: Temporaries::Cube,
            ..Bk1Layers::default()
        });
        assert_eq!(schedule.to_string(), "elements_per_block=4 pad cube");
    }

    #[test]
    fn elements_of_a_block_share_the_matrices_only() {
        let common = Common {
            elements_per_block: 3,
            pad: true,
            ..Common::default()
        };
        let one = Schedule::Bk1Layers(Bk1Layers {
            common,
            temporaries: Temporaries::Slices,
            ..Bk1Layers::default()
        });
        let sizes = Sizes {
            nodes_1d: 7,
            points_1d: 8,
        };
        let block = one.block(sizes);
        assert_eq!(block.threads, [8, 8, 3]);
        assert_eq!(block.shared_reals, 8 * 7 + 3 * 2 * 8 * 9);
    }
}
