//! Operators on accelerators: blocks of elements, each with a kernel that gathers, evaluates and scatters.
//!
//! A block holds the elements of one kind of map and the arrays their kernels read (`block`, `pack`,
//! `arrays`). Its family makes the kernel texts; this module knows families only by their contract. Kernels
//! are compiled when first needed, best schedule first, and the operator is compared with the oracle at
//! some nodes of the caller's mesh before it is used (`verify`). The diagonal's kernels, which run once a
//! solve, are not compared. Nodes shared by several elements are set to zero first and summed by atomic
//! additions (`zero`); for deterministic sums, elements write contributions that a second kernel sums
//! (`contributions`). Element matrices are assembled by another bound operator (`matrices`). For bounds, kernels are run
//! once with calls that count their accesses to memory.

mod arrays;
mod block;
mod choose;
mod context;
mod contributions;
mod matrices;
mod nodal;
mod node_list;
mod operator;
mod pack;
mod sums;
mod texts;
mod verify;
mod zero;

use super::{Backend, Binding, OperatorError};
use crate::Number;
use femto_fem::space::Layout;
use femto_kernel::family::Vectors;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Device, DeviceError};

pub use operator::AcceleratorBound;
pub use texts::KernelTarget;

/// The L-vectors of an operator.
fn vectors(binding: &Binding<'_>) -> Vectors {
    Vectors::Nodal {
        interleaved: binding.space.layout() == Layout::Interleaved,
        scatter: binding.params.scatter,
    }
}

impl Backend for Accelerator {
    type Bound<T: Number> = AcceleratorBound<T>;

    fn bind<T: Number>(&self, binding: &Binding<'_>) -> Result<AcceleratorBound<T>, OperatorError> {
        AcceleratorBound::new(self, binding)
    }
}

/// A table on the device. Buffers cannot be empty, so an empty table gets one unread entry.
fn table(
    device: &Accelerator,
    mut entries: Vec<u32>,
) -> Result<AcceleratorBuffer<u32>, DeviceError> {
    if entries.is_empty() {
        entries.push(0);
    }
    device.upload(&entries)
}

#[cfg(test)]
mod tests;
