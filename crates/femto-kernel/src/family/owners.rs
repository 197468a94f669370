//! Which block of elements has a node.

/// The only block of each node, or [`SEVERAL`].
pub(super) struct Owners(Vec<u32>);

/// Marks a missing node in a table.
const MISSING: u32 = u32::MAX;

/// Marks in place of a node's block: none yet, or several.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Owners {
    /// For blocks of `per_block` places of a table of nodes; places of `u32::MAX` have none.
    pub(super) fn new(table: &[u32], per_block: usize) -> Self {
        let present = table.iter().copied().filter(|&node| node != MISSING);
        let mut owners = vec![NOBODY; present.max().map_or(0, |most| most as usize + 1)];
        for (block, nodes) in (0..).zip(table.chunks(per_block)) {
            for &node in nodes.iter().filter(|&&node| node != MISSING) {
                let owner = &mut owners[node as usize];
                *owner = match *owner {
                    NOBODY => block,
                    own if own == block => block,
                    _ => SEVERAL,
                };
            }
        }
        Self(owners)
    }

    /// Whether several blocks have a node of the table.
    pub(super) fn is_shared(&self, node: u32) -> bool {
        self.0[node as usize] == SEVERAL
    }
}
