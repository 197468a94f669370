//! The components of a vector as slices, and copies between them and local vectors.

use super::MAX_COMPONENTS;
use femto_fem::space::{Chunk, Layout};
use femto_kernel::family::batch::row_len;
use femto_kernel::form::MAX_FIELDS;
use femto_kernel::scalar::Real;

/// A vector's nodes from some node on: `count` slices (one, or one per component) of `width` numbers per
/// node.
pub(super) struct Fields<'a, T> {
    slices: [&'a mut [T]; MAX_COMPONENTS],
    count: usize,
    width: usize,
}

/// Number of slices in a vector, and numbers per node in each.
pub(super) fn split_components(layout: Layout, components: usize) -> (usize, usize) {
    match layout {
        Layout::Interleaved => (1, components),
        Layout::Blocked => (components, 1),
    }
}

impl<'a, T: Real> Fields<'a, T> {
    pub(super) fn new(vector: &'a mut [T], layout: Layout, components: usize) -> Self {
        let (count, width) = split_components(layout, components);
        let length = (vector.len() / count).max(1);
        let mut parts = vector.chunks_exact_mut(length);
        let slices = core::array::from_fn(|_| parts.next().unwrap_or_default());
        Self {
            slices,
            count,
            width,
        }
    }

    /// The first `nodes` nodes, and the rest.
    pub(super) fn split_at(self, nodes: usize) -> (Self, Self) {
        let Self {
            slices,
            count,
            width,
        } = self;
        let mut tails: [&mut [T]; MAX_COMPONENTS] = Default::default();
        let mut heads: [&mut [T]; MAX_COMPONENTS] = Default::default();
        for ((slice, head), tail) in slices
            .into_iter()
            .zip(&mut heads)
            .zip(&mut tails)
            .take(count)
        {
            (*head, *tail) = slice.split_at_mut((nodes * width).min(slice.len()));
        }
        (
            Self {
                slices: heads,
                count,
                width,
            },
            Self {
                slices: tails,
                count,
                width,
            },
        )
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.slices[0].len() / self.width
    }

    /// Overwrites the first nodes with those of local vector `source`.
    pub(super) fn write(&mut self, nodes: usize, source: &[T]) {
        let (width, row) = (self.width, row_len(self.count * self.width));
        for (n, target) in self.slices().iter_mut().enumerate() {
            copy_rows((&source[n..], row), (&mut target[..nodes * width], width));
        }
    }

    /// The slices.
    pub(super) fn slices(&mut self) -> &mut [&'a mut [T]] {
        &mut self.slices[..self.count]
    }

    /// Numbers per node in each slice.
    pub(super) fn width(&self) -> usize {
        self.width
    }
}

/// An L-vector: layout, components and numbers.
pub(super) type LVector<'a, T> = (Layout, usize, &'a [T]);

// Auxiliary fields are such vectors too.
const _: () = assert!(MAX_FIELDS <= MAX_COMPONENTS);

/// The slices of an L-vector from the first private node of a chunk on.
pub(super) struct Slices<'a, T> {
    slices: [&'a [T]; MAX_COMPONENTS],
    count: usize,
}

impl<'a, T> Slices<'a, T> {
    pub(super) fn new(chunk: &Chunk, (layout, components, u): LVector<'a, T>) -> Self {
        let (count, width) = split_components(layout, components);
        let length = u.len().checked_div(count).unwrap_or(0).max(1);
        let mut parts = u.chunks_exact(length);
        let slice = |_| match parts.next() {
            Some(part) => &part[chunk.private.start * width..],
            None => &[],
        };
        Self {
            slices: core::array::from_fn(slice),
            count,
        }
    }

    pub(super) fn get(&self) -> &[&'a [T]] {
        &self.slices[..self.count]
    }
}

/// Copies the numbers of nodes, up to the shorter slice and the shorter row; each slice comes with its numbers
/// per node.
pub(super) fn copy_rows<T: Copy>(source: (&[T], usize), target: (&mut [T], usize)) {
    let ((source, from), (target, to)) = (source, target);
    match (from, to) {
        _ if from == to => {
            let len = source.len().min(target.len());
            target[..len].copy_from_slice(&source[..len]);
        }
        // Fixed lengths make this several times faster.
        (3, 4) => copy_triples(source.as_chunks::<3>().0, target.as_chunks_mut::<4>().0),
        (4, 3) => copy_triples(source.as_chunks::<4>().0, target.as_chunks_mut::<3>().0),
        (1, _) => {
            for (target, &number) in target.iter_mut().step_by(to).zip(source) {
                *target = number;
            }
        }
        (_, 1) => {
            for (target, &number) in target.iter_mut().zip(source.iter().step_by(from)) {
                *target = number;
            }
        }
        _ => {
            for (source, target) in source.chunks(from).zip(target.chunks_mut(to)) {
                for (target, &number) in target.iter_mut().zip(source) {
                    *target = number;
                }
            }
        }
    }
}

/// Copies the rows of listed nodes to one row after the other; each slice comes with its numbers per node.
pub(super) fn pick_rows<T: Copy>(source: (&[T], usize), nodes: &[u32], target: (&mut [T], usize)) {
    match source.1 {
        // Fixed lengths again.
        1 => pick::<T, 1>(source.0, nodes, target),
        2 => pick::<T, 2>(source.0, nodes, target),
        3 => pick::<T, 3>(source.0, nodes, target),
        from => {
            for (&node, target) in nodes.iter().zip(target.0.chunks_mut(target.1)) {
                target[..from].copy_from_slice(&source.0[node as usize * from..][..from]);
            }
        }
    }
}

fn pick<T: Copy, const W: usize>(source: &[T], nodes: &[u32], (target, to): (&mut [T], usize)) {
    let rows = source.as_chunks::<W>().0;
    for (&node, target) in nodes.iter().zip(target.chunks_mut(to)) {
        target[..W].copy_from_slice(&rows[node as usize]);
    }
}

fn copy_triples<T: Copy, const S: usize, const R: usize>(source: &[[T; S]], target: &mut [[T; R]]) {
    for (source, target) in source.iter().zip(target) {
        target[..3].copy_from_slice(&source[..3]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_lengths_are_copied() {
        for from in 1..9 {
            for to in 1..9 {
                let source: Vec<usize> = (0..5 * from).collect();
                let mut target = vec![usize::MAX; 4 * to];
                copy_rows((&source, from), (&mut target, to));
                for (node, row) in target.chunks(to).enumerate() {
                    for (n, &number) in row.iter().enumerate().take(from) {
                        assert_eq!(number, node * from + n, "{from} {to}");
                    }
                }
            }
        }
    }
}
