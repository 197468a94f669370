//! Sums of shared nodes: atomic after zeroing, or of contributions.

use super::contributions::{self, Contributions};
use super::zero::Zero;
use crate::Number;
use crate::operator::{Binding, OperatorError, Scatter};
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::Buffer;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use std::sync::MutexGuard;

/// How nodes shared by several elements are summed.
#[derive(Debug)]
pub(super) enum Sums<T: Number> {
    /// Some nodes are set to zero before atomic additions.
    Some(Zero),
    /// All nodes are, this many.
    All(usize),
    Deterministic(Contributions<T>),
}

/// Contributions and the locked buffer that holds them, for one application.
type Locked<'a, T> = (&'a Contributions<T>, MutexGuard<'a, AcceleratorBuffer<T>>);

impl<T: Number> Sums<T> {
    /// `nodes` are those of all blocks' elements; with `shells`, kernels write interior nodes themselves.
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        binding: &Binding<'_>,
        nodes: &[u32],
        shells: bool,
    ) -> Result<Self, OperatorError> {
        let space = binding.space;
        Ok(match (binding.params.scatter, shells) {
            (Scatter::Atomic, false) if space.restriction().block == 0 => Self::All(space.nodes()),
            (Scatter::Atomic, _) => Self::Some(Zero::new::<T>(device, cache, space, shells)?),
            (Scatter::Deterministic, true) => {
                let shell = contributions::shell(space);
                Self::Deterministic(Contributions::new(device, cache, space, nodes, shell)?)
            }
            (Scatter::Deterministic, false) => {
                Self::Deterministic(Contributions::new(device, cache, space, nodes, |_| true)?)
            }
        })
    }

    /// Zeroes the entries of v that will be added to (components `stride` apart), or returns the
    /// contributions to write.
    pub(super) fn begin(
        &self,
        device: &Accelerator,
        stride: usize,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<Option<Locked<'_, T>>, OperatorError> {
        match self {
            Self::Some(zero) => zero.apply(device, stride, v)?,
            Self::All(_) => {
                let len = v.len();
                device.fill_zero(v, 0..len)?;
            }
            Self::Deterministic(contributions) => {
                return Ok(Some((contributions, contributions.lock())));
            }
        }
        Ok(None)
    }

    pub(super) fn bytes(&self, components: usize) -> usize {
        match self {
            Self::Some(zero) => zero.bytes(),
            Self::All(_) => 0,
            Self::Deterministic(contributions) => contributions.bytes(components),
        }
    }

    /// Work of summing shared nodes, apart from their output: the zeroing before atomic additions, counted
    /// as one write of `bytes` per node; or contributions written and read, with their lists.
    pub(super) fn work(&self, bytes: usize) -> Work {
        let (bytes_read, bytes_written) = match self {
            Self::Some(zero) => (0, zero.nodes() * bytes),
            Self::All(nodes) => (0, nodes * bytes),
            Self::Deterministic(contributions) => {
                let (nodes, contributions) = contributions.counts();
                let lists = (2 * nodes + contributions) * size_of::<u32>();
                (contributions * bytes + lists, contributions * bytes)
            }
        };
        Work {
            bytes_read: bytes_read as u64,
            bytes_written: bytes_written as u64,
            ..Work::default()
        }
    }
}
