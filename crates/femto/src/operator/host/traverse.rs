//! Walking over chunks and batches.

use super::fields::{Fields, copy_rows, split_components};
use super::pack::Arrays;
use super::{Action, HostBound, HostSegment, Offsets, Scratch};
use crate::Number;
use femto_fem::space::{Chunk, Layout};
use femto_kernel::family::batch::{Batch, Conditions, LocalLayout, Nodes, Vertices};
use femto_platform::device::{Device, DeviceError};
use femto_platform::stream::prefetch;
use std::ops::Range;

/// Cache lines of the next batch's geometry that are asked for ahead; the hardware follows longer
/// streams by itself.
const PREFETCH_LINES: usize = 32;

/// Shared nodes summed by one task.
const SHARED_GRAIN: usize = 8192;

impl<T: Number> HostBound<T> {
    /// Applies, or sums diagonals, from L- or T-vector `u` into `v`.
    pub(super) fn traverse(
        &self,
        action: Action,
        conditions: &Conditions,
        u: &[T],
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let pass = Pass {
            bound: self,
            action,
            conditions,
            u,
        };
        let fields = Fields::new(v, self.layout, self.components);
        let mut shared = self.take_shared()?;
        let done = self.host.enter(|| {
            let (private, rest) = fields.split_at(self.restriction.first_interface);
            let chunks = 0..self.restriction.chunks.len();
            pass.chunks(chunks, private, &mut shared)?;
            self.sum_shared(0, rest, &shared);
            Ok(())
        });
        self.shared.put(shared);
        done
    }

    /// Sums what chunks added to shared nodes from `first` on, in chunk order.
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
        for node in 0..count {
            for component in 0..self.components {
                let mut sum = T::default();
                for &source in self.restriction.sources(first + node) {
                    sum += shared[source as usize * self.components + component];
                }
                *nodes.at(node, component) = sum;
            }
        }
    }

    /// The element operators on E-vectors, chunk by chunk.
    pub(super) fn traverse_elements(
        &self,
        conditions: &Conditions,
        u: &[T],
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let chunks = 0..self.restriction.chunks.len();
        self.host
            .enter(|| self.element_chunks(chunks, conditions, u, v))
    }

    fn element_chunks(
        &self,
        chunks: Range<usize>,
        conditions: &Conditions,
        u: &[T],
        v: &mut [T],
    ) -> Result<(), DeviceError> {
        let numbers = self.components * self.restriction.nodes_per_element();
        if chunks.len() > 1 {
            let half = chunks.start + chunks.len() / 2;
            let elements = self.restriction.chunks[chunks.start..half]
                .iter()
                .map(|c| c.elements.len());
            let cut = elements.sum::<usize>() * numbers;
            let (u_left, u_right) = u.split_at(cut);
            let (v_left, v_right) = v.split_at_mut(cut);
            let (left, right) = self.host.join(
                || self.element_chunks(chunks.start..half, conditions, u_left, v_left),
                || self.element_chunks(half..chunks.end, conditions, u_right, v_right),
            );
            return left.and(right);
        }
        let mut scratch = self.take_scratch()?;
        let mut nodal = Vec::new();
        for chunk in chunks {
            let start = self.restriction.chunks[chunk].elements.start;
            for segment in &self.segments[chunk] {
                self.batches((chunk, segment), conditions, |elements, kind, batch| {
                    self.element_fields(elements.clone(), &mut nodal);
                    let batch = Batch {
                        nodes: Nodes::Element,
                        nodal: &nodal,
                        ..batch
                    };
                    let range =
                        (elements.start - start) * numbers..(elements.end - start) * numbers;
                    let workspace = &mut scratch.workspaces[kind];
                    let (u, v) = (&u[range.clone()], &mut v[range]);
                    self.kernels[kind].apply(&batch, u, v, workspace);
                });
            }
        }
        self.scratch.put(scratch);
        Ok(())
    }

    /// The auxiliary fields in the solution's space at the nodes of elements, `[element][field][node]`.
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

    /// Calls `body` with each batch of a segment, its elements and its kind of map.
    fn batches<'a>(
        &'a self,
        (chunk, segment): (usize, &HostSegment),
        conditions: &'a Conditions<'a>,
        mut body: impl FnMut(Range<usize>, usize, Batch<'a, T>),
    ) {
        let kernel = &self.kernels[segment.kind];
        let (lanes, geometry_len) = (kernel.lanes(), kernel.geometry_len());
        let fields_len = (self.constants + self.at_points) * lanes;
        let table_len = self.nodes.len(lanes);
        let Offsets {
            geometry,
            auxiliary,
            tables,
        } = segment.start;
        let Arrays {
            geometry: all,
            auxiliary: fields,
            tables: indices,
            ..
        } = &self.arrays;
        let vertices = self.arrays.vertices(chunk);
        for (number, first) in segment.elements.clone().step_by(lanes).enumerate() {
            let elements = first..(first + lanes).min(segment.elements.end);
            let fields = &fields[auxiliary + number * fields_len..][..fields_len];
            let (constants, at_points) = fields.split_at(self.constants * lanes);
            let table = &indices[tables + number * table_len..][..table_len];
            let batch = Batch {
                elements: elements.len(),
                nodes: Nodes::Local(table),
                vertices: Vertices {
                    coordinates: vertices,
                    table: &table[..((self.dim + 1) * lanes).min(table_len)],
                },
                geometry: &all[geometry + number * geometry_len..][..geometry_len],
                auxiliary: constants,
                nodal: &[],
                points: at_points,
                conditions,
            };
            // The next batch's data arrive while this one is computed.
            let next = number + 1;
            prefetch(
                &all[(geometry + next * geometry_len).min(all.len())..],
                PREFETCH_LINES,
            );
            prefetch(
                &indices[(tables + next * table_len).min(indices.len())..],
                table_len / 32,
            );
            body(elements, segment.kind, batch);
        }
    }
}

/// One traversal.
struct Pass<'a, T: Number> {
    bound: &'a HostBound<T>,
    action: Action,
    conditions: &'a Conditions<'a>,
    u: &'a [T],
}

impl<T: Number> Pass<'_, T> {
    /// Works on chunks by halves, in parallel: `v` holds their private nodes, `shared` their part
    /// of the list.
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
        let own = (bound.layout, components, self.u);
        if self.action == Action::Apply {
            self.copy_in(chunk, own, input);
        }
        let fields = (Layout::ByComponent, bound.fields, &bound.nodal[..]);
        self.copy_in(chunk, fields, nodal);
        let local = bound.local(components);
        let (slices, width) = match local {
            LocalLayout::BY_COMPONENT => (components, 1),
            LocalLayout { node, .. } => (1, node),
        };
        for slice in 0..slices {
            sums[slice * local.component..][..chunk.nodes() * width].fill(T::default());
        }
        for segment in &bound.segments[index] {
            bound.batches((index, segment), self.conditions, |_, kind, batch| {
                let batch = Batch { nodal, ..batch };
                let (kernel, workspace) = (&bound.kernels[kind], &mut workspaces[kind]);
                match self.action {
                    Action::Apply => kernel.apply(&batch, input, sums, workspace),
                    Action::Diagonal => kernel.diagonal(&batch, sums, workspace),
                }
            });
        }
        v.write(sums, local);
        let private = chunk.private.len();
        for (entry, shared) in shared.chunks_exact_mut(components).enumerate() {
            for (component, shared) in shared.iter_mut().enumerate() {
                *shared = sums[local.place(component, private + entry)];
            }
        }
    }

    /// Copies a chunk's nodes to a local vector; nodes beyond the vector read as zero.
    fn copy_in(
        &self,
        chunk: &Chunk,
        (layout, components, u): (Layout, usize, &[T]),
        input: &mut [T],
    ) {
        let bound = self.bound;
        let local = bound.local(components);
        let (count, width) = split_components(layout, components);
        let length = u.len().checked_div(count).unwrap_or(0);
        let private = chunk.private.len();
        let together = count == 1 && local.component == 1;
        if together {
            let source = &u[chunk.private.start * width..chunk.private.end * width];
            copy_rows((source, width), (&mut input[..], local.node));
        }
        for component in 0..components {
            let u = &u[component / width * length..][..length];
            let input = &mut input[component * local.component..];
            let source = &u[chunk.private.start * width..chunk.private.end * width];
            if together {
                // Done.
            } else if (width, local.node) == (1, 1) {
                input[..private].copy_from_slice(source);
            } else {
                let source = source.get(component % width..).unwrap_or_default();
                let targets = input.iter_mut().step_by(local.node);
                for (target, &value) in targets.zip(source.iter().step_by(width)) {
                    *target = value;
                }
            }
            let shared = input[private * local.node..].iter_mut();
            let list = &bound.restriction.interface[chunk.interface.clone()];
            for (target, &node) in shared.step_by(local.node).zip(list) {
                let value = u.get(node as usize * width + component % width);
                *target = value.copied().unwrap_or_default();
            }
        }
    }
}
