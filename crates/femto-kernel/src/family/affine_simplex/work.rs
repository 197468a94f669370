//! Exact work: bytes and flops, from sizes and schedule.

use super::Matrices;
use super::schedule::{Input, Schedule};
use super::source::KernelSpec;
use crate::family::Vectors;
use crate::roofline::Work;

impl Matrices {
    /// Flops of a component of an element by the host's loops.
    pub(super) fn host_flops(&self) -> u64 {
        let Self {
            dim, nodes, rank, ..
        } = *self;
        let slopes = 4 * dim * rank * nodes + rank * dim * (2 * dim - 1);
        let mass = usize::from(self.mass.is_some()) * (2 * nodes * nodes + nodes);
        (slopes + mass) as u64
    }

    /// Flops of a component of an element by this many matrices: 20 Nₚ² + 20 Nₚ for ten, 14 Nₚ² + 14 Nₚ for seven.
    pub fn flops(&self, matrices: usize) -> u64 {
        (2 * matrices * self.nodes * (self.nodes + 1)) as u64
    }
}

impl KernelSpec<'_> {
    /// The work on `elements` elements, apart from L-vectors: geometry, E-vectors or lists of nodes, and the
    /// matrices once.
    pub fn work(&self, schedule: &Schedule, elements: usize) -> Work {
        let nodes = self.matrices.nodes;
        let (numbers, count) = (self.precision.bytes(), self.count(schedule.symmetric));
        let unknowns = nodes * self.components;
        let (read, written) = match self.vectors {
            Vectors::Element { .. } => (unknowns * numbers, unknowns * numbers),
            Vectors::Nodal { .. } => (nodes * size_of::<u32>(), 0),
        };
        // A row of each thread reads all entries of the input, which is written once.
        let shared = match schedule.input {
            Input::Shared => unknowns * (nodes + 1),
            Input::Global | Input::Register => 0,
        };
        let geometry = self.matrices.factors() * numbers;
        Work {
            bytes_read: (elements * (geometry + read) + count * nodes * nodes * numbers) as u64,
            bytes_written: (elements * written) as u64,
            flops: elements as u64 * self.components as u64 * self.matrices.flops(count),
            shared_bytes: (elements * shared * numbers) as u64,
        }
    }
}
