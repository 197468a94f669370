//! Exact work: bytes and flops, from sizes and schedule.

use super::Matrices;
use super::schedule::{Input, MatrixUnits, Schedule};
use super::source::KernelSpec;
use crate::family::Vectors;
use crate::family::fragments::TILE;
use crate::roofline::Work;

impl Matrices {
    /// Flops of a component of an element by the host's loops: at degree 1 by differences of vertices.
    pub(super) fn host_flops(&self) -> u64 {
        let (dim, nodes) = (self.dim, self.nodes);
        if nodes != dim + 1 {
            return self.product_flops();
        }
        let slopes = usize::from(self.has_stiffness()) * dim * (2 * dim + 2);
        let mass = usize::from(self.mass.is_some()) * (4 * nodes + 2);
        (slopes + mass) as u64
    }

    /// Flops of a component of an element by products with the blocks of D̂, their transposes, and those of M, and of the sums
    /// over orbits and back.
    fn product_flops(&self) -> u64 {
        let [slopes, masses] = self.entries();
        let fluxes = self.rank() * self.dim * (2 * self.dim - 1);
        let mass = usize::from(self.mass.is_some()) * self.nodes;
        (4 * slopes + fluxes + 2 * masses + mass + 2 * self.symmetry.additions()) as u64
    }

    /// Entries of the blocks of D̂, and of those of M.
    fn entries(&self) -> [usize; 2] {
        let slopes = self.derivatives.iter().flatten().map(Vec::len);
        [slopes.sum(), self.masses.iter().map(Vec::len).sum()]
    }

    /// Numbers of a component of an element that warps write to shared memory or read: with several classes nodal values four
    /// times; sums once and for each tile of rows that needs them; together, fluxes once and by the class that each adds to, and
    /// sums of v twice.
    fn shared_numbers(&self, it: &MatrixUnits) -> usize {
        let mut numbers = match self.symmetry.classes {
            1 => 0,
            _ => 4 * self.nodes,
        };
        if it.input_shared {
            for (class, &rank) in self.ranks.iter().enumerate() {
                // With one class all axes read the same sums.
                let axes = if self.ranks.len() == 1 {
                    self.axes().min(1)
                } else {
                    self.axes()
                };
                let before = (0..axes).map(|axis| self.symmetry.before(axis, class));
                let read = before.map(|before| self.symmetry.sums(before).len());
                numbers += rank.div_ceil(TILE) * read.sum::<usize>();
            }
            numbers += (1 + usize::from(self.mass.is_some())) * self.nodes;
        }
        if it.together {
            numbers += 2 * self.dim * self.rank() + 2 * self.nodes;
        }
        numbers
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
                let [slopes, masses] = self.matrices.entries();
                (
                    2 * slopes + masses,
                    self.matrices.shared_numbers(it),
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
