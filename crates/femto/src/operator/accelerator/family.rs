//! The trait of families on accelerators.

use super::pack::Packer;
use crate::Number;
use crate::operator::OperatorError;
use femto_kernel::family::{KernelSource, Limits, Operand, ScheduleError, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::Argument;
use std::fmt::{Debug, Display};

/// A family as one operator uses it, with what all blocks share on the device.
pub(super) trait Family<T: Number>: Debug + Send + Sync {
    /// Nodes inside elements belong to one alone and are written; otherwise all are summed.
    const WRITES_INSIDE: bool;

    /// The schedule of a kernel.
    type Schedule: Copy + Debug + Display + PartialEq + Send + Sync;

    /// Data of a block beside lists of elements, nodes and fields: its shape, its geometry.
    type Data: Debug + Send + Sync;

    /// Packs a block.
    ///
    /// # Errors
    /// Memory that is not there; a block of another family.
    fn pack(&self, packer: &Packer<'_>) -> Result<Self::Data, OperatorError>;

    /// Whether kernels read auxiliary fields; otherwise they are folded into the geometry.
    fn reads_fields(&self) -> bool;

    /// The candidates, best first.
    fn schedules(
        &self,
        data: &Self::Data,
        vectors: Vectors,
        limits: &Limits,
    ) -> Vec<Self::Schedule>;

    /// Whether a device can run a schedule.
    ///
    /// # Errors
    /// The rule that it breaks.
    fn validate(
        &self,
        data: &Self::Data,
        schedule: &Self::Schedule,
        vectors: Vectors,
        limits: &Limits,
    ) -> Result<(), ScheduleError>;

    /// The text that applies the operator to a block.
    ///
    /// # Errors
    /// A form that cannot be printed.
    fn source(
        &self,
        data: &Self::Data,
        schedule: &Self::Schedule,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError>;

    /// The text of the diagonal of a block.
    ///
    /// # Errors
    /// As [`Family::source`].
    fn diagonal_source(
        &self,
        data: &Self::Data,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError>;

    /// The argument for an operand of a kernel, where the family has its own.
    fn argument<'a>(
        &'a self,
        data: &'a Self::Data,
        source: &KernelSource,
        operand: Operand,
    ) -> Option<Argument<'a>>;

    /// Elements, or places for them, that a kernel runs over; by default those of the block.
    fn places(&self, data: &Self::Data, source: &KernelSource) -> Option<usize> {
        let _ = (data, source);
        None
    }

    /// Work on a block of `elements`, L-vectors, fields in the solution's space and what blocks share apart.
    fn work(
        &self,
        data: &Self::Data,
        schedule: &Self::Schedule,
        vectors: Vectors,
        elements: usize,
    ) -> Work;

    /// Bytes of device memory that a block holds.
    fn bytes(&self, data: &Self::Data) -> usize;

    /// Bytes of device memory that all blocks share, and how many of them an application reads.
    fn shared_bytes(&self) -> (usize, usize);
}
