//! Constraints: the sorted list of L-vector entries that have given values.

use super::{Block, Continuity, Layout, Space, SpaceError};

/// The constrained entries of L-vectors, ascending: components of the nodes on groups of facets.
///
/// Solvers work on L-vectors whose constrained entries are held at zero; the given values are inserted at
/// the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    entries: Vec<u32>,
}

impl Constraints {
    /// Constrains components of the nodes on groups of boundary cells. Each group is given by name or
    /// number, with its components.
    ///
    /// # Errors
    /// A broken space, a group that is missing or not on the boundary, a component out of range, more
    /// entries than 32 bits can count.
    pub fn new(space: &Space, groups: &[(&str, impl AsRef<[usize]>)]) -> Result<Self, SpaceError> {
        let mut entries = Vec::new();
        for (tag, components) in groups {
            let (tag, components) = (*tag, components.as_ref());
            if space.continuity() == Continuity::Broken {
                return Err(SpaceError::BrokenDirichlet { tag: tag.into() });
            }
            if let Some(&component) = components.iter().find(|&&c| c >= space.components()) {
                return Err(SpaceError::NoSuchComponent {
                    tag: tag.into(),
                    component,
                    components: space.components(),
                });
            }
            let dofs = space.dofs() as u64;
            if u32::try_from(dofs).is_err() {
                return Err(SpaceError::TooManyEntries { dofs });
            }
            for node in space.boundary_nodes(tag)? {
                let entry = |&component: &usize| space.entry(node.node as usize, component) as u32;
                entries.extend(components.iter().map(entry));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        Ok(Self { entries })
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
        entries.sort_unstable();
        entries.dedup();
        Ok(Self { entries })
    }

    /// The entries, ascending.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// Whether an entry of this component is constrained.
    pub fn has_component(&self, space: &Space, component: usize) -> bool {
        let of = |&entry: &u32| match space.layout() {
            Layout::Interleaved => entry as usize % space.components(),
            Layout::Blocked => entry as usize / space.nodes(),
        };
        self.entries.iter().any(|entry| of(entry) == component)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
