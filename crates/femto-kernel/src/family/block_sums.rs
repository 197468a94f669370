//! Lists by which a block of threads sums what its elements contribute to a node before anything leaves it.

use super::owners::Owners;
use super::{Array, Operand};
use rayon::prelude::*;

/// The lists of all blocks, which consist of consecutive elements: the better neighbours are kept together, as along a
/// space-filling curve, the fewer nodes a block has. A slot is where an element contributes to a node:
/// element in the block × row + node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSums {
    /// `[block + 1][2]`: first entry in the list; number of entries from there on whose nodes no other block has.
    pub blocks: Vec<u32>,
    /// `[entry]`: nodes of the blocks, private ones first, otherwise ascending.
    pub list: Vec<u32>,
    /// `[entry]`: end of the entry's slots among those of the block.
    pub ends: Vec<u16>,
    /// `[block][slot]`: slots, grouped by entry, ascending.
    pub slots: Vec<u16>,
}

impl BlockSums {
    /// The lists for blocks of `per_block` elements of a table of nodes `[element][node]` with `nodes` each, whose rows
    /// are `row` slots apart: below 2¹⁶ together. Nodes that are `elsewhere` also belong to elements of other launches,
    /// and are never private.
    pub fn new(
        table: &[u32],
        (nodes, row): (usize, usize),
        per_block: usize,
        elsewhere: &[bool],
    ) -> Self {
        let owners = Owners::new(table, nodes * per_block);
        let is_shared = |node: u32| owners.is_shared(node) || elsewhere[node as usize];
        let of_block = |table: &[u32]| {
            let slot = |n: usize| (n / nodes * row + n % nodes) as u16;
            let places = table.iter().enumerate();
            let mut slots: Vec<(bool, u32, u16)> = places
                .map(|(n, &node)| (is_shared(node), node, slot(n)))
                .collect();
            slots.sort_unstable();
            slots
        };
        let blocks: Vec<_> = table.par_chunks(nodes * per_block).map(of_block).collect();
        let mut lists = Self::default();
        for block in blocks {
            let first = lists.list.len() as u32;
            let start = lists.slots.len();
            let mut privates = 0;
            for entry in block.chunk_by(|a, b| a.1 == b.1) {
                lists.list.push(entry[0].1);
                privates += u32::from(!entry[0].0);
                lists.slots.extend(entry.iter().map(|&(_, _, slot)| slot));
                lists.ends.push((lists.slots.len() - start) as u16);
            }
            lists.blocks.extend([first, privates]);
            lists.slots.resize(start + nodes * per_block, 0);
        }
        lists.blocks.extend([lists.list.len() as u32, 0]);
        lists
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

    /// Segments in a row, two to a block; node 4 is elsewhere too.
    #[test]
    fn segments_in_blocks_of_two() {
        let mut elsewhere = [false; 6];
        elsewhere[4] = true;
        let lists = BlockSums::new(&[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], (2, 5), 2, &elsewhere);
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
            let lists = BlockSums::new(&table, (4, 7), per_block, &[false; 23]);
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
