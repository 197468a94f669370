//! Lists by which a block of threads sums what its elements contribute to a node before anything leaves it.

use super::concatenated::concatenated;
use super::owners::{MISSING, Owners};
use super::{Array, Operand};
use core::ops::Range;
use rayon::prelude::*;

/// The lists of all blocks, which consist of consecutive elements: the better neighbours are kept together, as along a
/// space-filling curve, the fewer nodes a block has. A slot is where an element contributes to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSums {
    /// `[block + 1][2]`: first entry in the list; number of entries from there on whose nodes no other block has.
    pub blocks: Vec<u32>,
    /// `[entry]`: nodes of the blocks, private ones first, otherwise ascending unless arranged.
    pub list: Vec<u32>,
    /// `[entry]`: end of the entry's slots among those of the block.
    pub ends: Vec<u16>,
    /// `[block][slot]`: slots, grouped by entry, ascending unless arranged.
    pub slots: Vec<u16>,
}

/// A node of a block and where its slots are in a list, first ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) node: u32,
    pub(super) slots: Range<usize>,
}

impl BlockSums {
    /// The lists for blocks of `per_block` places of a table of nodes; places of `u32::MAX` have none. `slot` gives the
    /// slot of a place in the block, below 2¹⁶. Nodes that are `elsewhere` also belong to elements of other launches,
    /// and are never private. `arrange` is given the entries of a block, their slots, and how many leading entries are
    /// private; it may reorder these, the other entries, and the slots of each.
    pub(super) fn of(
        table: &[u32],
        per_block: usize,
        slot: impl Fn(usize) -> usize + Sync,
        elsewhere: impl Fn(u32) -> bool + Sync,
        arrange: impl Fn(&mut Vec<Entry>, &mut [u16], usize) + Sync,
    ) -> Self {
        let owners = Owners::new(table, per_block);
        let is_shared = |node: u32| owners.is_shared(node) || elsewhere(node);
        let of_block = |table: &[u32]| {
            let places = table.iter().enumerate();
            let present = places.filter(|(_, node)| **node != MISSING);
            let mut pairs: Vec<(bool, u32, u16)> = present
                .map(|(n, &node)| (is_shared(node), node, slot(n) as u16))
                .collect();
            pairs.sort_unstable();
            let mut slots: Vec<u16> = pairs.iter().map(|pair| pair.2).collect();
            let (mut entries, mut privates, mut end) = (Vec::new(), 0, 0);
            for own in pairs.chunk_by(|a, b| a.1 == b.1) {
                let (is_shared, node, _) = own[0];
                privates += usize::from(!is_shared);
                let first = end;
                end += own.len();
                let slots = first..end;
                entries.push(Entry { node, slots });
            }
            arrange(&mut entries, &mut slots, privates);
            let mut block = Self {
                blocks: vec![0, privates as u32],
                ..Self::default()
            };
            for entry in entries {
                block.list.push(entry.node);
                block.slots.extend(&slots[entry.slots]);
                block.ends.push(block.slots.len() as u16);
            }
            block.slots.resize(per_block, 0);
            block
        };
        let parts: Vec<Self> = table.par_chunks(per_block).map(of_block).collect();
        let (mut blocks, mut first) = (Vec::with_capacity(2 * parts.len() + 2), 0);
        for part in &parts {
            blocks.extend([first, part.blocks[1]]);
            first += part.list.len() as u32;
        }
        blocks.extend([first, 0]);
        let all = Self {
            blocks,
            list: concatenated(&parts, |part| &part.list),
            ends: concatenated(&parts, |part| &part.ends),
            slots: concatenated(&parts, |part| &part.slots),
        };
        parts.into_par_iter().for_each(drop);
        all
    }

    /// The operands of a kernel.
    pub fn arrays(self) -> [(Operand, Array); 4] {
        [
            (Operand::Blocks, Array::U32(self.blocks)),
            (Operand::BlockList, Array::U32(self.list)),
            (Operand::BlockEnds, Array::U16(self.ends)),
            (Operand::BlockSlots, Array::U16(self.slots)),
        ]
    }

    /// The nodes that only one block has.
    pub fn private_nodes(&self) -> impl Iterator<Item = u32> {
        let blocks = self.blocks.chunks_exact(2);
        let of_block = |block: &[u32]| block[0] as usize..(block[0] + block[1]) as usize;
        blocks
            .flat_map(move |block| &self.list[of_block(block)])
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For blocks of elements of so many nodes each, whose rows are `row` slots apart.
    fn lists(
        table: &[u32],
        (nodes, row): (usize, usize),
        per_block: usize,
        elsewhere: &[bool],
    ) -> BlockSums {
        let slot = |n: usize| n / nodes * row + n % nodes;
        let elsewhere = |node: u32| elsewhere[node as usize];
        BlockSums::of(table, nodes * per_block, slot, elsewhere, |_, _, _| ())
    }

    /// Segments in a row, two to a block; node 4 is elsewhere too.
    #[test]
    fn segments_in_blocks_of_two() {
        let mut elsewhere = [false; 6];
        elsewhere[4] = true;
        let lists = lists(&[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], (2, 5), 2, &elsewhere);
        assert_eq!(lists.blocks, [0, 2, 3, 1, 6, 1, 8, 0]);
        assert_eq!(lists.list, [0, 1, 2, 3, 2, 4, 5, 4]);
        assert_eq!(lists.ends, [1, 3, 4, 2, 3, 4, 1, 2]);
        assert_eq!(lists.slots, [0, 1, 5, 6, 1, 5, 0, 6, 1, 0, 0, 0]);
        assert!(lists.private_nodes().eq([0, 1, 3, 5]));
    }

    /// Summing by the lists equals summing element by element.
    #[test]
    fn every_contribution_is_summed_once() {
        let table: Vec<u32> = (0..60).map(|n: u32| n * 7 % 23).collect();
        for per_block in [1, 3, 4, 15, 16] {
            let lists = lists(&table, (4, 7), per_block, &[false; 23]);
            let mut sums = [0; 23];
            for (block, at) in lists.blocks.windows(3).step_by(2).enumerate() {
                let mut begin = 0;
                for entry in at[0] as usize..at[2] as usize {
                    let end = usize::from(lists.ends[entry]);
                    for slot in &lists.slots[block * 4 * per_block..][begin..end] {
                        let (element, node) = (usize::from(*slot) / 7, usize::from(*slot) % 7);
                        let n = (block * per_block + element) * 4 + node;
                        assert_eq!(table[n], lists.list[entry]);
                        sums[table[n] as usize] += n;
                    }
                    begin = end;
                }
            }
            let mut expected = [0; 23];
            for (n, &node) in table.iter().enumerate() {
                expected[node as usize] += n;
            }
            assert_eq!(sums, expected);
        }
    }
}
