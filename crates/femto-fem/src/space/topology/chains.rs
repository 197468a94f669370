//! Lists of edges or facets by their lowest vertex.

use std::ops::Range;

use super::NONE;

/// Records in one list per lowest vertex. Only a handful of edges or faces share theirs, and consecutive
/// elements use the same lists: faster than a hash table.
pub(in crate::space) struct Chains<R> {
    /// The vertices that have a list.
    pub(super) vertices: Range<u32>,
    /// First record of each list, or [`NONE`].
    heads: Vec<u32>,
    /// The next record of the same list, or [`NONE`], and the record.
    pub(super) links: Vec<(u32, R)>,
}

impl<R> Chains<R> {
    pub(super) fn new(vertices: Range<u32>) -> Self {
        Self {
            heads: vec![NONE; vertices.len()],
            // A grid has about three edges and three faces per vertex.
            links: Vec::with_capacity(3 * vertices.len()),
            vertices,
        }
    }

    /// The number of the record at `vertex` for which `same` holds.
    pub(super) fn find(&self, vertex: u32, same: impl Fn(&R) -> bool) -> Option<usize> {
        let mut number = self.heads[(vertex - self.vertices.start) as usize];
        while number != NONE {
            let (next, record) = &self.links[number as usize];
            if same(record) {
                return Some(number as usize);
            }
            number = *next;
        }
        None
    }

    /// Adds a record at `vertex`; returns its number.
    pub(super) fn push(&mut self, vertex: u32, record: R) -> usize {
        let number = self.links.len();
        let head = &mut self.heads[(vertex - self.vertices.start) as usize];
        self.links.push((*head, record));
        *head = number as u32;
        number
    }
}
