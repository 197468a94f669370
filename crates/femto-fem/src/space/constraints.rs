//! Constraints: the sorted list of L-vector entries that have given values, and nodes with a given slanted component.

use super::slanted::{NodeNormal, Slanted};
use super::{Block, Space, SpaceError};

/// The constrained entries of L-vectors, ascending: components of the nodes on groups of facets. And the nodes where
/// components along the boundary's normal are constrained ([`Constraints::with_normals`]): such a component is an
/// entry too if the normal is an axis.
///
/// Solvers work on L-vectors that are zero there; the given values are inserted at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    pub(super) entries: Vec<u32>,
    /// The entries that were constrained before normals; empty without normals.
    pub(super) given: Vec<u32>,
    pub(super) normals: Vec<NodeNormal>,
    pub(super) slanted: Slanted,
}

impl Constraints {
    /// Constrains these entries.
    pub fn of_entries(mut entries: Vec<u32>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        Self {
            entries,
            ..Self::default()
        }
    }

    /// Constrains components of the nodes on groups of boundary cells. Each group is given by name or
    /// number, with its components.
    ///
    /// # Errors
    /// A group that is missing or not on the boundary, a component out of range.
    pub fn new(space: &Space, groups: &[(&str, impl AsRef<[usize]>)]) -> Result<Self, SpaceError> {
        let mut entries = Vec::new();
        for (tag, components) in groups {
            let (tag, components) = (*tag, components.as_ref());
            if let Some(&component) = components.iter().find(|&&c| c >= space.components()) {
                return Err(SpaceError::NoSuchComponent {
                    tag: tag.into(),
                    component,
                    components: space.components(),
                });
            }
            for node in space.boundary_nodes(tag)? {
                let entry = |&component: &usize| space.entry(node.node as usize, component) as u32;
                entries.extend(components.iter().map(entry));
            }
        }
        Ok(Self::of_entries(entries))
    }

    /// Constrains all components of the nodes on groups of boundary cells.
    ///
    /// # Errors
    /// As [`Constraints::new`].
    pub fn of_all_components(space: &Space, tags: &[&str]) -> Result<Self, SpaceError> {
        let all: Vec<usize> = (0..space.components()).collect();
        let groups: Vec<_> = tags.iter().map(|&tag| (tag, &all)).collect();
        Self::new(space, &groups)
    }

    /// The constraints of all blocks of a mesh; see [`Constraints::new`].
    ///
    /// # Errors
    /// As [`Constraints::new`].
    pub fn of_blocks(
        blocks: &[Block],
        groups: &[(&str, impl AsRef<[usize]>)],
    ) -> Result<Self, SpaceError> {
        let mut entries = Vec::new();
        for block in blocks {
            entries.extend(Self::new(&block.space, groups)?.entries);
        }
        Ok(Self::of_entries(entries))
    }

    /// The entries, ascending.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// Length of the shortest L-vector that has all entries.
    pub fn reach(&self) -> usize {
        let entries = self.entries.last().map_or(0, |&entry| entry as usize + 1);
        entries.max(self.slanted.reach())
    }

    /// Whether each entry of vectors of this length is constrained, slanted directions apart.
    ///
    /// # Panics
    /// If the length is less than [`Constraints::reach`].
    pub fn is_held(&self, len: usize) -> Vec<bool> {
        let mut is_held = vec![false; len];
        let held = self.entries.iter();
        held.for_each(|&entry| is_held[entry as usize] = true);
        is_held
    }

    /// Makes an L-vector zero where it is constrained.
    ///
    /// # Panics
    /// If it is shorter than [`Constraints::reach`].
    pub fn project(&self, values: &mut [f64]) {
        for &entry in &self.entries {
            values[entry as usize] = 0.0;
        }
        self.slanted.project(values);
    }

    /// Whether an entry of this component is constrained.
    pub fn has_component(&self, space: &Space, component: usize) -> bool {
        let of = |&entry: &u32| space.node_of(entry as usize).1;
        self.entries.iter().any(|entry| of(entry) == component)
    }

    /// Number of entries and slanted directions.
    pub fn len(&self) -> usize {
        self.entries.len() + self.slanted.directions()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
