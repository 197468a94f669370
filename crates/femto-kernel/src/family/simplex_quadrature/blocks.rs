//! Lists of nodes per block of fans, for `text/block_local.c`.

use super::fans::{Fans, NONE};

/// In place of an entry that is not there.
pub const ABSENT: u16 = u16::MAX;

/// Which block a node belongs to: none yet, or several.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// What the block-local kernel reads of a mesh.
///
/// Blocks are of fans that follow each other; the better neighbours are together, as along a
/// space-filling curve, the fewer nodes a block has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLists {
    /// `[block + 1][2]`: first entry in the list; how many entries from there on are of nodes that no other
    /// block has.
    pub blocks: Vec<u32>,
    /// `[entry]`: nodes of the blocks, those of a block alone first, ascending.
    pub list: Vec<u32>,
    /// `[block][place of the fan][fan of the block]`: entries, counted from the block's first; [`ABSENT`] where
    /// a fan is shorter or is not there.
    pub local: Vec<u16>,
    /// `[entry]`: where in the block's slots those of the entry end.
    pub ends: Vec<u16>,
    /// `[block][slot]`: place of the fan × fans of a block + fan of the block, ascending for each entry.
    pub slots: Vec<u16>,
    /// Most nodes of a block.
    pub most_nodes: usize,
    /// Places that have a node.
    pub filled: usize,
}

impl BlockLists {
    /// The lists for blocks of `fans_per_block` fans. Places times fans of a block are below 2¹⁶ − 1 (a rule of
    /// the schedule).
    pub fn new(fans: &Fans, fans_per_block: usize) -> Self {
        let per_block = fans.places * fans_per_block;
        let nodes = || fans.nodes.iter().filter(|&&node| node != NONE);
        let most = nodes().copied().max().unwrap_or(0) as usize;
        let mut owner = vec![NOBODY; most + 1];
        for (block, fans) in (0..).zip(fans.nodes.chunks(per_block)) {
            for &node in fans.iter().filter(|&&node| node != NONE) {
                let owner = &mut owner[node as usize];
                *owner = match *owner {
                    NOBODY => block,
                    own if own == block => block,
                    _ => SEVERAL,
                };
            }
        }
        let mut lists = Self {
            filled: nodes().count(),
            ..Self::default()
        };
        for nodes in fans.nodes.chunks(per_block) {
            let is_private = |node: u32| owner[node as usize] != SEVERAL;
            lists.add(nodes, fans.places, fans_per_block, is_private);
        }
        lists.blocks.extend([lists.list.len() as u32, 0]);
        lists
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len() / 2 - 1
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes that several blocks have, ascending: those that must be zero before sums are added.
    pub fn shared_nodes(&self) -> Vec<u32> {
        let mut shared = Vec::new();
        for pair in self.blocks.windows(4).step_by(2) {
            let [first, privates, end, _] = *pair else {
                continue;
            };
            shared.extend(&self.list[(first + privates) as usize..end as usize]);
        }
        shared.sort_unstable();
        shared.dedup();
        shared
    }

    /// Adds a block of fans with nodes `[fan][place]`.
    fn add(
        &mut self,
        nodes: &[u32],
        places: usize,
        fans_per_block: usize,
        is_private: impl Fn(u32) -> bool,
    ) {
        // Each node with its slots, in their order.
        let present = nodes.iter().enumerate().filter(|(_, node)| **node != NONE);
        let slot = |n: usize| (n % places * fans_per_block + n / places) as u16;
        let mut slots: Vec<(u32, u16)> = present.map(|(n, &node)| (node, slot(n))).collect();
        slots.sort_unstable();
        let mut entries: Vec<&[(u32, u16)]> = slots.chunk_by(|a, b| a.0 == b.0).collect();
        // Those of a block alone first. Neighbouring threads read neighbouring nodes: in the order of their slots
        // they would have as many to sum, which was slower.
        entries.sort_by_key(|own| !is_private(own[0].0));
        let privates = entries.iter().filter(|own| is_private(own[0].0)).count();
        self.blocks
            .extend([self.list.len() as u32, privates as u32]);
        let start = self.local.len();
        let end = start + places * fans_per_block;
        self.local.resize(end, ABSENT);
        for (entry, own) in entries.iter().enumerate() {
            for &(_, slot) in *own {
                self.local[start + usize::from(slot)] = entry as u16;
                self.slots.push(slot);
            }
            self.list.push(own[0].0);
            self.ends.push((self.slots.len() - start) as u16);
        }
        self.slots.resize(end, 0);
        self.most_nodes = self.most_nodes.max(entries.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four triangles in a strip, in blocks of two and of three.
    #[test]
    fn a_strip_of_triangles() {
        let table = [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4];
        let lists = BlockLists::new(&Fans::single(&table, 3), 2);
        assert_eq!((lists.len(), lists.most_nodes), (2, 4));
        assert_eq!(lists.blocks, [0, 2, 4, 2, 8, 0]);
        assert_eq!(lists.list, [0, 1, 2, 3, 4, 5, 2, 3]);
        assert_eq!(lists.shared_nodes(), [2, 3]);
        // Cells 0 1 2 and 1 3 2, nodes outermost.
        assert_eq!(lists.local[..6], [0, 1, 1, 3, 2, 2]);
        assert_eq!(lists.ends[..4], [1, 3, 5, 6]);
        assert_eq!(lists.slots[..6], [0, 1, 2, 4, 5, 3]);
        let uneven = BlockLists::new(&Fans::single(&table, 3), 3);
        assert_eq!((uneven.len(), uneven.local.len()), (2, 18));
        assert_eq!(uneven.blocks, [0, 3, 5, 1, 8, 0]);
        assert_eq!(uneven.list, [0, 1, 2, 3, 4, 5, 3, 4]);
        assert_eq!(uneven.local[9..12], [1, ABSENT, ABSENT]);
        assert_eq!((uneven.filled, uneven.slots.len()), (12, 18));
    }

    /// The same four in two fans of two.
    #[test]
    fn a_strip_in_fans() {
        let fans = Fans::new(&[0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4], 3, 2, 2);
        let lists = BlockLists::new(&fans, 2);
        assert_eq!((lists.len(), lists.most_nodes, lists.filled), (1, 6, 8));
        assert_eq!(lists.list, [0, 1, 2, 3, 4, 5]);
        let mut slots = lists.slots.clone();
        slots.sort_unstable();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// Summing through the lists is the same as summing cell after cell.
    #[test]
    fn every_slot_is_summed_once() {
        let table: Vec<u32> = (0..40).map(|n: u32| n * 7 % 11).collect();
        for cells_per_block in [1, 3, 4, 10] {
            let lists = BlockLists::new(&Fans::single(&table, 4), cells_per_block);
            let per_block = 4 * cells_per_block;
            let mut sums = [0; 11];
            for block in 0..lists.len() {
                let (first, end) = (lists.blocks[2 * block], lists.blocks[2 * block + 2]);
                let mut begin = 0;
                for entry in first as usize..end as usize {
                    for slot in begin..usize::from(lists.ends[entry]) {
                        let at = usize::from(lists.slots[block * per_block + slot]);
                        let cell = block * cells_per_block + at % cells_per_block;
                        let n = 4 * cell + at / cells_per_block;
                        assert_eq!(table[n], lists.list[entry]);
                        let local = usize::from(lists.local[block * per_block + at]);
                        assert_eq!(local, entry - first as usize);
                        sums[lists.list[entry] as usize] += n;
                    }
                    begin = usize::from(lists.ends[entry]);
                }
            }
            let mut expected = [0; 11];
            for (n, &node) in table.iter().enumerate() {
                expected[node as usize] += n;
            }
            assert_eq!(sums, expected);
        }
    }
}
