//! The interface between published schedules and their ladder.

use super::{Common, Memory, SharedAccesses, Sizes};
use crate::dialect::KernelFile;

/// A kernel file of this family.
macro_rules! text {
    ($name:literal) => {
        crate::dialect::KernelFile {
            name: concat!("family/hex_published/text/", $name),
            text: include_str!(concat!("../text/", $name)),
        }
    };
}
pub(in super::super) use text;

/// One kind of schedule, with its kernel text.
pub(in super::super) trait Plan {
    /// Knobs common to all schedules.
    fn common(&self) -> &Common;

    /// The specific knobs in use, in words.
    fn words(&self) -> Vec<(bool, &'static str)>;

    /// The specific rule that the schedule breaks, if any.
    fn rules(&self, sizes: Sizes) -> Result<(), &'static str>;

    /// Threads of one element along x, y and z.
    fn threads(&self, sizes: Sizes) -> [u32; 3];

    /// The memory of the kernel.
    fn memory(&self, sizes: Sizes) -> Memory;

    /// The knobs as definitions for the kernel text.
    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)>;

    /// The kernel files, in order.
    fn files(&self) -> Vec<KernelFile>;

    /// The kernels to launch, in order.
    fn entries(&self) -> &'static [&'static str];

    /// Accesses to shared memory.
    fn shared(&self, sizes: Sizes) -> SharedAccesses;
}
