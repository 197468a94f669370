//! What the kernels read: geometry and node tables, per kind of map.

use super::table;
use crate::Number;
use crate::operator::tables::Shape as AnyShape;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::family::tensor_hex::pencils::{FactorPrecision, geometry_len, pack};
use femto_kernel::family::tensor_hex::work::Shape;
use femto_kernel::family::tensor_hex::{Basis, ElementGeometry, Storage};
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device, DeviceError};
use rayon::prelude::*;

/// The elements of one kind of map, on the device.
#[derive(Debug)]
pub(super) struct Group<T> {
    pub(super) shape: Shape,
    /// The elements, ascending.
    pub(super) elements: Vec<u32>,
    /// The same on the device, where there are several groups.
    pub(super) list: Option<AcceleratorBuffer<u32>>,
    /// `[element][geometry_len]`.
    pub(super) geometry: Stored<T>,
    /// L-vector nodes `[element][k][j][i]`.
    pub(super) nodes: AcceleratorBuffer<u32>,
}

impl<T: Number> Group<T> {
    pub(super) fn bytes(&self) -> usize {
        let list = self.list.as_ref().map_or(0, Buffer::len);
        self.geometry.bytes() + (self.nodes.len() + list) * size_of::<u32>()
    }
}

/// Packed geometry on the device.
#[derive(Debug)]
pub(super) enum Stored<T> {
    Same(AcceleratorBuffer<T>),
    Single(AcceleratorBuffer<f32>),
}

impl<T: Number> Stored<T> {
    /// Uploads numbers, in single precision if factors of this shape are stored so.
    pub(super) fn upload<S: Number>(
        device: &Accelerator,
        (shape, factors): (&Shape, FactorPrecision),
        numbers: &[S],
    ) -> Result<Self, DeviceError> {
        if factors.perturbs(shape.storage, T::PRECISION) {
            return Ok(Self::Single(device.upload(&cast::<S, f32>(numbers))?));
        }
        Ok(Self::Same(device.upload(&cast::<S, T>(numbers))?))
    }

    pub(super) fn argument(&self) -> Argument<'_> {
        match self {
            Self::Same(numbers) => Argument::input(numbers),
            Self::Single(numbers) => Argument::input(numbers),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Same(numbers) => numbers.len() * T::BYTES,
            Self::Single(numbers) => numbers.len() * size_of::<f32>(),
        }
    }
}

/// The numbers in another precision.
pub(super) fn cast<S: Number, T: Number>(numbers: &[S]) -> Vec<T> {
    let numbers = numbers.iter();
    numbers.map(|number| T::from_f64(number.to_f64())).collect()
}

/// All groups, in the order of the plan's kinds, and the L-vector nodes of their elements one group
/// after the other, `[element][k][j][i]`.
pub(super) fn groups<T: Number, F: Sync>(
    device: &Accelerator,
    binding: &Binding<'_, F>,
    basis: &Basis,
) -> Result<(Vec<Group<T>>, Vec<u32>), OperatorError> {
    let plan = binding.plan;
    let several = plan.kinds.len() > 1;
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
        Ok(Group {
            shape,
            geometry: stored(device, binding, (basis, &shape), &elements)?,
            nodes: table(device, nodes)?,
            list: if several {
                Some(device.upload(&elements)?)
            } else {
                None
            },
            elements,
        })
    };
    let groups = (0..plan.kinds.len()).map(&mut group);
    let groups = groups.collect::<Result<_, OperatorError>>()?;
    Ok((groups, all_nodes))
}

/// Packed geometry of elements, on the device.
fn stored<T: Number, F: Sync>(
    device: &Accelerator,
    binding: &Binding<'_, F>,
    (basis, shape): (&Basis, &Shape),
    elements: &[u32],
) -> Result<Stored<T>, DeviceError> {
    let single = binding.plan.factors.perturbs(shape.storage, T::PRECISION);
    let shape = (basis, shape);
    Ok(match single {
        true => Stored::Single(device.upload(&geometry::<f32, F>(binding, shape, elements))?),
        false => Stored::Same(device.upload(&geometry::<T, F>(binding, shape, elements))?),
    })
}

/// Packed geometry of elements, `[element][geometry_len]`.
pub(super) fn geometry<T: Number, F: Sync>(
    binding: &Binding<'_, F>,
    (basis, shape): (&Basis, &Shape),
    elements: &[u32],
) -> Vec<T> {
    let len = geometry_len(shape);
    let mut packed = vec![T::default(); len * elements.len()];
    let work = packed.par_chunks_mut(len.max(1)).zip(elements);
    work.for_each_init(GeometryAtPoints::default, |at_points, (out, &element)| {
        let cell = binding.mesh_cell(element as usize);
        let coefficients = binding.coefficients(cell);
        let map;
        let geometry = match shape.storage {
            Storage::PointFactors | Storage::Jacobians => {
                binding.geometry.at_points(cell, &basis.points, at_points);
                ElementGeometry::Points {
                    jacobian: &at_points.jacobian,
                    position: &at_points.position,
                }
            }
            Storage::Affine | Storage::Trilinear | Storage::ElementFactors => {
                map = binding.geometry.trilinear_coefficients(cell);
                ElementGeometry::Map(&map)
            }
        };
        pack(shape, basis, geometry, coefficients, out);
    });
    packed
}

/// L-vector nodes of elements, `[element][k][j][i]`.
fn nodes<F: Sync>(binding: &Binding<'_, F>, elements: &[u32]) -> Vec<u32> {
    let space = binding.space;
    let count = space.nodes_per_element();
    let mut nodes = vec![0; count * elements.len()];
    let rows = nodes.par_chunks_mut(count).zip(elements);
    rows.for_each(|(nodes, &element)| {
        nodes.copy_from_slice(&space.element_nodes(element as usize))
    });
    nodes
}

/// The fields of a kind, with so many numbers each, `[element][field][number]`.
pub(super) fn fields<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
    elements: &[u32],
    (kind, numbers): (FieldKind, usize),
) -> Result<Option<AcceleratorBuffer<T>>, OperatorError> {
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
    Ok(Some(device.upload(&packed)?))
}
