//! Lists of nodes per block of fans, for `text/block_local.c`.

use super::banks;
use super::fans::{Fans, NONE};
use crate::family::block_sums::BlockSums;
use rayon::prelude::*;

/// Marks a missing entry.
pub const ABSENT: u16 = u16::MAX;

/// The lists read by the block-local kernel.
///
/// Blocks consist of consecutive fans; the better neighbours are kept together, as along a space-filling
/// curve, the fewer nodes a block has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLists {
    /// The nodes of the blocks, nearly ascending: see `banks.rs`. A slot is place in the fan × fans of a block + fan in
    /// the block.
    pub sums: BlockSums,
    /// `[block][place in the fan][fan in the block]`: entries, counted from the block's first; [`ABSENT`]
    /// if a fan is shorter or missing.
    pub local: Vec<u16>,
    /// Maximum number of nodes of a block.
    pub most_nodes: usize,
    /// Number of places that have a node.
    pub filled: usize,
}

impl BlockLists {
    /// The lists for blocks of `fans_per_block` fans. The places times fans of a block are below 2¹⁶ − 1 (a rule of
    /// the schedule). Nodes for which `elsewhere` is true also belong to cells of other launches, so they are
    /// never private.
    pub fn new(fans: &Fans, fans_per_block: usize, elsewhere: impl Fn(u32) -> bool + Sync) -> Self {
        let (places, per_block) = (fans.places, fans.places * fans_per_block);
        let slot = |n: usize| n % places * fans_per_block + n / places;
        // Neighbouring threads read neighbouring nodes; ordering them by their number of slots instead, which
        // balances the sums, was slower.
        let sums = BlockSums::of(&fans.nodes, per_block, slot, elsewhere, banks::spread);
        let mut local = vec![ABSENT; sums.slots.len()];
        let slots = sums.slots.par_chunks(per_block);
        let blocks = sums.blocks.par_windows(3).step_by(2).zip(slots);
        let rows = local.par_chunks_mut(per_block).zip(blocks);
        rows.for_each(|(local, (block, slots))| {
            let mut first = 0;
            for (n, &end) in (0..).zip(&sums.ends[block[0] as usize..block[2] as usize]) {
                for &slot in &slots[first..usize::from(end)] {
                    local[usize::from(slot)] = n;
                }
                first = usize::from(end);
            }
        });
        let entries = sums.blocks.windows(3).step_by(2);
        let most = entries.map(|block| block[2] - block[0]).max();
        Self {
            most_nodes: most.unwrap_or(0) as usize,
            filled: fans.nodes.par_iter().filter(|&&node| node != NONE).count(),
            local,
            sums,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        (self.sums.blocks.len() / 2).saturating_sub(1)
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes of several blocks, ascending: they must be zeroed before sums are added.
    pub fn shared_nodes(&self) -> Vec<u32> {
        let mut shared = Vec::new();
        for block in self.sums.blocks.windows(3).step_by(2) {
            let first = block[0] + block[1];
            shared.extend(&self.sums.list[first as usize..block[2] as usize]);
        }
        shared.sort_unstable();
        shared.dedup();
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::cut_squares;
    use super::*;

    /// The nodes of some entries, ascending.
    fn nodes(lists: &BlockLists, entries: core::ops::Range<usize>) -> Vec<u32> {
        let mut nodes = lists.sums.list[entries].to_vec();
        nodes.sort_unstable();
        nodes
    }

    /// Four triangles in a strip, in blocks of two and of three.
    #[test]
    fn a_strip_of_triangles() {
        let table = [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4];
        let lists = BlockLists::new(&Fans::single(&table, 3), 2, |_| false);
        assert_eq!((lists.len(), lists.most_nodes), (2, 4));
        assert_eq!(lists.sums.blocks, [0, 2, 4, 2, 8, 0]);
        assert_eq!(nodes(&lists, 0..4), [0, 1, 2, 3]);
        assert_eq!(nodes(&lists, 4..8), [2, 3, 4, 5]);
        assert_eq!(nodes(&lists, 4..6), [4, 5]);
        assert_eq!(lists.shared_nodes(), [2, 3]);
        // Cells 0 1 2 and 1 3 2, node index slowest.
        let at = |place: usize| lists.sums.list[usize::from(lists.local[place])];
        assert_eq!([0, 1, 2, 3, 4, 5].map(at), [0, 1, 1, 3, 2, 2]);
        assert_eq!(lists.sums.ends[3], 6);
        let uneven = BlockLists::new(&Fans::single(&table, 3), 3, |node| node == 5);
        assert_eq!((uneven.len(), uneven.local.len()), (2, 18));
        assert_eq!(uneven.sums.blocks, [0, 3, 5, 0, 8, 0]);
        assert_eq!(nodes(&uneven, 5..8), [3, 4, 5]);
        assert_eq!(uneven.local[10..12], [ABSENT, ABSENT]);
        assert_eq!((uneven.filled, uneven.sums.slots.len()), (12, 18));
    }

    /// The same four triangles in two fans of two.
    #[test]
    fn a_strip_in_fans() {
        let fans = Fans::new(&[0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4], 3, 2, 2);
        let lists = BlockLists::new(&fans, 2, |_| false);
        assert_eq!((lists.len(), lists.most_nodes, lists.filled), (1, 6, 8));
        assert_eq!(nodes(&lists, 0..6), [0, 1, 2, 3, 4, 5]);
        let mut slots = lists.sums.slots.clone();
        slots.sort_unstable();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// Summing through the lists equals summing cell after cell.
    #[test]
    fn every_slot_is_summed_once() {
        let table: Vec<u32> = (0..40).map(|n: u32| n * 7 % 11).collect();
        for cells_per_block in [1, 3, 4, 10] {
            let lists = BlockLists::new(&Fans::single(&table, 4), cells_per_block, |_| false);
            let per_block = 4 * cells_per_block;
            let mut sums = [0; 11];
            for block in 0..lists.len() {
                let (first, end) = (
                    lists.sums.blocks[2 * block],
                    lists.sums.blocks[2 * block + 2],
                );
                let mut begin = 0;
                for entry in first as usize..end as usize {
                    for slot in begin..usize::from(lists.sums.ends[entry]) {
                        let at = usize::from(lists.sums.slots[block * per_block + slot]);
                        let cell = block * cells_per_block + at % cells_per_block;
                        let n = 4 * cell + at / cells_per_block;
                        assert_eq!(table[n], lists.sums.list[entry]);
                        let local = usize::from(lists.local[block * per_block + at]);
                        assert_eq!(local, entry - first as usize);
                        sums[lists.sums.list[entry] as usize] += n;
                    }
                    begin = usize::from(lists.sums.ends[entry]);
                }
            }
            let mut expected = [0; 11];
            for (n, &node) in table.iter().enumerate() {
                expected[node as usize] += n;
            }
            assert_eq!(sums, expected);
        }
    }

    /// On a grid of squares cut in two: private nodes are correct, and do not depend on the number of
    /// threads.
    #[test]
    fn lists_do_not_depend_on_threads() {
        let table = cut_squares(40).concat();
        let make = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let lists = || BlockLists::new(&Fans::new(&table, 3, 4, 64), 64, |node| node < 100);
            pool.build().unwrap().install(lists)
        };
        let lists = make(1);
        assert!(lists == make(4));
        let mut blocks_of = vec![0; 41 * 41];
        for &node in &lists.sums.list {
            blocks_of[node as usize] += 1;
        }
        for block in 0..lists.len() {
            let [first, privates, end] =
                [0, 1, 2].map(|n| lists.sums.blocks[2 * block + n] as usize);
            assert!(end - first > 64 && !privates.is_multiple_of(32));
            for (n, &node) in lists.sums.list[first..end].iter().enumerate() {
                let is_private = blocks_of[node as usize] == 1 && node >= 100;
                assert_eq!(n < privates, is_private, "node {node}");
            }
        }
    }
}
