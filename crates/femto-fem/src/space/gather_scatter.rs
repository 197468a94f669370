//! Plain gather and scatter_add, the reference for the faster versions.

use std::ops::AddAssign;

use rayon::prelude::*;

use super::{Chunk, Layout, Restriction, Space};

impl Space {
    /// L to E: copies the values of `l` to the nodes of each element.
    ///
    /// `l` is an L-vector, `e` an E-vector, `[elements][components][nodes_per_element]`. This is the plain
    /// version, against which the faster ones inside operators are tested.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn gather<T: Copy + Default + Send + Sync>(&self, l: &[T], e: &mut [T]) {
        self.check_lengths(l.len(), e.len());
        self.restriction.gather_fields(self.fields(), l, e);
    }

    /// E to L, the transpose of [`Space::gather`]: adds the values at the nodes of all elements to
    /// `l`, an L-vector.
    ///
    /// Bitwise the same for any number of threads.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn scatter_add<T: Copy + Default + AddAssign + Send + Sync>(&self, e: &[T], l: &mut [T]) {
        self.check_lengths(l.len(), e.len());
        let (components, np) = (self.components(), self.nodes_per_element());
        let value = |element, c, position| e[(element * components + c) * np + position];
        self.restriction.scatter_add_fields(self.fields(), value, l);
    }

    fn fields(&self) -> Fields {
        Fields::new(self.layout(), self.components())
    }

    fn check_lengths(&self, l: usize, e: usize) {
        let dofs = self.dofs();
        assert!(
            l == dofs,
            "a vector of length {l} is not an L-vector ({dofs})"
        );
        let element_dofs = self.element_dofs();
        assert!(
            e == element_dofs,
            "a vector of length {e} is not an E-vector ({element_dofs})"
        );
    }
}

/// The memory layout of a vector's components: `count` fields in sequence, each with `width` numbers per
/// node.
#[derive(Clone, Copy)]
struct Fields {
    count: usize,
    width: usize,
}

impl Fields {
    fn new(layout: Layout, components: usize) -> Self {
        let (count, width) = match layout {
            Layout::Interleaved => (1, components),
            Layout::Blocked => (components, 1),
        };
        Self { count, width }
    }

    fn components(self) -> usize {
        self.count * self.width
    }
}

impl Restriction {
    /// Fills the E-vector `e` from `l`.
    fn gather_fields<T: Copy + Default + Send + Sync>(&self, fields: Fields, l: &[T], e: &mut [T]) {
        let (components, width) = (fields.components(), fields.width);
        let (nodes, np) = (self.nodes, self.nodes_per_element());
        let elements = self.chunks.iter().map(|c| c.elements.len());
        let parts = split(e, elements.map(|n| n * components * np));
        let gather_chunk = |(chunk, e): (&Chunk, &mut [T])| {
            for (element, e) in chunk
                .elements
                .clone()
                .zip(e.chunks_exact_mut(components * np))
            {
                for (position, local) in self.element(element) {
                    let node = self.node(chunk, local);
                    for c in 0..components {
                        let field = c / width * nodes * width;
                        e[c * np + position] = l[field + node * width + c % width];
                    }
                }
            }
        };
        self.chunks.par_iter().zip(parts).for_each(gather_chunk);
    }

    /// Adds `value(element, component, position)` of all element nodes to `l`.
    ///
    /// Chunks run in parallel: each sums its elements' contributions, then adds the sums of its private
    /// nodes to its own part of `l`. The sums of the other nodes are stored, and added node by node in
    /// chunk order afterwards, so that the result does not depend on the number of threads.
    fn scatter_add_fields<T: Copy + Default + AddAssign + Send + Sync>(
        &self,
        fields: Fields,
        value: impl Fn(usize, usize, usize) -> T + Sync,
        l: &mut [T],
    ) {
        let components = fields.components();
        let (mut private, mut shared) = self.split_fields(fields, l);

        let mut interface = vec![T::default(); self.interface.len() * components];
        let lists = self.chunks.iter().map(|c| c.interface.len() * components);
        let lists = split(&mut interface, lists);
        let chunks = self.chunks.par_iter().zip(&mut private).zip(lists);
        chunks.for_each(|((chunk, private), list)| {
            let sums = self.sum_chunk(chunk, components, &value);
            let (own, other) = sums.split_at(chunk.private.len() * components);
            list.copy_from_slice(other);
            for (node, sums) in own.chunks_exact(components).enumerate() {
                add(private, fields.width, node, sums);
            }
        });

        for index in 0..self.nodes - self.first_interface {
            for c in 0..components {
                let mut sum = T::default();
                for &source in self.sources(index) {
                    sum += interface[source as usize * components + c];
                }
                shared[c / fields.width][index * fields.width + c % fields.width] += sum;
            }
        }
    }

    /// Sums of the contributions of a chunk's elements to each of its nodes, `[chunk nodes][components]`.
    fn sum_chunk<T: Copy + Default + AddAssign>(
        &self,
        chunk: &Chunk,
        components: usize,
        value: &impl Fn(usize, usize, usize) -> T,
    ) -> Vec<T> {
        let mut sums = vec![T::default(); chunk.nodes() * components];
        for element in chunk.elements.clone() {
            for (position, local) in self.element(element) {
                for c in 0..components {
                    sums[local as usize * components + c] += value(element, c, position);
                }
            }
        }
        sums
    }

    /// For each chunk the parts of all fields with its private nodes, `[chunks][fields]`, and the parts of
    /// all fields with the remaining nodes, `[fields]`.
    #[allow(clippy::type_complexity)]
    fn split_fields<'l, T>(
        &self,
        fields: Fields,
        l: &'l mut [T],
    ) -> (Vec<Vec<&'l mut [T]>>, Vec<&'l mut [T]>) {
        let length = (l.len() / fields.count).max(1);
        let mut private: Vec<Vec<_>> = self.chunks.iter().map(|_| Vec::new()).collect();
        let mut shared = Vec::with_capacity(fields.count);
        for field in l.chunks_exact_mut(length) {
            let (own, other) = field.split_at_mut(self.first_interface * fields.width);
            let (_, own) = own.split_at_mut(self.private().start * fields.width);
            let lengths = self.chunks.iter().map(|c| c.private.len() * fields.width);
            for (parts, part) in private.iter_mut().zip(split(own, lengths)) {
                parts.push(part);
            }
            shared.push(other);
        }
        (private, shared)
    }
}

/// Adds the components of one node, which lies at `node` of every field.
fn add<T: Copy + AddAssign>(fields: &mut [&mut [T]], width: usize, node: usize, values: &[T]) {
    for (field, values) in fields.iter_mut().zip(values.chunks_exact(width)) {
        for (sum, &value) in field[node * width..].iter_mut().zip(values) {
            *sum += value;
        }
    }
}

/// Cuts a slice into consecutive parts of the given lengths.
pub(super) fn split<T>(slice: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = slice;
    lengths
        .map(|length| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(length);
            rest = tail;
            part
        })
        .collect()
}
