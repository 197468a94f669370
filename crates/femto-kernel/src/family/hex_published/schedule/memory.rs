//! Named parts of shared memory and of the global scratch array, and what is done with the former.

/// A named part: its name in the kernel text and its length in numbers.
pub(in super::super) type Part = (&'static str, u32);

/// The parts of a kernel's memory, in order; the kernel text refers to them by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The parts of shared memory.
    pub(in super::super) shared: Vec<Part>,
    /// An element's part of the global scratch array.
    pub(in super::super) scratch: Vec<Part>,
}

impl Memory {
    /// Shared memory of a block, in numbers.
    pub fn shared_reals(&self) -> u32 {
        sum(&self.shared)
    }

    /// Global scratch memory of an element, in numbers.
    pub fn scratch_reals(&self) -> u32 {
        sum(&self.scratch)
    }

    /// Name and value of every definition in the kernel text: offsets of the parts, and `SCRATCH_REALS`.
    pub(in super::super) fn definitions(&self) -> Vec<(&'static str, u32)> {
        let mut definitions = vec![("SCRATCH_REALS", self.scratch_reals())];
        for parts in [&self.shared, &self.scratch] {
            let mut offset = 0;
            for &(name, len) in parts {
                definitions.push((name, offset));
                offset += len;
            }
        }
        definitions
    }
}

fn sum(parts: &[Part]) -> u32 {
    parts.iter().map(|(_, len)| len).sum()
}

/// What the threads of a block do with shared memory, as the kernel text has it. No output is computed twice, unlike
/// in the published kernels that use the symmetry of the interpolation matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockWork {
    /// Numbers read.
    pub reads: u64,
    /// Numbers written.
    pub writes: u64,
    /// Barriers.
    pub barriers: u64,
}
