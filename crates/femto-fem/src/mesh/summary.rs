//! Summaries of meshes.

use std::collections::HashMap;
use std::fmt;

use super::ordering::bounding_box;
use super::{Mesh, PhysicalGroup};

/// Counts and extent of a mesh; its `Display` is the text of `femto mesh info`.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSummary {
    /// Number of mesh nodes.
    pub nodes: usize,
    /// Number of mesh nodes that no cell uses.
    pub unused_nodes: usize,
    /// Smallest and largest coordinates of the nodes that cells use; `None` without cells.
    pub bounding_box: Option<([f64; 3], [f64; 3])>,
    /// The blocks, in the order of the mesh.
    pub blocks: Vec<BlockSummary>,
    /// The physical groups, in the order of the mesh.
    pub groups: Vec<GroupSummary>,
    /// Number of mesh nodes with a partner, for each pair of periodic sides.
    pub periodic: Vec<usize>,
}

/// One cell type of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Name of the cell type, such as `hex27`.
    pub cell_type: &'static str,
    /// Number of cells.
    pub cells: usize,
    /// Number of them in no physical group.
    pub untagged: usize,
}

/// One physical group of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSummary {
    /// The group.
    pub group: PhysicalGroup,
    /// Number of its cells.
    pub cells: usize,
}

impl Mesh {
    /// Counts the cells per type and group, and measures the extent.
    pub fn summary(&self) -> MeshSummary {
        let mut used = vec![false; self.coordinates.len()];
        let mut sizes: HashMap<(usize, i32), usize> = HashMap::new();
        for block in &self.blocks {
            for node in block.nodes.all() {
                if let Some(used) = used.get_mut(node as usize) {
                    *used = true;
                }
            }
            for &tag in &block.tags {
                *sizes.entry((block.cell_type.dimension(), tag)).or_default() += 1;
            }
        }
        for it in &self.memberships {
            if let Some(block) = self.blocks.get(it.block as usize) {
                let dimension = block.cell_type.dimension();
                *sizes.entry((dimension, it.group)).or_default() += 1;
            }
        }
        let of_cells: Vec<[f64; 3]> = self
            .coordinates
            .iter()
            .zip(&used)
            .filter_map(|(x, used)| used.then_some(x))
            .collect();
        MeshSummary {
            nodes: self.coordinates.len(),
            unused_nodes: self.coordinates.len() - of_cells.len(),
            bounding_box: (!of_cells.is_empty()).then(|| bounding_box(&of_cells)),
            blocks: self.blocks.iter().map(BlockSummary::new).collect(),
            groups: self
                .groups
                .iter()
                .map(|group| GroupSummary {
                    group: group.clone(),
                    cells: sizes
                        .get(&(group.dimension, group.number))
                        .copied()
                        .unwrap_or(0),
                })
                .collect(),
            periodic: self
                .periodic
                .iter()
                .map(|sides| sides.nodes.len())
                .collect(),
        }
    }
}

impl BlockSummary {
    fn new(block: &super::CellBlock) -> Self {
        Self {
            cell_type: block.cell_type.name(),
            cells: block.len(),
            untagged: block.tags.iter().filter(|&&tag| tag == 0).count(),
        }
    }
}

/// A number, with an exponent where it would be long without.
struct Brief(f64);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 == 0.0 || (1e-5..1e15).contains(&self.0.abs()) {
            true => write!(f, "{}", self.0),
            false => write!(f, "{:e}", self.0),
        }
    }
}

impl fmt::Display for MeshSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nodes   {}", self.nodes)?;
        if self.unused_nodes > 0 {
            write!(f, " ({} in no cell)", self.unused_nodes)?;
        }
        if let Some((lower, upper)) = self.bounding_box {
            write!(f, "\nextent ")?;
            for (lower, upper) in lower.iter().zip(upper) {
                write!(f, " [{}, {}]", Brief(*lower), Brief(upper))?;
            }
        }
        for block in &self.blocks {
            write!(f, "\ncells   {} {}", block.cells, block.cell_type)?;
            if block.untagged > 0 {
                write!(f, " ({} in no group)", block.untagged)?;
            }
        }
        for GroupSummary { group, cells } in &self.groups {
            write!(f, "\ngroup   {group}: {cells} cells")?;
        }
        for nodes in &self.periodic {
            write!(
                f,
                "\nsides   {nodes} nodes with their partners on a periodic side"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_short() {
        let texts = [0.0, -0.5, 1e308, -2e-200, 1e14].map(|x| Brief(x).to_string());
        assert_eq!(texts, ["0", "-0.5", "1e308", "-2e-200", "100000000000000"]);
    }
}
