//! What the kernels read of a mesh, and how they are started.

use crate::Number;
use crate::operator::accelerator::contributions::Contributions;
use crate::operator::accelerator::pack::fields;
use crate::operator::tables::Shape as AnyShape;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::tensor_hex::forms::{
    FormKernel, FormSchedule, Operand, geometry_len, pack,
};
use femto_kernel::family::tensor_hex::work::Shape;
use femto_kernel::family::tensor_hex::{Basis, ElementGeometry, Storage};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use rayon::prelude::*;

/// The elements of one kind of map, on the device.
#[derive(Debug)]
pub(super) struct Group<T: Number> {
    pub(super) shape: Shape,
    /// The elements, ascending.
    pub(super) elements: Vec<u32>,
    list: AcceleratorBuffer<u32>,
    /// `[element][geometry_len]`.
    geometry: AcceleratorBuffer<T>,
    /// L-vector nodes `[element][k][j][i]`.
    pub(super) nodes: AcceleratorBuffer<u32>,
    /// `[element][field]`.
    cell_fields: Option<AcceleratorBuffer<T>>,
    /// `[element][field][k][j][i]`.
    point_fields: Option<AcceleratorBuffer<T>>,
}

impl<T: Number> Group<T> {
    pub(super) fn bytes(&self) -> usize {
        let fields = [&self.cell_fields, &self.point_fields];
        let fields = fields.map(|field| field.as_ref().map_or(0, Buffer::len));
        let numbers = self.geometry.len() + fields[0] + fields[1];
        numbers * T::BYTES + (self.nodes.len() + self.list.len()) * size_of::<u32>()
    }
}

/// All groups, in the order of the plan's kinds, and the L-vector nodes of their elements one group after
/// the other, `[element][k][j][i]`.
pub(super) fn groups<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
    basis: &Basis,
) -> Result<(Vec<Group<T>>, Vec<u32>), OperatorError> {
    let plan = binding.plan;
    let mut all_nodes = Vec::new();
    let mut group = |kind: usize| {
        let segments = plan.segments.iter().flatten();
        let elements: Vec<u32> = segments
            .filter(|segment| segment.kind == kind)
            .flat_map(|segment| segment.elements.clone())
            .map(|element| element as u32)
            .collect();
        let AnyShape::Hex(shape) = plan.kinds[kind].shape else {
            return Err(OperatorError::FormOnAccelerator);
        };
        let nodes = nodes(binding, &elements);
        all_nodes.extend_from_slice(&nodes);
        let points = basis.points();
        Ok(Group {
            shape,
            geometry: device.upload(&geometry::<T>(binding, (basis, &shape), &elements))?,
            nodes: device.upload(&nodes)?,
            list: device.upload(&elements)?,
            cell_fields: fields(device, binding, &elements, (FieldKind::Cell, 1))?,
            point_fields: fields(device, binding, &elements, (FieldKind::Points, points))?,
            elements,
        })
    };
    let groups = (0..plan.kinds.len()).map(&mut group);
    let groups = groups.collect::<Result<_, OperatorError>>()?;
    Ok((groups, all_nodes))
}

/// The shortest edge of a few cells.
pub(super) fn least_edge(binding: &Binding<'_, ()>) -> f64 {
    let geometry = binding.geometry;
    let cells = (0..geometry.len()).step_by((geometry.len() / 64).max(1));
    let edge = |cell: usize| {
        let c = geometry.trilinear_coefficients(cell);
        let length = |m: usize| 2.0 * c[m].iter().map(|x| x * x).sum::<f64>().sqrt();
        [1, 2, 4]
            .map(length)
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    };
    cells.map(edge).fold(f64::INFINITY, f64::min)
}

/// Packed geometry of elements, `[element][geometry_len]`.
fn geometry<T: Number>(
    binding: &Binding<'_, ()>,
    (basis, shape): (&Basis, &Shape),
    elements: &[u32],
) -> Vec<T> {
    let len = geometry_len(shape);
    let mut packed = vec![T::default(); len * elements.len()];
    let rows = packed.par_chunks_mut(len.max(1)).zip(elements);
    rows.for_each_init(GeometryAtPoints::default, |at_points, (out, &element)| {
        let cell = binding.mesh_cell(element as usize);
        let map;
        let geometry = if shape.storage == Storage::Jacobians {
            binding.geometry.at_points(cell, &basis.points, at_points);
            ElementGeometry::Points {
                jacobian: &at_points.jacobian,
                position: &at_points.position,
            }
        } else {
            map = binding.geometry.trilinear_coefficients(cell);
            ElementGeometry::Map(&map)
        };
        pack(shape, geometry, out);
    });
    packed
}

/// L-vector nodes of elements, `[element][k][j][i]`.
fn nodes(binding: &Binding<'_, ()>, elements: &[u32]) -> Vec<u32> {
    let space = binding.space;
    let count = space.nodes_per_element();
    let mut nodes = vec![0; count * elements.len()];
    let rows = nodes.par_chunks_mut(count).zip(elements);
    rows.for_each(|(nodes, &element)| {
        nodes.copy_from_slice(&space.element_nodes(element as usize))
    });
    nodes
}

/// A kernel with its source.
#[derive(Debug)]
pub(super) struct Compiled {
    source: FormKernel,
    kernel: Kernel,
}

/// What the operands of a launch are.
pub(super) struct Call<'a, T: Number> {
    pub(super) group: &'a Group<T>,
    pub(super) rule: &'a AcceleratorBuffer<T>,
    /// Fields in the solution's space, and the distance of L-vectors among them.
    pub(super) fields: &'a AcceleratorBuffer<T>,
    pub(super) field_stride: usize,
    pub(super) conditions: &'a AcceleratorBuffer<T>,
    /// Nodes of u and v, and the distance of their components.
    pub(super) nodes: usize,
    pub(super) stride: usize,
    pub(super) contributions: Option<(&'a Contributions<T>, &'a mut AcceleratorBuffer<T>)>,
    /// Elements of groups before this one.
    pub(super) first: usize,
}

impl Compiled {
    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        source: FormKernel,
    ) -> Result<Self, DeviceError> {
        let text = KernelText::new(&source.name, &source.text);
        let kernel = device.compile(&text, cache)?.kernel(source.entry)?;
        Ok(Self { source, kernel })
    }

    pub(super) fn schedule(&self) -> FormSchedule {
        self.source.schedule
    }

    /// Starts it over all elements of the call's group.
    pub(super) fn launch<T: Number>(
        &self,
        device: &Accelerator,
        call: &Call<'_, T>,
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        let launch = Launch {
            blocks: self.source.schedule.blocks(call.group.elements.len()),
            threads: self.source.block.threads,
            shared_bytes: self.source.block.shared_bytes(T::PRECISION),
        };
        let arguments: Vec<Argument<'_>> = self
            .source
            .operands
            .iter()
            .filter_map(|&operand| call.argument(operand, u, v))
            .collect();
        device.launch(&self.kernel, &launch, &arguments)
    }
}

impl<T: Number> Call<'_, T> {
    /// What an operand is; what a kernel of this group does not ask for is missing.
    fn argument<'b>(
        &'b self,
        operand: Operand,
        u: Option<&'b AcceleratorBuffer<T>>,
        v: &'b AcceleratorBuffer<T>,
    ) -> Option<Argument<'b>> {
        let number = |number: usize| Some(Argument::U32(number as u32));
        let (group, contributions) = (self.group, self.contributions.as_ref());
        match operand {
            Operand::Geometry => Some(Argument::input(&group.geometry)),
            Operand::Rule => Some(Argument::input(self.rule)),
            Operand::Nodes => Some(Argument::input(&group.nodes)),
            Operand::NodeCount => number(self.nodes),
            Operand::ComponentStride => number(self.stride),
            Operand::Contributions => contributions.map(|(_, buffer)| Argument::input(&**buffer)),
            Operand::ContributionStride => {
                number(contributions.map_or(0, |(contributions, _)| contributions.stride()))
            }
            Operand::ContributionFirst => number(self.first),
            Operand::Elements => Some(Argument::input(&group.list)),
            Operand::CellFields => group.cell_fields.as_ref().map(Argument::input),
            Operand::NodalFields => Some(Argument::input(self.fields)),
            Operand::FieldStride => number(self.field_stride),
            Operand::PointFields => group.point_fields.as_ref().map(Argument::input),
            Operand::EvalContext => Some(Argument::input(self.conditions)),
            Operand::U => u.map(Argument::input),
            Operand::V => Some(Argument::input(v)),
            Operand::Count => number(group.elements.len()),
        }
    }
}
