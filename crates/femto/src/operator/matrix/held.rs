//! Constrained entries of a matrix.

use femto_fem::parallel;
use femto_fem::space::Space;

/// The entries that are constrained.
pub(crate) struct Held<'a> {
    space: &'a Space,
    /// `[dofs]`, or empty.
    is_held: &'a [bool],
    /// Whether all entries of the node are, for each entry.
    is_gone: Vec<bool>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(space: &'a Space, is_held: &'a [bool]) -> Self {
        let is_gone = |entry: usize| {
            let mut components = 0..space.components();
            let (node, _) = space.node_of(entry);
            is_held[entry] && components.all(|component| is_held[space.entry(node, component)])
        };
        Self {
            space,
            is_held,
            is_gone: parallel::map(is_held.len(), is_gone),
        }
    }

    /// The row of an entry, of the identity if it is constrained, which `write` writes without constraints. Those of a node
    /// have the same columns: of all nodes of which not all entries are constrained, or of the node alone.
    pub(crate) fn write_row(
        &self,
        row: usize,
        entries: &mut Vec<(u32, f64)>,
        write: impl FnOnce(&mut Vec<(u32, f64)>),
    ) {
        if self.is_held.is_empty() {
            return write(entries);
        }
        if self.is_gone[row] {
            let (node, _) = self.space.node_of(row);
            let own = (0..self.space.components()).map(|it| self.space.entry(node, it));
            entries.extend(own.map(|entry| (entry as u32, f64::from(entry == row))));
            return;
        }
        write(entries);
        entries.retain_mut(|(column, value)| {
            let column = *column as usize;
            if self.is_held[row] || self.is_held[column] {
                *value = f64::from(column == row);
            }
            !self.is_gone[column]
        });
    }
}
