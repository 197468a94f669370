//! Which block of elements has a node.

use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The only block of each node, or [`SEVERAL`].
pub(super) struct Owners(Vec<u32>);

/// Marks a missing node in a table.
pub(super) const MISSING: u32 = u32::MAX;

/// Marks in place of a node's block: none yet, or several.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Owners {
    /// For blocks of `per_block` places of a table of nodes; places of `u32::MAX` have none.
    pub(super) fn new(table: &[u32], per_block: usize) -> Self {
        let present = table.par_iter().copied().filter(|&node| node != MISSING);
        let nodes = present.max().map_or(0, |most| most as usize + 1);
        let owners = (0..nodes).into_par_iter().map(|_| AtomicU32::new(NOBODY));
        let owners: Vec<AtomicU32> = owners.collect();
        // The outcome does not depend on the order.
        table
            .par_chunks(per_block)
            .enumerate()
            .for_each(|(block, nodes)| {
                let block = block as u32;
                for &node in nodes.iter().filter(|&&node| node != MISSING) {
                    let with = |owner: u32| match owner {
                        NOBODY => Some(block),
                        SEVERAL => None,
                        own => (own != block).then_some(SEVERAL),
                    };
                    // Fails where nothing changes.
                    let _ = owners[node as usize].fetch_update(Relaxed, Relaxed, with);
                }
            });
        Self(owners.into_par_iter().map(AtomicU32::into_inner).collect())
    }

    /// Whether several blocks have a node of the table.
    pub(super) fn is_shared(&self, node: u32) -> bool {
        self.0[node as usize] == SEVERAL
    }
}
