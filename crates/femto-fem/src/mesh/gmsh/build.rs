//! Building the mesh while a file is read.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::error::GmshError;
use super::ids::{IdSet, NodeIndex};
use crate::mesh::{
    CellBlock, CellNodes, Coordinates, Membership, Mesh, PeriodicSides, PhysicalGroup,
};
use femto_element::CellType;

/// Nodes, cells and groups read so far.
#[derive(Debug)]
pub(super) struct Builder {
    mesh: Mesh,
    /// Positions of its nodes.
    coordinates: Vec<[f64; 3]>,
    /// Nodes of the cells of each block.
    cell_nodes: Vec<Vec<u32>>,
    /// The file's numbers of cells, `[block][cell]`, if they are requested.
    numbers: Option<Vec<Vec<u64>>>,
    nodes: NodeIndex,
    elements: IdSet,
    /// Names of groups of any dimension, by number.
    names: BTreeMap<i32, String>,
    /// Dimension and number of all declared groups.
    declared: BTreeSet<(usize, i32)>,
    periodic: Vec<PeriodicEntities>,
    /// Further groups of cells, and how many there may still be: initially one for each byte of the file.
    memberships: Vec<Membership>,
    memberships_left: usize,
}

/// A pair of periodic entities.
#[derive(Debug)]
struct PeriodicEntities {
    dimension: usize,
    /// Its nodes; `None` if one of the entities is not in the file.
    pairs: Option<Vec<[u32; 2]>>,
}

impl Builder {
    pub(super) fn new(file_size: usize, keep_numbers: bool) -> Self {
        Self {
            mesh: Mesh::default(),
            coordinates: Vec::new(),
            cell_nodes: Vec::new(),
            numbers: keep_numbers.then(Vec::new),
            nodes: NodeIndex::new(file_size),
            elements: IdSet::new(file_size),
            names: BTreeMap::new(),
            declared: BTreeSet::new(),
            periodic: Vec::new(),
            memberships: Vec::new(),
            memberships_left: file_size,
        }
    }

    /// Reserves memory for nodes; the count must be bounded by the size of the file.
    pub(super) fn reserve_nodes(&mut self, count: u64) {
        self.coordinates.reserve_exact(count as usize);
    }

    #[inline]
    pub(super) fn add_node(&mut self, number: u64, x: [f64; 3]) -> Result<(), GmshError> {
        if !x.iter().all(|x| x.is_finite()) {
            let (node, position) = (number, format!("{x:?}"));
            return Err(GmshError::NotFinite { node, position });
        }
        let position = self.coordinates.len();
        let position = u32::try_from(position).map_err(|_| GmshError::Nodes)?;
        if position == u32::MAX {
            return Err(GmshError::Nodes);
        }
        if !self.nodes.insert(number, position) {
            return Err(GmshError::RepeatedNode(number));
        }
        self.coordinates.push(x);
        Ok(())
    }

    /// The number of the block of a cell type, created on first use.
    pub(super) fn block(&mut self, cell_type: CellType) -> usize {
        let blocks = &mut self.mesh.blocks;
        let found = blocks.iter().position(|b| b.cell_type == cell_type);
        found.unwrap_or_else(|| {
            self.cell_nodes.push(Vec::new());
            blocks.push(CellBlock {
                cell_type,
                nodes: CellNodes::default(),
                tags: Vec::new(),
            });
            blocks.len() - 1
        })
    }

    /// The cell type of a block.
    #[inline]
    pub(super) fn cell_type(&self, block: usize) -> CellType {
        self.mesh.blocks[block].cell_type
    }

    /// Starts a cell, whose nodes must follow by [`Builder::add_cell_node`].
    #[inline]
    pub(super) fn add_cell(
        &mut self,
        block: usize,
        element: u64,
        tag: i32,
    ) -> Result<(), GmshError> {
        if !self.elements.insert(element) {
            return Err(GmshError::RepeatedElement(element));
        }
        self.mesh.blocks[block].tags.push(tag);
        self.note_number(block, element);
        Ok(())
    }

    fn note_number(&mut self, block: usize, element: u64) {
        if let Some(numbers) = &mut self.numbers {
            numbers.resize(self.mesh.blocks.len(), Vec::new());
            numbers[block].push(element);
        }
    }

    #[inline]
    pub(super) fn add_cell_node(
        &mut self,
        block: usize,
        element: u64,
        node: u64,
    ) -> Result<(), GmshError> {
        let position = self.nodes.get(node);
        let position = position.ok_or(GmshError::MissingNode { element, node })?;
        self.cell_nodes[block].push(position);
        Ok(())
    }

    /// Adds the last cell of a block to further groups.
    pub(super) fn add_to_groups(&mut self, block: usize, groups: &[i32]) -> Result<(), GmshError> {
        let left = self.memberships_left.checked_sub(groups.len());
        self.memberships_left = left.ok_or(GmshError::Memberships)?;
        let cell = self.mesh.blocks[block].tags.len() as u32 - 1;
        let block = block as u32;
        let memberships = groups.iter();
        self.memberships
            .extend(memberships.map(|&group| Membership { block, cell, group }));
        Ok(())
    }

    pub(super) fn add_group(&mut self, group: PhysicalGroup) -> Result<(), GmshError> {
        let PhysicalGroup {
            dimension, number, ..
        } = group;
        if !self.declared.insert((dimension, number)) {
            return Err(GmshError::RepeatedGroup { dimension, number });
        }
        self.mesh.groups.push(group);
        Ok(())
    }

    /// Names the groups of a number, of any dimension.
    pub(super) fn name_groups(&mut self, number: i32, name: String) -> Result<(), GmshError> {
        match self.names.insert(number, name) {
            None => Ok(()),
            Some(_) => Err(GmshError::RepeatedName(number)),
        }
    }

    /// Starts a pair of periodic entities, whose pairs of nodes must follow by [`Builder::add_partner`].
    pub(super) fn add_periodic(&mut self, dimension: usize) {
        let pairs = Some(Vec::new());
        self.periodic.push(PeriodicEntities { dimension, pairs });
    }

    /// Adds a node and its partner to the last pair of entities. Gmsh lists entities of the whole model, even if only a
    /// part of it is in the file: one with a node that is not in the file is not there either.
    pub(super) fn add_partner(&mut self, [node, partner]: [u64; 2]) {
        let nodes = self.nodes.get(node).zip(self.nodes.get(partner));
        let Some(PeriodicEntities { pairs, .. }) = self.periodic.last_mut() else {
            return;
        };
        match nodes {
            None => *pairs = None,
            Some((node, partner)) => pairs.iter_mut().for_each(|it| it.push([node, partner])),
        }
    }

    /// The mesh, with named groups first and groups that only have cells after them, and the numbers of
    /// cells.
    pub(super) fn finish(mut self) -> (Mesh, Vec<Vec<u64>>) {
        let mut numbers = self.numbers.take().unwrap_or_default();
        numbers.resize(self.mesh.blocks.len(), Vec::new());
        self.memberships.sort_by_key(|it| (it.block, it.cell));
        let blocks = self.mesh.blocks.iter_mut().zip(self.cell_nodes);
        for ((number, (block, nodes)), numbers) in (0..).zip(blocks).zip(&mut numbers) {
            block.nodes = nodes.into();
            let first = self.memberships.partition_point(|it| it.block < number);
            let end = self.memberships.partition_point(|it| it.block <= number);
            let own = &self.memberships[first..end];
            merge_repetitions((number, block), numbers, own, &mut self.mesh.memberships);
            block.fold();
        }
        // The sides of solids are surfaces; links of their edges and corners follow from these.
        let dimension = self.mesh.dimension();
        let of_facets = self.periodic.into_iter();
        let of_facets = of_facets.filter(|it| it.dimension + 1 == dimension);
        let sides = of_facets.filter_map(|it| Some(PeriodicSides { nodes: it.pairs? }));
        self.mesh.periodic = sides.collect();
        let groups = &mut self.mesh.groups;
        let mut unnamed = BTreeSet::new();
        for block in &self.mesh.blocks {
            let mut last = 0;
            for &tag in &block.tags {
                if tag != last && tag != 0 {
                    unnamed.insert((block.cell_type.dimension(), tag));
                }
                last = tag;
            }
        }
        for &Membership { block, group, .. } in &self.mesh.memberships {
            let block = &self.mesh.blocks[block as usize];
            unnamed.insert((block.cell_type.dimension(), group));
        }
        let unnamed = unnamed.difference(&self.declared);
        groups.extend(unnamed.map(|&(dimension, number)| PhysicalGroup {
            dimension,
            number,
            name: self.names.get(&number).cloned().unwrap_or_default(),
        }));
        let columns = self.mesh.blocks.iter().find_map(|it| it.nodes.layers());
        self.mesh.coordinates = Coordinates::folded(self.coordinates, columns.map(|it| it + 1));
        (self.mesh, numbers)
    }
}

/// Merges repetitions of a cell with other groups into one cell, with a membership in each of these, and moves the
/// `further` memberships of the block's cells, ascending by cell. The first of its `numbers`, if any, is kept.
fn merge_repetitions(
    (number, block): (u32, &mut CellBlock),
    numbers: &mut Vec<u64>,
    mut further: &[Membership],
    memberships: &mut Vec<Membership>,
) {
    let (nodes, cells) = (block.cell_type.nodes(), block.len());
    // Number of cells kept so far; `own` memberships are those of the last one, `known` its groups once it is repeated.
    let (mut kept, mut own) = (0_usize, memberships.len());
    let mut known = HashSet::new();
    for cell in 0..cells {
        let tag = block.tags[cell];
        let count = further.partition_point(|it| it.cell as usize == cell);
        let (groups, others) = further.split_at(count);
        further = others;
        let groups = || groups.iter().map(|it| it.group);
        let membership = |cell: usize, group: i32| Membership {
            block: number,
            cell: cell as u32,
            group,
        };
        let before = kept.checked_sub(1);
        if let Some(last) = before.filter(|&last| *block.cell(last) == *block.cell(cell)) {
            let has_groups = tag != 0 && block.tags[last] != 0;
            if known.is_empty() {
                known.insert(block.tags[last]);
                known.extend(memberships[own..].iter().map(|it| it.group));
            }
            let all = core::iter::once(tag).chain(groups());
            if has_groups && all.clone().all(|group| !known.contains(&group)) {
                known.extend(all.clone());
                memberships.extend(all.map(|group| membership(last, group)));
                continue;
            }
        }
        if kept != cell {
            block
                .nodes
                .to_mut()
                .copy_within(cell * nodes..(cell + 1) * nodes, kept * nodes);
            block.tags[kept] = tag;
            if !numbers.is_empty() {
                numbers[kept] = numbers[cell];
            }
        }
        own = memberships.len();
        known.clear();
        memberships.extend(groups().map(|group| membership(kept, group)));
        kept += 1;
    }
    block.nodes.to_mut().truncate(kept * nodes);
    block.tags.truncate(kept);
    numbers.truncate(kept);
}
