//! The components of a vector as slices that can be split at a node.

use super::MAX_COMPONENTS;
use femto_fem::space::Layout;
use femto_kernel::family::batch::LocalLayout;
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

    /// Overwrites the nodes with the first ones of local vector `source`.
    pub(super) fn write(&mut self, source: &[T], local: LocalLayout) {
        if self.count == 1 {
            let target = (&mut *self.slices[0], self.width);
            return match local.component {
                1 => copy_rows((source, local.node), target),
                stride => join((source, stride), target),
            };
        }
        for (component, target) in self.slices.iter_mut().enumerate().take(self.count) {
            let source = &source[component * local.component..];
            copy_strided((source, local.node), (target, 1));
        }
    }

    /// One component of one node.
    pub(super) fn at(&mut self, node: usize, component: usize) -> &mut T {
        let offset = node * self.width + component % self.width;
        &mut self.slices[component / self.width][offset]
    }
}

/// Copies one number per node, up to the shorter slice; each slice comes with its stride between nodes.
pub(super) fn copy_strided<T: Copy>(source: (&[T], usize), target: (&mut [T], usize)) {
    let ((source, from), (target, to)) = (source, target);
    if (from, to) == (1, 1) {
        copy_rows((source, 1), (target, 1));
        return;
    }
    let targets = target.iter_mut().step_by(to);
    for (target, &number) in targets.zip(source.iter().step_by(from)) {
        *target = number;
    }
}

/// Copies the numbers of nodes, up to the shorter slice; each slice comes with its numbers per node.
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
        _ => {
            for (source, target) in source.chunks_exact(from).zip(target.chunks_exact_mut(to)) {
                for (target, &number) in target.iter_mut().zip(source) {
                    *target = number;
                }
            }
        }
    }
}

/// Copies rows of `width` numbers to one slice for each, `stride` apart.
pub(super) fn split<T: Copy>((source, width): (&[T], usize), (target, stride): (&mut [T], usize)) {
    match width {
        // Fixed lengths again.
        2 => split_rows(source.as_chunks::<2>().0, target.chunks_mut(stride)),
        3 => split_rows(source.as_chunks::<3>().0, target.chunks_mut(stride)),
        _ => {
            for (n, target) in target.chunks_mut(stride).enumerate().take(width) {
                copy_strided((source.get(n..).unwrap_or_default(), width), (target, 1));
            }
        }
    }
}

/// The inverse of [`split`].
fn join<T: Copy>((source, stride): (&[T], usize), (target, width): (&mut [T], usize)) {
    match width {
        2 => join_rows(source.chunks(stride), target.as_chunks_mut::<2>().0),
        3 => join_rows(source.chunks(stride), target.as_chunks_mut::<3>().0),
        _ => {
            for (n, source) in source.chunks(stride).enumerate().take(width) {
                copy_strided(
                    (source, 1),
                    (target.get_mut(n..).unwrap_or_default(), width),
                );
            }
        }
    }
}

fn split_rows<'a, T: Copy + 'a, const C: usize>(
    rows: &[[T; C]],
    mut targets: impl Iterator<Item = &'a mut [T]>,
) {
    let mut targets: [&mut [T]; C] = std::array::from_fn(|_| targets.next().unwrap_or_default());
    let len = targets.iter().map(|target| target.len()).min().unwrap_or(0);
    let rows = &rows[..len.min(rows.len())];
    // Of the same length, so that no index is checked.
    for target in &mut targets {
        *target = &mut std::mem::take(target)[..rows.len()];
    }
    for (n, row) in rows.iter().enumerate() {
        for (target, &number) in targets.iter_mut().zip(row) {
            target[n] = number;
        }
    }
}

fn join_rows<'a, T: Copy + 'a, const C: usize>(
    mut sources: impl Iterator<Item = &'a [T]>,
    rows: &mut [[T; C]],
) {
    let sources: [&[T]; C] = std::array::from_fn(|_| sources.next().unwrap_or_default());
    let len = sources.iter().map(|source| source.len()).min().unwrap_or(0);
    let len = len.min(rows.len());
    let rows = &mut rows[..len];
    let sources = sources.map(|source| &source[..len]);
    for (n, row) in rows.iter_mut().enumerate() {
        for (number, source) in row.iter_mut().zip(sources) {
            *number = source[n];
        }
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
    fn rows_are_split_and_joined() {
        const STRIDE: usize = 11;
        for width in 1..9 {
            let source: Vec<usize> = (0..7 * width).collect();
            let mut parts = vec![usize::MAX; width * STRIDE];
            split((&source, width), (&mut parts, STRIDE));
            for (n, part) in parts.chunks(STRIDE).enumerate() {
                for (node, &number) in part.iter().enumerate() {
                    let wanted = if node < 7 {
                        node * width + n
                    } else {
                        usize::MAX
                    };
                    assert_eq!(number, wanted, "{width}");
                }
            }
            let mut joined = vec![usize::MAX; source.len()];
            join((&parts, STRIDE), (&mut joined, width));
            assert_eq!(joined, source);
        }
    }

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
