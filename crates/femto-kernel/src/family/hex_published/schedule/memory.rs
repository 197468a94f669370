//! Named parts of shared memory and of the global scratch array.

/// A named part: its name in the kernel text and its length in numbers.
pub(in super::super) type Part = (&'static str, u32);

/// The parts of a kernel's memory, in order; the kernel text refers to them by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Shared by all elements of a block: the matrices.
    pub(in super::super) block: Vec<Part>,
    /// An element's part of shared memory.
    pub(in super::super) element: Vec<Part>,
    /// An element's part of the global scratch array.
    pub(in super::super) scratch: Vec<Part>,
}

impl Memory {
    /// Shared memory of a block, in numbers.
    pub fn shared_reals(&self, elements_per_block: u32) -> u32 {
        sum(&self.block) + elements_per_block * sum(&self.element)
    }

    /// Global scratch memory of an element, in numbers.
    pub fn scratch_reals(&self) -> u32 {
        sum(&self.scratch)
    }

    /// Name and value of every definition in the kernel text: offsets of the parts, and the lengths
    /// `S_ELEMENTS` (before the elements' parts), `S_ELEMENT_REALS` and `SCRATCH_REALS`.
    pub(in super::super) fn definitions(&self) -> Vec<(&'static str, u32)> {
        let mut definitions = Vec::new();
        for parts in [&self.block, &self.element, &self.scratch] {
            let mut offset = 0;
            for &(name, len) in parts {
                definitions.push((name, offset));
                offset += len;
            }
        }
        definitions.push(("S_ELEMENTS", sum(&self.block)));
        definitions.push(("S_ELEMENT_REALS", sum(&self.element)));
        definitions.push(("SCRATCH_REALS", sum(&self.scratch)));
        definitions
    }
}

fn sum(parts: &[Part]) -> u32 {
    parts.iter().map(|(_, len)| len).sum()
}

/// Reads and writes of shared memory by all threads, according to the kernel text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedAccesses {
    /// Once per block: loading the matrices.
    pub block: u64,
    /// Per element.
    pub element: u64,
}
