//! Packed inputs of the batches: geometry, auxiliary fields and node tables.

use super::{HostSegment, Offsets};
use crate::Number;
use crate::operator::binding::{GroupPacker, Maps};
use crate::operator::plan::Plan;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::space::{Chunk, Restriction};
use femto_kernel::family::batch::{ElementKernel, LOCAL_NODES, NodeTable, row_len};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::{Block, GROUP};
use femto_platform::device::Device;
use femto_platform::device::host::{Host, HostBuffer};

/// Packed arrays of all batches, one batch after the other.
pub(super) struct Arrays<T: Number> {
    /// In the block's layout, `[batch][number][lane]`.
    pub(super) geometry: HostBuffer<T>,
    /// `[batch][field][lane]` constant in each cell, then `[field][point][lane]`.
    pub(super) auxiliary: HostBuffer<T>,
    /// Chunk-local node indices, as written by `NodeTable::pack`.
    pub(super) tables: Vec<u16>,
    /// Coordinates of the chunks' vertex nodes, `[chunk][node of the chunk][axis]`, from a vertex of the chunk unless
    /// the form reads positions, so that single precision keeps their differences; with rows for other nodes unused,
    /// followed by padding rows for the largest chunk; empty if no geometry is recomputed from them.
    pub(super) vertices: Vec<T>,
    /// The start of a chunk's coordinates, `[chunk]`.
    pub(super) first_vertex: Vec<usize>,
}

impl<T: Number> Arrays<T> {
    pub(super) fn bytes(&self) -> usize {
        let numbers = self.geometry.len() + self.auxiliary.len() + self.vertices.len();
        numbers * T::BYTES + self.tables.len() * 2
    }

    /// A chunk's coordinates and everything after them, as kernels expect.
    pub(super) fn vertices(&self, chunk: usize) -> &[T] {
        let first = self.first_vertex.get(chunk);
        first.map_or(&[], |&first| &self.vertices[first..])
    }
}

/// The parts of the arrays that belong to a run of batches.
struct Parts<'a, T> {
    geometry: &'a mut [T],
    auxiliary: &'a mut [T],
    tables: &'a mut [u16],
}

impl<T> Parts<'_, T> {
    /// Splits off the first `len`.
    fn take(&mut self, len: Offsets) -> Self {
        Self {
            geometry: take(&mut self.geometry, len.geometry),
            auxiliary: take(&mut self.auxiliary, len.auxiliary),
            tables: take(&mut self.tables, len.tables),
        }
    }
}

/// Splits off the first `len` numbers.
fn take<'a, N>(numbers: &mut &'a mut [N], len: usize) -> &'a mut [N] {
    let (head, rest) = std::mem::take(numbers).split_at_mut(len);
    *numbers = rest;
    head
}

/// Packed inputs of the kernels, with the part of each segment.
pub(super) struct Packed<T: Number> {
    pub(super) segments: Vec<Vec<HostSegment>>,
    pub(super) arrays: Arrays<T>,
}

/// A thread's scratch for the maps of some cells and their packed numbers.
#[derive(Default)]
struct Scratch {
    at: GeometryAtPoints,
    /// `[element][number]`.
    rows: Vec<f64>,
    /// Elements of a batch.
    elements: Vec<u32>,
}

/// Packs one segment after the other; shared by the threads.
struct Packer<'a> {
    binding: &'a Binding<'a>,
    plan: &'a Plan,
    maps: Maps<'a>,
    nodes: NodeTable,
    lanes: usize,
}

impl<T: Number> Packed<T> {
    pub(super) fn new(
        host: &Host,
        binding: &Binding<'_>,
        kernels: &[Box<dyn ElementKernel<T>>],
    ) -> Result<Self, OperatorError> {
        let plan = binding.plan;
        check_chunks(binding.space.restriction())?;
        binding.check_geometry()?;
        let packer = Packer {
            binding,
            plan,
            maps: binding.maps(),
            nodes: plan.node_table(),
            lanes: kernels.first().map_or(1, |kernel| kernel.lanes()),
        };
        let (segments, total) = packer.layout();
        let (vertices, first_vertex) = packer.vertices();
        let mut arrays = Arrays {
            geometry: host.zeros(total.geometry)?,
            auxiliary: host.zeros(total.auxiliary)?,
            tables: vec![0; total.tables],
            vertices,
            first_vertex,
        };
        let parts = Parts {
            geometry: &mut arrays.geometry,
            auxiliary: &mut arrays.auxiliary,
            tables: &mut arrays.tables,
        };
        host.enter(|| packer.pack_chunks(host, 0, &segments, parts));
        Ok(Self { segments, arrays })
    }
}

/// Local indices are 16-bit.
fn check_chunks(restriction: &Restriction) -> Result<(), OperatorError> {
    let chunks = restriction.chunks.iter();
    match chunks
        .map(|chunk| chunk.nodes())
        .find(|&nodes| nodes > LOCAL_NODES)
    {
        Some(found) => Err(OperatorError::ChunkTooLarge {
            found,
            most: LOCAL_NODES,
        }),
        None => Ok(()),
    }
}

impl Packer<'_> {
    /// Numbers per batch of elements of one kind of map.
    fn per_batch(&self, kind: usize) -> Offsets {
        let kind = &self.plan.kinds[kind];
        Offsets {
            geometry: kind.block.geometry_numbers() * self.lanes,
            auxiliary: self.plan.field_numbers(kind).iter().sum::<usize>() * self.lanes,
            tables: self.nodes.len(self.lanes),
        }
    }

    /// The start of each segment's batches, and the lengths of the arrays.
    fn layout(&self) -> (Vec<Vec<HostSegment>>, Offsets) {
        let mut next = Offsets::default();
        let mut place = |segment: &crate::operator::plan::Segment| {
            let start = next;
            let batches = segment.elements.len().div_ceil(self.lanes);
            let each = self.per_batch(segment.kind);
            next.geometry += batches * each.geometry;
            next.auxiliary += batches * each.auxiliary;
            next.tables += batches * each.tables;
            HostSegment {
                kind: segment.kind,
                elements: segment.elements.clone(),
                start,
            }
        };
        let chunks = self.binding.plan.segments.iter();
        let segments = chunks
            .map(|chunk| chunk.iter().map(&mut place).collect())
            .collect();
        (segments, next)
    }

    /// Packs chunks from number `first` on by recursive halving, in parallel; `parts` start at chunk
    /// `first`.
    fn pack_chunks<T: Number>(
        &self,
        host: &Host,
        first: usize,
        chunks: &[Vec<HostSegment>],
        mut parts: Parts<T>,
    ) {
        if let [chunk] = chunks {
            let mut scratch = Scratch::default();
            for segment in chunk {
                self.pack_segment(first, segment, &mut parts, &mut scratch);
            }
            return;
        }
        let (left, right) = chunks.split_at(chunks.len() / 2);
        let start = |chunks: &[Vec<HostSegment>]| Some(chunks.first()?.first()?.start);
        let (Some(from), Some(to)) = (start(left), start(right)) else {
            return;
        };
        let head = parts.take(Offsets {
            geometry: to.geometry - from.geometry,
            auxiliary: to.auxiliary - from.auxiliary,
            tables: to.tables - from.tables,
        });
        let middle = first + left.len();
        host.join(
            || self.pack_chunks(host, first, left, head),
            || self.pack_chunks(host, middle, right, parts),
        );
    }

    /// Packs the batches of a segment of a chunk, splitting them off `parts`.
    fn pack_segment<T: Number>(
        &self,
        chunk: usize,
        segment: &HostSegment,
        parts: &mut Parts<T>,
        scratch: &mut Scratch,
    ) {
        let (block, width) = (&self.plan.kinds[segment.kind].block, self.lanes);
        let mut local = vec![0; self.binding.space.nodes_per_element()];
        let last = segment.elements.end - 1;
        for first in segment.elements.clone().step_by(width) {
            let batch = parts.take(self.per_batch(segment.kind));
            // Unused lanes repeat the last element, so that they hold valid numbers.
            let element = |lane: usize| (first + lane).min(last);
            // Matrices are assembled.
            if block.matrices().is_none() {
                self.pack_geometry(block, (0..width).map(element), scratch, batch.geometry);
            }
            for lane in 0..width {
                let cell = self.binding.mesh_cell(element(lane));
                self.pack_fields(lane, cell, batch.auxiliary);
                self.local_indices(chunk, element(lane), &mut local);
                self.nodes
                    .pack((lane, width), |position| local[position], batch.tables);
            }
        }
    }

    /// The fields constant in a cell, then those at its points.
    fn pack_fields<T: Number>(&self, lane: usize, cell: usize, out: &mut [T]) {
        if out.is_empty() {
            return;
        }
        let constants = self.binding.fields_at(FieldKind::Cell, cell);
        let at_points = self.binding.fields_at(FieldKind::Points, cell);
        let numbers = constants.chain(at_points).flatten().copied();
        for (out, number) in out.iter_mut().skip(lane).step_by(self.lanes).zip(numbers) {
            *out = T::from_f64(number);
        }
    }

    /// Packs the stored geometry of a batch's elements into their lanes.
    fn pack_geometry<T: Number>(
        &self,
        block: &Block,
        elements: impl Iterator<Item = usize>,
        scratch: &mut Scratch,
        out: &mut [T],
    ) {
        let Scratch {
            at,
            rows,
            elements: list,
        } = scratch;
        let (numbers, binding) = (block.geometry_numbers(), self.binding);
        if numbers == 0 {
            return;
        }
        let packer = GroupPacker {
            binding,
            block,
            maps: &self.maps,
            for_device: false,
        };
        list.clear();
        list.extend(elements.map(|element| element as u32));
        rows.resize(numbers * GROUP, 0.0);
        for (group, elements) in list.chunks(GROUP).enumerate() {
            let rows = &mut rows[..numbers * elements.len()];
            packer.pack(elements, at, rows);
            for (n, row) in rows.chunks_exact(numbers).enumerate() {
                let lanes = out.iter_mut().skip(group * GROUP + n).step_by(self.lanes);
                for (out, &number) in lanes.zip(row) {
                    *out = T::from_f64(number);
                }
            }
        }
    }

    /// [`Arrays::vertices`] and the start of each chunk: a simplex's first nodes are its vertices.
    fn vertices<T: Number>(&self) -> (Vec<T>, Vec<usize>) {
        let mut kinds = self.plan.kinds.iter();
        if !kinds.any(|kind| kind.block.reads_vertices()) {
            return Default::default();
        }
        let (space, dim) = (self.binding.space, self.binding.space.dim());
        let (row, chunks) = (row_len(dim), &space.restriction().chunks);
        let nodes: usize = chunks.iter().map(Chunk::nodes).sum();
        let mut coordinates = vec![T::default(); (nodes + LOCAL_NODES) * row];
        let mut local = vec![0; space.nodes_per_element()];
        let (mut firsts, mut first) = (Vec::new(), 0);
        let is_absolute = self.plan.operator.inspection.reads_position;
        for (number, chunk) in chunks.iter().enumerate() {
            firsts.push(first);
            let mut origin = is_absolute.then_some([0.0; 3]);
            for element in chunk.elements.clone() {
                self.local_indices(number, element, &mut local);
                let cell = space.cells()[element] as usize;
                let vertices = self.binding.geometry.simplex_vertices(cell);
                let origin = origin.get_or_insert(vertices[0]);
                for (&node, vertex) in local.iter().zip(&vertices[..=dim]) {
                    let out = &mut coordinates[first + usize::from(node) * row..][..dim];
                    for (out, (x, origin)) in out.iter_mut().zip(vertex.iter().zip(&*origin)) {
                        *out = T::from_f64(x - origin);
                    }
                }
            }
            first += chunk.nodes() * row;
        }
        (coordinates, firsts)
    }

    /// Chunk-local indices of an element's nodes, lexicographic.
    fn local_indices(&self, chunk: usize, element: usize, local: &mut [u16]) {
        let restriction = self.binding.space.restriction();
        debug_assert!(restriction.chunks[chunk].elements.contains(&element));
        // They fit: see `check_chunks`.
        for (position, index) in restriction.element(element) {
            local[position] = index as u16;
        }
    }
}
