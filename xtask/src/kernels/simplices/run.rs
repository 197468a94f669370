//! A kernel on a device, against the oracle.

use anyhow::{Context, Result, ensure};
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::fans::NONE;
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::source::{Interleave, place, places};
use femto_kernel::family::{KernelSource, Operand, Scatter, Vectors};
use femto_kernel::roofline::Precision;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Launch, Module,
};
use femto_platform::device::{Buffer, Device, Element as Number};

use super::Remainder;
use super::data::{CELLS, CONTEXT, Data, close, lists, over_cells};

/// Contributions begin with so many of another launch.
const CONTRIBUTION_FIRST: usize = 2;

/// What a kernel is run on.
pub(super) struct Run<'a> {
    pub(super) data: &'a Data,
    pub(super) kernel: &'a KernelSource,
    pub(super) schedule: &'a Schedule,
    pub(super) vectors: Vectors,
    pub(super) interleave: Interleave,
    pub(super) precision: Precision,
}

/// The buffers of a run.
struct Buffers<T: Number> {
    geometry: AcceleratorBuffer<T>,
    coordinates: AcceleratorBuffer<T>,
    nodes: AcceleratorBuffer<u32>,
    vertices: AcceleratorBuffer<u32>,
    blocks: AcceleratorBuffer<u32>,
    list: AcceleratorBuffer<u32>,
    local: AcceleratorBuffer<u16>,
    ends: AcceleratorBuffer<u16>,
    slots: AcceleratorBuffer<u16>,
    cell_fields: AcceleratorBuffer<T>,
    nodal_fields: AcceleratorBuffer<T>,
    point_fields: AcceleratorBuffer<T>,
    context: AcceleratorBuffer<T>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    contributions: AcceleratorBuffer<T>,
}

impl Run<'_> {
    /// Runs the kernel on all cells and holds its output against `expected`, `[cell][component][node]`.
    pub(super) fn check<T: Number + Into<f64>>(
        &self,
        (device, module): (&Accelerator, &Module),
        from: fn(f64) -> T,
        expected: &[Vec<f64>],
        tolerance: f64,
    ) -> Result<()> {
        let all = (0..CELLS as u32).collect();
        let (lists, order) = match *self.schedule {
            Schedule::BlockLocal(it) => {
                lists(self.data.shape.nodes, (it.fans_per_block, it.fan_cells))
            }
            _ => (BlockLists::default(), all),
        };
        let mut buffers = self.buffers(device, from, (&lists, &order))?;
        self.launch(device, module, &mut buffers, order.len())?;
        if let Vectors::Nodal {
            scatter: Scatter::Deterministic,
            ..
        } = self.vectors
        {
            let found = self.summed_contributions(device, &buffers, &lists)?;
            return close(&found, &self.data.sum(expected), tolerance);
        }
        let found = read(device, &buffers.v)?;
        if self.vectors == Vectors::ELEMENT {
            return close(&self.of_cells(&found, CELLS), &expected.concat(), tolerance);
        }
        let sum = self.data.sum(expected);
        let data = self.data;
        for (n, expected) in sum.iter().enumerate() {
            let (component, node) = (n / data.total, n % data.total);
            let found = found[self.place(component, node)];
            let largest = sum.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            let is_close = (found - expected).abs() <= tolerance * largest;
            ensure!(
                is_close,
                "component {component}, node {node}: {found}, not {expected}"
            );
        }
        Ok(())
    }

    /// Runs the kernel on full blocks alone, and lets the host do the cells that remain, if it is to: E-vectors.
    pub(super) fn check_full_blocks(
        &self,
        (device, module): (&Accelerator, &Module),
        expected: &[Vec<f64>],
        remainder: Option<Remainder>,
    ) -> Result<()> {
        let full = self.schedule.cells_of_full_blocks(&self.data.shape, CELLS);
        ensure!(0 < full && full < CELLS, "{full} cells are in full blocks");
        let order: Vec<u32> = (0..CELLS as u32).collect();
        let mut buffers = self.buffers(device, |x| x, (&BlockLists::default(), &order))?;
        self.launch(device, module, &mut buffers, full)?;
        let mut found = self.of_cells(&read(device, &buffers.v)?, CELLS);
        let rest = found.split_off(full * self.data.shape.unknowns());
        ensure!(
            rest.iter().all(|v| v.is_nan()),
            "cells that remain were written"
        );
        let Some(remainder) = remainder else {
            return close(&found, &expected[..full].concat(), 1e-13);
        };
        found.extend(remainder(self.data, full));
        close(&found, &expected.concat(), 1e-13)
    }

    fn launch<T: Number>(
        &self,
        device: &Accelerator,
        module: &Module,
        buffers: &mut Buffers<T>,
        cells: usize,
    ) -> Result<()> {
        let kernel = self.kernel;
        let launch = Launch {
            blocks: kernel.blocks(cells),
            threads: kernel.block.threads,
            shared_bytes: kernel.block.shared_bytes(self.precision),
        };
        let arguments = self.arguments(buffers, cells)?;
        Ok(device.launch(&module.kernel("apply")?, &launch, &arguments)?)
    }

    fn arguments<'b, T: Number>(
        &self,
        b: &'b mut Buffers<T>,
        cells: usize,
    ) -> Result<Vec<Argument<'b>>> {
        let data = self.data;
        let (interleaved, _) = self.order();
        let number = |value: usize| Argument::U32(value as u32);
        let contributions = b.contributions_len(data.shape.components);
        let (mut v, mut out) = (Some(&mut b.v), Some(&mut b.contributions));
        let argument = |&operand: &Operand| {
            Some(match operand {
                Operand::Blocks => Argument::input(&b.blocks),
                Operand::BlockLocal => Argument::input(&b.local),
                Operand::BlockEnds => Argument::input(&b.ends),
                Operand::BlockSlots => Argument::input(&b.slots),
                Operand::Geometry => Argument::input(&b.geometry),
                Operand::Coordinates => Argument::input(&b.coordinates),
                Operand::Vertices => Argument::input(&b.vertices),
                Operand::Nodes => Argument::input(&b.nodes),
                Operand::BlockList => Argument::input(&b.list),
                Operand::ComponentStride => number(if interleaved { 1 } else { data.total }),
                Operand::Contributions => Argument::output(out.take()?),
                Operand::ContributionStride => number(contributions),
                Operand::ContributionFirst => number(CONTRIBUTION_FIRST),
                Operand::CellFields | Operand::BlockCellFields => Argument::input(&b.cell_fields),
                Operand::NodalFields => Argument::input(&b.nodal_fields),
                Operand::FieldStride => number(data.total),
                Operand::PointFields => Argument::input(&b.point_fields),
                Operand::EvalContext => Argument::input(&b.context),
                Operand::U => Argument::input(&b.u),
                Operand::V => Argument::output(v.take()?),
                Operand::Count => number(cells),
                _ => return None,
            })
        };
        let arguments: Option<Vec<_>> = self.kernel.operands.iter().map(argument).collect();
        arguments.context("an operand that there is not, or an output twice")
    }

    /// Whether components of a node are together, and how contributions are summed.
    fn order(&self) -> (bool, Scatter) {
        match self.vectors {
            Vectors::Element { .. } => (false, Scatter::Atomic),
            Vectors::Nodal {
                interleaved,
                scatter,
            } => (interleaved, scatter),
        }
    }

    /// Where an entry of an L-vector is.
    fn place(&self, component: usize, node: usize) -> usize {
        match self.order() {
            (true, _) => node * self.data.shape.components + component,
            (false, _) => component * self.data.total + node,
        }
    }

    fn buffers<T: Number>(
        &self,
        device: &Accelerator,
        from: fn(f64) -> T,
        (lists, order): (&BlockLists, &[u32]),
    ) -> Result<Buffers<T>> {
        let (data, shape) = (self.data, &self.data.shape);
        let poison = from(f64::NAN);
        let cast = |numbers: Vec<f64>| numbers.into_iter().map(from).collect::<Vec<T>>();
        // No buffer is empty.
        let upload = |mut numbers: Vec<T>| {
            numbers.push(poison);
            device.upload(&numbers)
        };
        let some = |mut numbers: Vec<u32>| {
            numbers.push(0);
            device.upload(&numbers)
        };
        let short = |numbers: &[u16]| device.upload(&[numbers, &[0]].concat());
        let rows = |all: &[f64], order: &[u32]| {
            let (len, together) = (all.len() / CELLS, self.interleave.data);
            let mut array = vec![poison; places(together, order.len(), len)];
            for (at, &cell) in order.iter().enumerate().filter(|(_, cell)| **cell != NONE) {
                for n in 0..len {
                    array[place(together, at, (n, len))] = from(all[cell as usize * len + n]);
                }
            }
            array
        };
        let natural: Vec<u32> = (0..CELLS as u32).collect();
        let tables = |all: &[u32]| {
            let len = all.len() / CELLS;
            over_cells(self.interleave.data, 0, |cell| {
                all[cell * len..][..len].to_vec()
            })
        };
        let vectors = self.interleave.vectors;
        let (u, v, nodal) = if self.vectors == Vectors::ELEMENT {
            let u = over_cells(vectors, poison, |cell| cast(data.unknowns(cell)));
            let nodal = over_cells(vectors, poison, |cell| cast(data.nodal(cell)));
            let v = vec![poison; u.len()];
            (u, v, nodal)
        } else {
            let (mut u, mut v) = (vec![poison; data.u.len()], vec![poison; data.u.len()]);
            let zeroed: Vec<usize> = match *self.schedule {
                Schedule::BlockLocal(_) => {
                    lists.shared_nodes().iter().map(|&n| n as usize).collect()
                }
                _ => (0..data.total).collect(),
            };
            for component in 0..shape.components {
                for node in 0..data.total {
                    u[self.place(component, node)] = from(data.u[component * data.total + node]);
                }
                for &node in &zeroed {
                    v[self.place(component, node)] = from(0.0);
                }
            }
            (u, v, cast(data.nodal_fields.clone()))
        };
        let coordinates = data.coordinates.iter().flat_map(|x| &x[..shape.dim]);
        let context = [CONTEXT.time].iter().chain(CONTEXT.parameters);
        let contributions =
            CONTRIBUTION_FIRST * shape.nodes + CELLS * shape.nodes + lists.list.len();
        Ok(Buffers {
            geometry: upload(over_cells(self.interleave.data, poison, |cell| {
                cast(data.geometry(cell))
            }))?,
            coordinates: upload(cast(coordinates.copied().collect()))?,
            nodes: some(tables(&data.nodes))?,
            vertices: some(tables(&data.vertices))?,
            blocks: some(lists.blocks.clone())?,
            list: some(lists.list.clone())?,
            local: short(&lists.local)?,
            ends: short(&lists.ends)?,
            slots: short(&lists.slots)?,
            cell_fields: upload(rows(&data.cell_fields, order))?,
            nodal_fields: upload(nodal)?,
            point_fields: upload(rows(&data.point_fields, &natural))?,
            context: upload(cast(context.copied().collect()))?,
            u: upload(u)?,
            v: upload(v)?,
            contributions: device.upload(&vec![poison; shape.components * contributions])?,
        })
    }

    /// An E-vector's entries, cell after cell.
    fn of_cells(&self, found: &[f64], cells: usize) -> Vec<f64> {
        let unknowns = self.data.shape.unknowns();
        let entry = |n: usize| {
            let at = (n % unknowns, unknowns);
            found[place(self.interleave.vectors, n / unknowns, at)]
        };
        (0..cells * unknowns).map(entry).collect()
    }

    /// The sums of contributions at the nodes, `[component][node]`.
    fn summed_contributions<T: Number + Into<f64>>(
        &self,
        device: &Accelerator,
        buffers: &Buffers<T>,
        lists: &BlockLists,
    ) -> Result<Vec<f64>> {
        let data = self.data;
        let found = read(device, &buffers.contributions)?;
        let stride = buffers.contributions_len(data.shape.components);
        let (list, first) = match *self.schedule {
            Schedule::BlockLocal(_) => (&lists.list, CONTRIBUTION_FIRST),
            _ => (&data.nodes, CONTRIBUTION_FIRST * data.shape.nodes),
        };
        let mut sum = vec![0.0; data.u.len()];
        for (component, sum) in sum.chunks_mut(data.total).enumerate() {
            for (entry, &node) in list.iter().enumerate() {
                sum[node as usize] += found[component * stride + first + entry];
            }
        }
        Ok(sum)
    }
}

impl<T: Number> Buffers<T> {
    /// Contributions of a component.
    fn contributions_len(&self, components: usize) -> usize {
        self.contributions.len() / components
    }
}

fn read<T: Number + Into<f64>>(
    device: &Accelerator,
    buffer: &AcceleratorBuffer<T>,
) -> Result<Vec<f64>> {
    let mut numbers = vec![T::default(); buffer.len()];
    device.read(buffer, &mut numbers)?;
    Ok(numbers.into_iter().map(Into::into).collect())
}
