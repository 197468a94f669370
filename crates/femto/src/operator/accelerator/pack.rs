//! Packing a block: its elements, their nodes, geometry and fields.

use crate::Number;
use crate::operator::tables::Shape;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_kernel::family::fields::FieldKind;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device};
use rayon::prelude::*;

/// The inputs of packing a block.
pub(super) struct Packer<'a> {
    pub(super) device: &'a Accelerator,
    pub(super) binding: &'a Binding<'a, ()>,
    pub(super) shape: Shape,
    /// The elements, ascending.
    pub(super) elements: Vec<u32>,
    /// L-vector nodes `[element][node]`.
    pub(super) nodes: Vec<u32>,
    kind: usize,
}

impl<'a> Packer<'a> {
    /// Of all blocks, in the order of the plan's kinds.
    pub(super) fn all(device: &'a Accelerator, binding: &'a Binding<'a, ()>) -> Vec<Self> {
        let of_kind = |(kind, plan): (usize, &crate::operator::plan::KindPlan)| {
            let elements = elements(binding, |other| other == kind);
            Self {
                device,
                binding,
                shape: plan.shape,
                nodes: nodes(binding, &elements),
                elements,
                kind,
            }
        };
        binding.plan.kinds.iter().enumerate().map(of_kind).collect()
    }

    /// For all nodes whether elements of other blocks have them.
    pub(super) fn elsewhere(&self) -> Vec<bool> {
        let mut elsewhere = vec![false; self.binding.space.nodes()];
        let others = elements(self.binding, |other| other != self.kind);
        for node in nodes(self.binding, &others) {
            elsewhere[node as usize] = true;
        }
        elsewhere
    }

    /// Packed geometry, `[element][number]` of `len` numbers that `pack` writes for a cell of the mesh.
    pub(super) fn geometry<N: Number>(
        &self,
        len: usize,
        pack: impl Fn(usize, &mut GeometryAtPoints, &mut [N]) + Sync,
    ) -> Vec<N> {
        let mut packed = vec![N::default(); len * self.elements.len()];
        let rows = packed.par_chunks_mut(len.max(1)).zip(&self.elements);
        rows.for_each_init(GeometryAtPoints::default, |at, (out, &element)| {
            pack(self.binding.mesh_cell(element as usize), at, out);
        });
        packed
    }

    /// The fields of a kind for some elements, with so many numbers each, `[element][field][number]`.
    pub(super) fn fields<T: Number>(
        &self,
        elements: &[u32],
        (kind, numbers): (FieldKind, usize),
    ) -> Result<Option<AcceleratorBuffer<T>>, OperatorError> {
        let binding = self.binding;
        let fields: Vec<&[f64]> = binding.params.auxiliary_of(kind).collect();
        if fields.is_empty() {
            return Ok(None);
        }
        let mut packed = Vec::with_capacity(elements.len() * fields.len() * numbers);
        for &element in elements {
            let first = binding.mesh_cell(element as usize) * numbers;
            let values = fields
                .iter()
                .flat_map(|field| &field[first..first + numbers]);
            packed.extend(values.map(|&value| T::from_f64(value)));
        }
        Ok(Some(self.device.upload(&packed)?))
    }
}

/// Bytes of a buffer that may not be there.
pub(super) fn bytes_of<T: Number>(buffer: &Option<AcceleratorBuffer<T>>) -> usize {
    buffer.as_ref().map_or(0, Buffer::len) * T::BYTES
}

/// The elements of some kinds of the plan.
fn elements(binding: &Binding<'_, ()>, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
    let segments = binding.plan.segments.iter().flatten();
    segments
        .filter(|segment| is_wanted(segment.kind))
        .flat_map(|segment| segment.elements.clone())
        .map(|element| element as u32)
        .collect()
}

/// L-vector nodes of elements, `[element][node]`.
fn nodes(binding: &Binding<'_, ()>, elements: &[u32]) -> Vec<u32> {
    let space = binding.space;
    let count = space.nodes_per_element();
    let mut nodes = vec![0; count * elements.len()];
    let rows = nodes.par_chunks_mut(count).zip(elements);
    rows.for_each(|(nodes, &element)| space.write_element_nodes(element as usize, nodes));
    nodes
}
