//! The inputs of a case on a device, as operands of kernels.

use super::candidate::{FANS, Fans, INTERLEAVED};
use super::oracle::Inputs;
use crate::BenchError;
use femto::Number;
use femto_fem::parallel;
use femto_kernel::family::CellMap;
use femto_kernel::family::Operand;
use femto_kernel::family::cell_quadrature::source::{place, places};
use femto_kernel::family::cell_quadrature::{Shape, pack};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};

/// An array over cells, plain and with [`INTERLEAVED`] cells interleaved.
struct OverCells<T: Number>([AcceleratorBuffer<T>; 2]);

/// Lists of nodes per block.
struct Lists {
    blocks: AcceleratorBuffer<u32>,
    list: AcceleratorBuffer<u32>,
    local: AcceleratorBuffer<u16>,
    ends: AcceleratorBuffer<u16>,
    slots: AcceleratorBuffer<u16>,
}

/// The inputs of kernels.
pub(super) struct Buffers<T: Number> {
    nodes: usize,
    geometry: OverCells<T>,
    coordinates: AcceleratorBuffer<T>,
    tables: [AcceleratorBuffer<u32>; 2],
    /// For each of [`FANS`].
    lists: Vec<Lists>,
    kappa: AcceleratorBuffer<T>,
    kappa_of_cells: OverCells<T>,
    context: AcceleratorBuffer<T>,
    u: AcceleratorBuffer<T>,
    u_of_cells: OverCells<T>,
}

/// The variants of the inputs that a launch reads.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) cells: usize,
    /// L-vectors.
    pub(super) nodal: bool,
    /// Interleaved cells in data and in vectors.
    pub(super) interleave: [usize; 2],
    /// Fans of blocks with lists.
    pub(super) fans: Option<Fans>,
}

impl<T: Number> OverCells<T> {
    /// For each cell `numbers` entries, written by `fill`.
    fn new(
        device: &Accelerator,
        (cells, numbers): (usize, usize),
        fill: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Self, BenchError> {
        Ok(Self([
            device.upload(&over_cells((1, cells, numbers), &fill))?,
            device.upload(&over_cells((INTERLEAVED, cells, numbers), &fill))?,
        ]))
    }

    fn of(&self, together: usize) -> &AcceleratorBuffer<T> {
        &self.0[usize::from(together > 1)]
    }
}

/// An array over cells with `numbers` entries each; a single entry if there are none, as buffers cannot be
/// empty.
fn over_cells<T: Copy + Default + Send + Sync>(
    (together, cells, numbers): (usize, usize, usize),
    fill: &(impl Fn(usize, &mut [T]) + Sync),
) -> Vec<T> {
    if numbers == 0 {
        return vec![T::default()];
    }
    let mut array = vec![T::default(); places(together, cells, numbers)];
    parallel::blocks(&mut array, together * numbers, |group, groups| {
        let mut row = vec![T::default(); numbers];
        for (group, out) in (group..).zip(groups.chunks_mut(together * numbers)) {
            let first = group * together;
            for cell in first..(first + together).min(cells) {
                fill(cell, &mut row);
                for (n, &value) in row.iter().enumerate() {
                    out[place(together, cell - first, (n, numbers))] = value;
                }
            }
        }
    });
    array
}

impl<T: Number> Buffers<T> {
    /// `shape` has the geometry stored for E-vectors.
    pub(super) fn new(
        device: &Accelerator,
        inputs: &Inputs<'_>,
        shape: &Shape,
    ) -> Result<Self, BenchError> {
        let (mesh, positions) = (inputs.mesh, inputs.positions);
        let (cells, components) = (mesh.cells(), shape.components);
        let numbers = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>();
        let geometry = |cell: usize, row: &mut [T]| {
            let mut vertices = [[0.0; 3]; 4];
            for (vertex, &node) in vertices.iter_mut().zip(mesh.cell(cell)) {
                *vertex = positions[node as usize];
            }
            let vertices = CellMap::Vertices(&vertices[..shape.nodes]);
            pack(shape, vertices, |n, x| row[n] = T::from_f64(x));
        };
        let of_cell = |values: &[f64], components: usize, (cell, row): (usize, &mut [T])| {
            let nodes = mesh.cell(cell);
            for (n, out) in row.iter_mut().enumerate() {
                let (c, node) = (n / nodes.len(), nodes[n % nodes.len()] as usize);
                *out = T::from_f64(values[node * components + c]);
            }
        };
        let table = |cell: usize, row: &mut [u32]| row.copy_from_slice(mesh.cell(cell));
        let table = |together| over_cells((together, cells, shape.nodes), &table);
        let nodal = shape.nodes * shape.fields.len();
        let coordinates: Vec<f64> = positions
            .iter()
            .flat_map(|x| &x[..shape.dim])
            .copied()
            .collect();
        let lists = |&fans: &Fans| -> Option<Result<Lists, BenchError>> {
            let lists = mesh.lists(fans)?;
            let (sums, local) = (&lists.sums, &lists.local);
            let upload = || {
                Ok(Lists {
                    blocks: device.upload(&sums.blocks)?,
                    list: device.upload(&sums.list)?,
                    local: device.upload(local)?,
                    ends: device.upload(&sums.ends)?,
                    slots: device.upload(&sums.slots)?,
                })
            };
            Some(upload())
        };
        Ok(Self {
            nodes: mesh.nodes(),
            geometry: OverCells::new(device, (cells, shape.geometry_numbers()), geometry)?,
            coordinates: device.upload(&numbers(&coordinates))?,
            tables: [
                device.upload(&table(1))?,
                device.upload(&table(INTERLEAVED))?,
            ],
            lists: FANS.iter().filter_map(lists).collect::<Result<_, _>>()?,
            kappa: device.upload(&numbers(inputs.kappa))?,
            kappa_of_cells: OverCells::new(device, (cells, nodal), |cell, row| {
                of_cell(inputs.kappa, 1, (cell, row));
            })?,
            context: device.upload(&[T::default()])?,
            u: device.upload(&numbers(inputs.u))?,
            u_of_cells: OverCells::new(device, (cells, shape.unknowns()), |cell, row| {
                of_cell(inputs.u, components, (cell, row));
            })?,
        })
    }

    /// The arguments of a kernel with these operands; `None` if there are no such inputs.
    pub(super) fn arguments<'b>(
        &'b self,
        operands: &[Operand],
        chosen: &Chosen,
        v: &'b mut AcceleratorBuffer<T>,
    ) -> Option<Vec<Argument<'b>>> {
        let number = |value: usize| Argument::U32(value as u32);
        let [data, vectors] = chosen.interleave;
        let lists = FANS
            .iter()
            .position(|fans| Some(*fans) == chosen.fans)
            .and_then(|index| self.lists.get(index));
        let mut v = Some(v);
        let argument = |&operand: &Operand| {
            Some(match operand {
                Operand::Blocks => Argument::input(&lists?.blocks),
                Operand::BlockLocal => Argument::input(&lists?.local),
                Operand::BlockEnds => Argument::input(&lists?.ends),
                Operand::BlockSlots => Argument::input(&lists?.slots),
                Operand::BlockList => Argument::input(&lists?.list),
                Operand::Geometry => Argument::input(self.geometry.of(data)),
                Operand::Coordinates => Argument::input(&self.coordinates),
                Operand::Nodes => Argument::input(&self.tables[usize::from(data > 1)]),
                // The components of a node are adjacent.
                Operand::ComponentStride => number(1),
                Operand::NodalFields if chosen.nodal => Argument::input(&self.kappa),
                Operand::NodalFields => Argument::input(self.kappa_of_cells.of(vectors)),
                Operand::FieldStride => number(self.nodes),
                Operand::EvalContext => Argument::input(&self.context),
                Operand::U if chosen.nodal => Argument::input(&self.u),
                Operand::U => Argument::input(self.u_of_cells.of(vectors)),
                Operand::V => Argument::output(v.take()?),
                Operand::Count => number(chosen.cells),
                _ => return None,
            })
        };
        operands.iter().map(argument).collect()
    }
}
