//! Lists of nodes per block of cells, for `text/block_local.c`.

/// Which block a node belongs to: none yet, or several.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// What the block-local kernel reads of a mesh.
///
/// Blocks are of cells that follow each other; the better neighbours are together, as along a
/// space-filling curve, the fewer nodes a block has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLists {
    /// `[block + 1][2]`: first entry in the list; how many entries from there on are of nodes that no other
    /// block has.
    pub blocks: Vec<u32>,
    /// `[entry]`: nodes of the blocks, those of a block alone first, ascending.
    pub list: Vec<u32>,
    /// `[block][node of the cell][cell of the block]`: entries, counted from the block's first.
    pub local: Vec<u16>,
    /// `[entry]`: where in the block's slots those of the entry end.
    pub ends: Vec<u16>,
    /// `[block][slot]`: node of the cell × cells of a block + cell of the block, ascending for each entry.
    pub slots: Vec<u16>,
    /// Most nodes of a block.
    pub most_nodes: usize,
}

impl BlockLists {
    /// The lists of cells with `nodes` nodes each, `table` `[cell][node]`, for blocks of `cells_per_block`
    /// cells; those of blocks that are not full name entry 0 for cells that are not there, which no slot
    /// names. Cells times nodes of a block are below 2¹⁶ (a rule of the schedule).
    pub fn new(table: &[u32], nodes: usize, cells_per_block: usize) -> Self {
        let per_block = nodes * cells_per_block;
        let most = table.iter().copied().max().unwrap_or(0) as usize;
        let mut owner = vec![NOBODY; most + 1];
        for (block, cells) in (0..).zip(table.chunks(per_block)) {
            for &node in cells {
                let owner = &mut owner[node as usize];
                *owner = match *owner {
                    NOBODY => block,
                    own if own == block => block,
                    _ => SEVERAL,
                };
            }
        }
        let mut lists = Self::default();
        for cells in table.chunks(per_block) {
            let is_private = |node: u32| owner[node as usize] != SEVERAL;
            lists.add(cells, nodes, cells_per_block, is_private);
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

    /// Adds a block.
    fn add(
        &mut self,
        cells: &[u32],
        nodes: usize,
        cells_per_block: usize,
        is_private: impl Fn(u32) -> bool,
    ) {
        let mut own: Vec<u32> = cells.to_vec();
        own.sort_unstable();
        own.dedup();
        let (mut list, shared): (Vec<u32>, Vec<u32>) = own.iter().partition(|&&n| is_private(n));
        let privates = list.len();
        self.blocks
            .extend([self.list.len() as u32, privates as u32]);
        let start = self.local.len();
        self.local.resize(start + nodes * cells_per_block, 0);
        let entry_of = |node: u32| match is_private(node) {
            true => list[..privates].partition_point(|&other| other < node),
            false => privates + shared.partition_point(|&other| other < node),
        };
        let mut of_slots = Vec::with_capacity(cells.len());
        for (n, &node) in cells.iter().enumerate() {
            let slot = n % nodes * cells_per_block + n / nodes;
            let entry = entry_of(node) as u16;
            self.local[start + slot] = entry;
            of_slots.push((entry, slot as u16));
        }
        of_slots.sort_unstable();
        for entry in 0..own.len() {
            let end = of_slots.partition_point(|&(other, _)| usize::from(other) <= entry);
            self.ends.push(end as u16);
        }
        self.slots.extend(of_slots.iter().map(|&(_, slot)| slot));
        list.extend(shared);
        self.slots.resize(start + nodes * cells_per_block, 0);
        self.most_nodes = self.most_nodes.max(own.len());
        self.list.extend(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four triangles in a strip, in blocks of two and of three.
    #[test]
    fn a_strip_of_triangles() {
        let table = [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4];
        let lists = BlockLists::new(&table, 3, 2);
        assert_eq!((lists.len(), lists.most_nodes), (2, 4));
        assert_eq!(lists.blocks, [0, 2, 4, 2, 8, 0]);
        assert_eq!(lists.list, [0, 1, 2, 3, 4, 5, 2, 3]);
        assert_eq!(lists.shared_nodes(), [2, 3]);
        // Cells 0 1 2 and 1 3 2, nodes outermost.
        assert_eq!(lists.local[..6], [0, 1, 1, 3, 2, 2]);
        assert_eq!(lists.ends[..4], [1, 3, 5, 6]);
        assert_eq!(lists.slots[..6], [0, 1, 2, 4, 5, 3]);
        let uneven = BlockLists::new(&table, 3, 3);
        assert_eq!((uneven.len(), uneven.local.len()), (2, 18));
        assert_eq!(uneven.blocks, [0, 3, 5, 1, 8, 0]);
        assert_eq!(uneven.list, [0, 1, 2, 3, 4, 5, 3, 4]);
    }

    /// Summing through the lists is the same as summing cell after cell.
    #[test]
    fn every_slot_is_summed_once() {
        let table: Vec<u32> = (0..40).map(|n: u32| n * 7 % 11).collect();
        for cells_per_block in [1, 3, 4, 10] {
            let lists = BlockLists::new(&table, 4, cells_per_block);
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
