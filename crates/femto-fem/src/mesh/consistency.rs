//! Whether a mesh's lists fit each other, and its nodes are somewhere.

use super::{CellBlock, CellNodes, Membership, Mesh, MeshError};
use crate::parallel;

impl Mesh {
    /// What lists contradict each other, in words; meshes of files have no such lists.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let of_block = |block: &CellBlock| {
            let (nodes, of_cell) = (block.nodes.len(), block.cell_type.nodes());
            if let CellNodes::Columns(columns) = &block.nodes
                && !columns.are_of(block.cell_type)
            {
                let name = block.cell_type.name();
                return Some(format!("columns of other cells in a block of cells {name}"));
            }
            let is_whole = nodes.is_multiple_of(of_cell) && block.tags.len() == block.len();
            let (name, tags) = (block.cell_type.name(), block.tags.len());
            (!is_whole).then(|| {
                format!("{nodes} nodes and {tags} tags of cells {name}, of {of_cell} nodes each")
            })
        };
        let is_there = |it: &&Membership| {
            let block = self.blocks.get(it.block as usize);
            block.is_some_and(|block| (it.cell as usize) < block.len())
        };
        let mut memberships = self.memberships.iter();
        let is_sorted = self.memberships.is_sorted_by_key(|it| (it.block, it.cell));
        self.blocks.iter().find_map(of_block).or_else(|| {
            let nowhere = |node: usize| {
                let x = self.coordinates.at(node);
                (!x.iter().all(|x| x.is_finite())).then_some((node, x))
            };
            if let Some((node, x)) = parallel::find_first(self.coordinates.len(), nowhere) {
                return Some(format!("node {node} is at {x:?}"));
            }
            if let Some(it) = memberships.find(|it| !is_there(it)) {
                return Some(format!(
                    "cell {} of block {} is in group {}, but missing",
                    it.cell, it.block, it.group
                ));
            }
            if !is_sorted {
                return Some("memberships that do not ascend by block and cell".to_owned());
            }
            let mut periodic = self.periodic.iter().flat_map(|sides| &sides.nodes);
            let [node, other] = periodic.find(|pair| pair.iter().any(|&node| self.lacks(node)))?;
            Some(format!(
                "periodic sides join nodes {node} and {other}, of which one is missing"
            ))
        })
    }

    /// Fails if lists contradict each other, or cells have nodes that are missing.
    pub(super) fn check_lists(&self) -> Result<(), MeshError> {
        let missing = || {
            let of_block = |block: &CellBlock| {
                if !block.nodes.all().any(|node| self.lacks(node)) {
                    return None;
                }
                let lacking = |cell: usize| {
                    let missing = block
                        .cell(cell)
                        .iter()
                        .copied()
                        .find(|&it| self.lacks(it))?;
                    Some((cell, block.cell_type.name(), missing))
                };
                (0..block.len()).find_map(lacking)
            };
            let (cell, name, node) = self.blocks.iter().find_map(of_block)?;
            Some(format!(
                "cell {cell} of a block of cells {name} has node {node}, which is missing"
            ))
        };
        match self.contradiction().or_else(missing) {
            Some(what) => Err(MeshError::Contradiction { what }),
            None => Ok(()),
        }
    }

    fn lacks(&self, node: u32) -> bool {
        node as usize >= self.coordinates.len()
    }
}
