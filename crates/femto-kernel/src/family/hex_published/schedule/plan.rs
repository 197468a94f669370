//! The interface of the published schedules to their ladder.

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
    /// The knobs that all schedules have.
    fn common(&self) -> &Common;

    /// The knobs of this kind that are set, for people.
    fn words(&self) -> Vec<(bool, &'static str)>;

    /// The rule of its own that the schedule breaks, if any.
    fn rules(&self, sizes: Sizes) -> Result<(), &'static str>;

    /// Threads of one element along x, y and z.
    fn threads(&self, sizes: Sizes) -> [u32; 3];

    /// The memory of the kernel.
    fn memory(&self, sizes: Sizes) -> Memory;

    /// The knobs as the kernel text knows them.
    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)>;

    /// The kernel files, in order.
    fn files(&self) -> Vec<KernelFile>;

    /// The kernels to launch, in order.
    fn entries(&self) -> &'static [&'static str];

    /// Accesses to shared memory.
    fn shared(&self, sizes: Sizes) -> SharedAccesses;
}
