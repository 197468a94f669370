//! Traversal of chunks and batches, and the sums of shared nodes.

use super::ahead::Ahead;
use super::fields::{Fields, LVector, Slices, copy_rows, pick_rows, split_components};
use super::{Action, HostBound, HostSegment, Offsets, Scratch};
use crate::Number;
use femto_fem::space::{Chunk, Layout};
use femto_kernel::family::EvalContext;
use femto_kernel::family::batch::{
    Batch, ElementKernel, Nodes, Source, Target, Vertices, Workspace, row_len,
};
use femto_platform::device::{Device, DeviceError};
use femto_platform::stream::prefetch;
use std::ops::Range;

/// Cache lines of the next batch's geometry and interior nodes to prefetch; the hardware prefetcher follows longer
/// streams by itself.
pub(super) const PREFETCH_LINES: usize = 32;

/// Shared nodes summed by one task.
const SHARED_GRAIN: usize = 8192;

/// The input of element operators.
#[derive(Clone, Copy)]
pub(super) enum ElementInput<'a, T> {
    /// An E-vector.
    Vector(&'a [T]),
    /// The one that is one at this number of each element.
    Unit(usize),
}

impl<T> ElementInput<'_, T> {
    /// That of the elements before and from this place on.
    fn split_at(self, place: usize) -> [Self; 2] {
        match self {
            Self::Vector(u) => [&u[..place], &u[place..]].map(Self::Vector),
            Self::Unit(column) => [Self::Unit(column), Self::Unit(column)],
        }
    }
}

impl<T: Number> HostBound<T> {
    /// Applies, or sums diagonals, from L-vector `u` into `v`.
    pub(super) fn traverse(
        &self,
        action: Action,
        context: &EvalContext,
        u: &[T],
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let pass = Pass {
            bound: self,
            action,
            context,
            u,
        };
        let fields = Fields::new(v, self.layout, self.components);
        let mut shared = self.take_shared()?;
        let done = self.host.enter(|| {
            let (private, rest) = fields.split_at(self.restriction.first_interface);
            let own = self.restriction.private();
            let (_, private) = private.split_at(own.start);
            let (private, _) = private.split_at(own.len());
            let chunks = 0..self.restriction.chunks.len();
            pass.chunks(chunks, private, &mut shared)?;
            self.sum_shared(0, rest, &shared);
            Ok(())
        });
        self.shared.put(shared);
        done
    }

    /// Sums the chunks' contributions to shared nodes from `first` on, in chunk order; for a space's first
    /// block they are the result, for later blocks they are added to it.
    fn sum_shared(&self, first: usize, mut nodes: Fields<'_, T>, shared: &[T]) {
        let count = nodes.nodes();
        if count > SHARED_GRAIN {
            let half = count / 2;
            let (left, right) = nodes.split_at(half);
            self.host.join(
                || self.sum_shared(first, left, shared),
                || self.sum_shared(first + half, right, shared),
            );
            return;
        }
        let (components, width) = (self.components, nodes.width());
        let adds = self.restriction.block > 0;
        for (n, slice) in nodes.slices().iter_mut().enumerate() {
            let rows = slice.chunks_exact_mut(width);
            for (row, sources) in rows.zip(self.restriction.sources_from(first)) {
                for (component, number) in (n..).zip(row) {
                    let mut sum = if adds { *number } else { T::default() };
                    for &source in sources {
                        sum += shared[source as usize * components + component];
                    }
                    *number = sum;
                }
            }
        }
    }

    /// The element operators to an E-vector, chunk by chunk.
    pub(super) fn traverse_elements(
        &self,
        context: &EvalContext,
        u: ElementInput<'_, T>,
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let chunks = 0..self.restriction.chunks.len();
        self.host
            .enter(|| self.element_chunks(chunks, context, u, v))
    }

    fn element_chunks(
        &self,
        chunks: Range<usize>,
        context: &EvalContext,
        u: ElementInput<'_, T>,
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let numbers = self.components * self.restriction.nodes_per_element();
        if chunks.len() > 1 {
            let half = chunks.start + chunks.len() / 2;
            let elements = self.restriction.chunks[chunks.start..half]
                .iter()
                .map(|c| c.elements.len());
            let cut = elements.sum::<usize>() * numbers;
            let [u_left, u_right] = u.split_at(cut);
            let (v_left, v_right) = v.split_at_mut(cut);
            let (left, right) = self.host.join(
                || self.element_chunks(chunks.start..half, context, u_left, v_left),
                || self.element_chunks(half..chunks.end, context, u_right, v_right),
            );
            return left.and(right);
        }
        let mut scratch = self.take_scratch()?;
        let mut nodal = Vec::new();
        let units = match u {
            ElementInput::Vector(_) => Vec::new(),
            ElementInput::Unit(column) => self.units(column, numbers),
        };
        for chunk in chunks {
            let start = self.restriction.chunks[chunk].elements.start;
            for segment in &self.segments[chunk] {
                let (kernel, workspace) = self.kernel(segment, &mut scratch.workspaces);
                let mut first = segment.elements.start;
                self.batches((chunk, segment), context, |batch| {
                    let elements = first..first + batch.elements;
                    first = elements.end;
                    self.element_fields(elements.clone(), &mut nodal);
                    let batch = Batch {
                        nodes: Nodes::Element,
                        nodal: Source::of(&nodal),
                        ..*batch
                    };
                    let range =
                        (elements.start - start) * numbers..(elements.end - start) * numbers;
                    let u = match u {
                        ElementInput::Vector(u) => &u[range.clone()],
                        ElementInput::Unit(_) => &units[..range.len()],
                    };
                    kernel.apply(&batch, Source::of(u), Target::of(&mut v[range]), workspace);
                });
            }
        }
        self.scratch.put(scratch);
        Ok(())
    }

    /// A batch of unit vectors of elements.
    fn units(&self, column: usize, numbers: usize) -> Vec<T> {
        let mut units = vec![T::default(); self.lanes() * numbers];
        let elements = units.chunks_exact_mut(numbers);
        elements.for_each(|element| element[column] = T::from_f64(1.0));
        units
    }

    /// The auxiliary fields in the solution's space at the elements' nodes, `[element][field][node]`.
    fn element_fields(&self, elements: Range<usize>, out: &mut Vec<T>) {
        let np = self.restriction.nodes_per_element();
        let fields = self.fields;
        out.clear();
        if fields == 0 {
            return;
        }
        out.resize(elements.len() * fields * np, T::default());
        for (element, out) in elements.zip(out.chunks_exact_mut(fields * np)) {
            let chunk = &self.restriction.chunks[self.restriction.chunk_of(element)];
            for (position, local) in self.restriction.element(element) {
                let node = self.restriction.node(chunk, local);
                let values = self.nodal.chunks_exact(self.restriction.nodes);
                for (out, values) in out.chunks_exact_mut(np).zip(values) {
                    out[position] = values[node];
                }
            }
        }
    }

    /// The kernel of a segment, and a thread's memory for it.
    fn kernel<'s>(
        &self,
        segment: &HostSegment,
        workspaces: &'s mut [Workspace],
    ) -> (&dyn ElementKernel<T>, &'s mut Workspace) {
        (&*self.kernels[segment.kind], &mut workspaces[segment.kind])
    }

    /// Calls `body` with each batch of a segment, after prefetching the data of the next batch.
    fn batches(
        &self,
        (chunk, segment): (usize, &HostSegment),
        context: &EvalContext,
        mut body: impl FnMut(&Batch<'_, T>),
    ) {
        let kernel = &self.kernels[segment.kind];
        let (lanes, geometry_len) = (kernel.lanes(), kernel.geometry_len());
        let [constants_len, points_len] = self.own_fields[segment.kind].map(|count| count * lanes);
        let fields_len = constants_len + points_len;
        let table_len = self.nodes.len(lanes);
        let vertex_len = ((self.dim + 1) * lanes).min(table_len);
        let Offsets {
            geometry,
            auxiliary,
            tables,
        } = segment.start;
        // The rest, not read yet.
        let mut geometry = &self.arrays.geometry[geometry..];
        let mut fields = &self.arrays.auxiliary[auxiliary..];
        let mut tables = &self.arrays.tables[tables..];
        let coordinates = self.arrays.vertices(chunk);
        let mut left = segment.elements.len();
        while left > 0 {
            let (own_geometry, next) = geometry.split_at(geometry_len);
            geometry = next;
            let (own_fields, next) = fields.split_at(fields_len);
            fields = next;
            let (table, next) = tables.split_at(table_len);
            tables = next;
            if geometry_len > 0 {
                // Of the next batch alone: more takes longer than it saves where batches are small.
                prefetch(
                    geometry.get(..geometry_len).unwrap_or_default(),
                    PREFETCH_LINES,
                );
            }
            prefetch(tables, table_len / 32);
            let (auxiliary, points) = own_fields.split_at(constants_len);
            body(&Batch {
                elements: lanes.min(left),
                nodes: Nodes::Local(table),
                vertices: Vertices {
                    coordinates,
                    table: &table[..vertex_len],
                },
                geometry: own_geometry,
                auxiliary,
                nodal: Source::of(&[]),
                points,
                context,
            });
            left -= lanes.min(left);
        }
    }
}

/// One traversal.
struct Pass<'a, T: Number> {
    bound: &'a HostBound<T>,
    action: Action,
    context: &'a EvalContext<'a>,
    u: &'a [T],
}

impl<T: Number> Pass<'_, T> {
    /// Traverses chunks by recursive halving, in parallel: `v` holds their private nodes, `shared` their
    /// part of the list.
    fn chunks(
        &self,
        chunks: Range<usize>,
        v: Fields<'_, T>,
        shared: &mut [T],
    ) -> Result<(), DeviceError> {
        let all = &self.bound.restriction.chunks;
        if chunks.len() > 1 {
            let half = chunks.start + chunks.len() / 2;
            let (nodes, entries) = (
                all[half].private.start - all[chunks.start].private.start,
                all[half].interface.start - all[chunks.start].interface.start,
            );
            let (left, right) = v.split_at(nodes);
            let (first, second) = shared.split_at_mut(entries * self.bound.components);
            let (left, right) = self.bound.host.join(
                || self.chunks(chunks.start..half, left, first),
                || self.chunks(half..chunks.end, right, second),
            );
            return left.and(right);
        }
        if chunks.is_empty() {
            return Ok(());
        }
        let mut scratch = self.bound.take_scratch()?;
        self.chunk(chunks.start, v, shared, &mut scratch);
        self.bound.scratch.put(scratch);
        Ok(())
    }

    fn chunk(
        &self,
        index: usize,
        mut v: Fields<'_, T>,
        shared: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let bound = self.bound;
        let chunk = &bound.restriction.chunks[index];
        let components = bound.components;
        let Scratch {
            input,
            sums,
            nodal,
            workspaces,
        } = scratch;
        let solution = (bound.layout, components, self.u);
        if self.action == Action::Apply {
            self.copy_in(chunk, solution, input);
        }
        let fields = (Layout::Blocked, bound.fields, &bound.nodal[..]);
        self.copy_in(chunk, fields, nodal);
        let (solution, fields) = (Slices::new(chunk, solution), Slices::new(chunk, fields));
        let source = Source {
            numbers: input,
            private: solution.get(),
        };
        let nodal = Source {
            numbers: nodal,
            private: fields.get(),
        };
        let (row, copied) = (row_len(components), self.copied(chunk));
        let shared_nodes = chunk.private.len() * row..chunk.nodes() * row;
        sums[..copied * row].fill(T::default());
        sums[shared_nodes.clone()].fill(T::default());
        let mut ahead = Ahead::new(bound, index);
        for segment in &bound.segments[index] {
            let (kernel, workspace) = bound.kernel(segment, workspaces);
            bound.batches((index, segment), self.context, |batch| {
                let batch = Batch { nodal, ..*batch };
                let target = Target {
                    numbers: &mut *sums,
                    private: v.slices(),
                };
                ahead.prefetch(batch.elements, source.private, target.private);
                match self.action {
                    Action::Apply => kernel.apply(&batch, source, target, workspace),
                    Action::Diagonal => kernel.diagonal(&batch, target, workspace),
                }
            });
        }
        v.write(copied, sums);
        copy_rows((&sums[shared_nodes], row), (shared, components));
    }

    /// The number of a chunk's private nodes that are copied to local vectors, the first ones.
    fn copied(&self, chunk: &Chunk) -> usize {
        let end = match self.bound.nodes.has_run() {
            true => chunk.interior.start,
            false => chunk.private.end,
        };
        end - chunk.private.start
    }

    /// Copies a chunk's nodes to a local vector.
    fn copy_in(&self, chunk: &Chunk, (layout, components, u): LVector<T>, input: &mut [T]) {
        let (count, width) = split_components(layout, components);
        let (length, row) = (u.len().checked_div(count).unwrap_or(0), row_len(components));
        let first = chunk.private.start;
        let own = first * width..(first + self.copied(chunk)) * width;
        let list = &self.bound.restriction.interface[chunk.interface.clone()];
        for slice in 0..count {
            let u = &u[slice * length..][..length];
            let (private, shared) = input.split_at_mut(chunk.private.len() * row);
            let [private, shared] = [private, shared].map(|it| it.get_mut(slice..));
            copy_rows((&u[own.clone()], width), (private.unwrap_or_default(), row));
            pick_rows((u, width), list, (shared.unwrap_or_default(), row));
        }
    }
}
