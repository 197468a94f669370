//! Exact work: bytes and flops, from sizes and schedule.

use super::Matrices;
use super::schedule::{Input, Schedule};
use super::source::KernelSpec;
use crate::family::Vectors;
use crate::roofline::Work;

impl Matrices {
    /// Flops of a component of an element by the host's loops: at degree 1 by differences of vertices.
    pub(super) fn host_flops(&self) -> u64 {
        let (dim, nodes) = (self.dim, self.nodes);
        if nodes != dim + 1 {
            return self.product_flops();
        }
        let slopes = usize::from(self.rank > 0) * dim * (2 * dim + 2);
        let mass = usize::from(self.mass.is_some()) * (4 * nodes + 2);
        (slopes + mass) as u64
    }

    /// Flops of a component of an element by products with D̂, its transpose, and M.
    fn product_flops(&self) -> u64 {
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
        let numbers = self.precision.bytes();
        let unknowns = nodes * self.components;
        let (read, written) = match self.vectors {
            Vectors::Element { listed } => {
                let list = usize::from(listed) * size_of::<u32>();
                (unknowns * numbers + list, unknowns * numbers)
            }
            Vectors::Nodal { .. } => (nodes * size_of::<u32>(), 0),
        };
        // Entries of the matrices, shared accesses and flops of a component of an element.
        let (entries, shared, flops) = match schedule {
            Schedule::Rows(rows) => {
                let count = self.count(rows.symmetric);
                // A row of each thread reads all entries of the input, which is written once.
                let shared = match rows.input {
                    Input::Shared => nodes * (nodes + 1),
                    Input::Global | Input::Register => 0,
                };
                (count * nodes * nodes, shared, self.matrices.flops(count))
            }
            Schedule::MatrixUnits(it) => {
                let Matrices { dim, rank, .. } = *self.matrices;
                let mass_rows = usize::from(self.matrices.mass.is_some()) * nodes;
                let rounds = mass_rows + rank;
                let mut shared = usize::from(it.input_shared) * nodes * (1 + rounds.div_ceil(8));
                if it.together {
                    // Fluxes are written once, and read by all warps.
                    shared += dim * rank * (1 + it.warps as usize);
                }
                (
                    (2 * dim * rank + mass_rows) * nodes,
                    shared,
                    self.matrices.product_flops(),
                )
            }
        };
        let geometry = self.matrices.factors() * numbers;
        Work {
            bytes_read: (elements * (geometry + read) + entries * numbers) as u64,
            bytes_written: (elements * written) as u64,
            flops: (elements * self.components) as u64 * flops,
            shared_bytes: (elements * self.components * shared * numbers) as u64,
            ..Work::default()
        }
    }
}
