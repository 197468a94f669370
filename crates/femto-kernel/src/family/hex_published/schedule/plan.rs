//! The interface between published schedules and their ladder.

use super::{BlockWork, Common, Memory, Sizes};
use crate::dialect::KernelFile;

/// One kind of schedule, with its kernel text.
pub(in super::super) trait Plan {
    /// Knobs common to all schedules.
    fn common(&self) -> &Common;

    /// The specific knobs in use, in words.
    fn words(&self) -> Vec<(bool, &'static str)>;

    /// The specific rule that the schedule breaks, if any.
    fn rules(&self, sizes: Sizes) -> Result<(), &'static str>;

    /// Threads of a block along x, y and z.
    fn threads(&self, sizes: Sizes) -> [u32; 3];

    /// The memory of the kernel.
    fn memory(&self, sizes: Sizes) -> Memory;

    /// The knobs as definitions for the kernel text.
    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)>;

    /// The kernel files, in order.
    fn files(&self) -> Vec<KernelFile>;

    /// The kernels to launch, in order.
    fn entries(&self) -> &'static [&'static str];

    /// Accesses to shared memory and barriers of a block, in all launches.
    fn block_work(&self, sizes: Sizes) -> BlockWork;
}

/// Reads and writes of the interpolations and projections in a cube, from the cube's nodes to the cube's points, and
/// from the cube's points to global memory: a pencil is read and written by each stage.
pub(super) fn in_cube(sizes: Sizes, symmetry: bool) -> BlockWork {
    let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
    let pencils = q * q + q * g + g * g;
    let entries = match symmetry {
        true => g.div_ceil(2) * q + q.div_ceil(2) * g,
        false => 2 * g * q,
    };
    BlockWork {
        reads: pencils * (q + g + entries),
        writes: g * pencils + q * (g * g + q * g),
        barriers: 0,
    }
}
