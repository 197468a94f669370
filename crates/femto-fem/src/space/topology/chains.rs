//! Lists in which edges or facets are found by their vertices.

use std::ops::Range;

use super::NONE;

/// Records of edges or facets in as many lists as there are lowest vertices. Consecutive elements use neighbouring
/// lists: faster than a hash table.
pub(in crate::space) struct Chains<R> {
    /// The lowest vertices.
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

    /// The list of an edge or facet: that of its lowest vertex, shifted by the others, so that neighbours stay close
    /// but thousands of cells around one vertex do not fill one list. Of records with the same `rest` in one list the
    /// lowest vertex is the same too.
    fn list(&self, lowest: u32, rest: &[u32]) -> usize {
        let from_first = |vertex: u32| (vertex - self.vertices.start) as usize;
        let given = rest.iter().filter(|&&vertex| vertex != NONE);
        let shift = given.map(|&vertex| from_first(vertex)).sum::<usize>() / 8;
        let list = from_first(lowest) + shift;
        match list < self.heads.len() {
            true => list,
            false => list % self.heads.len(),
        }
    }

    /// The number of the record with the vertices `lowest` and `rest` for which `same` holds.
    #[inline]
    pub(super) fn find(
        &self,
        lowest: u32,
        rest: &[u32],
        same: impl Fn(&R) -> bool,
    ) -> Option<usize> {
        let mut number = self.heads[self.list(lowest, rest)];
        while number != NONE {
            let (next, record) = &self.links[number as usize];
            if same(record) {
                return Some(number as usize);
            }
            number = *next;
        }
        None
    }

    /// Adds a record with the vertices `lowest` and `rest`; returns its number.
    pub(super) fn push(&mut self, lowest: u32, rest: &[u32], record: R) -> usize {
        let number = self.links.len();
        let list = self.list(lowest, rest);
        self.links.push((self.heads[list], record));
        self.heads[list] = number as u32;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edges of a fan around a vertex, then the triangles of one around an edge.
    #[test]
    fn lists_stay_short_in_fans() {
        let most = 10_000;
        let fans: [fn(u32) -> Vec<u32>; 2] = [|n| vec![1 + n], |n| vec![1, 2 + n, NONE]];
        for rest in fans {
            let mut chains = Chains::new(0..most + 2);
            for n in 0..most {
                chains.push(0, &rest(n), n);
            }
            for n in 0..most {
                assert_eq!(chains.find(0, &rest(n), |&it| it == n), Some(n as usize));
            }
            let length = |&head: &u32| {
                let there = |number: u32| (number != NONE).then_some(number);
                let next = |&number: &u32| there(chains.links[number as usize].0);
                std::iter::successors(there(head), next).count()
            };
            assert!(chains.heads.iter().map(length).max() < Some(10));
        }
    }
}
