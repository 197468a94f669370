//! A kernel on a device, against the oracle.

use anyhow::{Context, Result, ensure};
use femto_kernel::family::{KernelSource, Operand, Scatter, Vectors};
use femto_kernel::roofline::Precision;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Launch, Module,
};
use femto_platform::device::{Device, Element as Number};

use super::data::{CONTEXT, Data, ELEMENTS};

/// Contributions begin with so many elements of another launch.
const CONTRIBUTION_FIRST: usize = 2;

/// Where listed elements are in E-vectors.
const LIST: [u32; ELEMENTS] = [2, 0, 4, 1, 3];

/// What a kernel is run on.
pub(super) struct Run<'a> {
    pub(super) data: &'a Data,
    pub(super) kernel: &'a KernelSource,
    pub(super) vectors: Vectors,
    pub(super) precision: Precision,
}

/// The buffers of a run.
struct Buffers<T: Number> {
    geometry: AcceleratorBuffer<T>,
    rule: AcceleratorBuffer<T>,
    nodes: AcceleratorBuffer<u32>,
    list: AcceleratorBuffer<u32>,
    cell_fields: AcceleratorBuffer<T>,
    nodal_fields: AcceleratorBuffer<T>,
    point_fields: AcceleratorBuffer<T>,
    context: AcceleratorBuffer<T>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    contributions: AcceleratorBuffer<T>,
}

impl Run<'_> {
    /// Runs the kernel and holds its output against `expected`, `[element][component][place]`.
    pub(super) fn check<T: Number + Into<f64>>(
        &self,
        (device, module): (&Accelerator, &Module),
        from: fn(f64) -> T,
        expected: &[Vec<f64>],
        tolerance: f64,
    ) -> Result<()> {
        let mut buffers = self.buffers(device, from)?;
        self.launch(device, module, &mut buffers)?;
        let found = read(device, &buffers.v)?;
        match self.vectors {
            Vectors::Element { .. } => {
                let len = expected[0].len();
                for (element, expected) in expected.iter().enumerate() {
                    let found = &found[self.listed(element) * len..][..len];
                    close(found, expected, tolerance).with_context(|| format!("{element}"))?;
                }
                Ok(())
            }
            Vectors::Nodal { scatter, .. } => {
                let mut found = self.by_component(&found);
                if scatter == Scatter::Deterministic {
                    self.add_contributions(&read(device, &buffers.contributions)?, &mut found);
                }
                close(&found, &self.data.sum(expected), tolerance)
            }
        }
    }

    /// Where an element is in E-vectors.
    fn listed(&self, element: usize) -> usize {
        match self.vectors {
            Vectors::Element { listed: true } => LIST[element] as usize,
            _ => element,
        }
    }

    /// L-vectors `[component][node]` as E-vectors.
    fn e_vector(&self, vectors: &[f64]) -> Vec<f64> {
        let len = vectors.len() / self.data.total * self.data.nodes();
        let mut out = vec![f64::NAN; ELEMENTS * len];
        for element in 0..ELEMENTS {
            let values = self.data.of_element(element, vectors);
            out[self.listed(element) * len..][..len].copy_from_slice(&values);
        }
        out
    }

    fn components(&self) -> usize {
        self.data.u.len() / self.data.total
    }

    /// Where a component of a node is in an L-vector, and the distance of components.
    fn places(&self) -> (impl Fn(usize, usize) -> usize, usize) {
        let (components, total) = (self.components(), self.data.total);
        let interleaved = matches!(
            self.vectors,
            Vectors::Nodal {
                interleaved: true,
                ..
            }
        );
        let (node_stride, stride) = if interleaved {
            (components, 1)
        } else {
            (1, total)
        };
        let place = move |component, node| component * stride + node * node_stride;
        (place, stride)
    }

    fn by_component(&self, vector: &[f64]) -> Vec<f64> {
        let (place, total) = (self.places().0, self.data.total);
        let number = |n| vector[place(n / total, n % total)];
        (0..vector.len()).map(number).collect()
    }

    /// Adds contributions of nodes that are not inside elements to `found`, where these are poison.
    fn add_contributions(&self, contributions: &[f64], found: &mut [f64]) {
        let data = self.data;
        let (nodes, stride) = (data.nodes(), (CONTRIBUTION_FIRST + ELEMENTS) * data.nodes());
        for component in 0..self.components() {
            for n in (0..ELEMENTS * nodes).filter(|n| !data.is_inside(n % nodes)) {
                let node = data.node(n / nodes, n % nodes);
                let contribution =
                    contributions[component * stride + CONTRIBUTION_FIRST * nodes + n];
                let sum = &mut found[component * data.total + node];
                *sum = if sum.is_nan() {
                    contribution
                } else {
                    *sum + contribution
                };
            }
        }
    }

    fn buffers<T: Number>(&self, device: &Accelerator, from: fn(f64) -> T) -> Result<Buffers<T>> {
        let data = self.data;
        let upload = |values: &[f64]| {
            let values: Vec<T> = values.iter().map(|&value| from(value)).collect();
            device.upload(&values)
        };
        let nodes = data.nodes();
        let table: Vec<u32> = (0..ELEMENTS * nodes)
            .map(|n| data.node(n / nodes, n % nodes) as u32)
            .collect();
        let context: Vec<f64> = [CONTEXT.time]
            .into_iter()
            .chain(CONTEXT.parameters.iter().copied())
            .collect();
        let (u, v, nodal) = match self.vectors {
            Vectors::Element { .. } => {
                let u = self.e_vector(&data.u);
                let v = vec![f64::NAN; u.len()];
                (u, v, self.e_vector(&data.nodal))
            }
            Vectors::Nodal { scatter, .. } => {
                let (u, v) = self.l_vectors(scatter);
                (u, v, data.nodal.clone())
            }
        };
        let contributions = self.components() * (CONTRIBUTION_FIRST + ELEMENTS) * nodes;
        Ok(Buffers {
            geometry: upload(&data.geometry)?,
            rule: upload(&data.rule)?,
            nodes: device.upload(&table)?,
            list: device.upload(&LIST)?,
            cell_fields: upload(&data.cell)?,
            nodal_fields: upload(&nodal)?,
            point_fields: upload(&data.points)?,
            context: upload(&context)?,
            u: upload(&u)?,
            v: upload(&v)?,
            contributions: upload(&vec![f64::NAN; contributions])?,
        })
    }

    /// Input; output, poisoned but where it is added to.
    fn l_vectors(&self, scatter: Scatter) -> (Vec<f64>, Vec<f64>) {
        let (data, place) = (self.data, self.places().0);
        let mut u = vec![f64::NAN; data.u.len()];
        let mut v = u.clone();
        for n in 0..u.len() {
            u[place(n / data.total, n % data.total)] = data.u[n];
        }
        for n in 0..ELEMENTS * data.nodes() {
            let at = n % data.nodes();
            let node = data.node(n / data.nodes(), at);
            if scatter == Scatter::Atomic && !data.is_inside(at) {
                for component in 0..self.components() {
                    v[place(component, node)] = 0.0;
                }
            }
        }
        (u, v)
    }

    fn launch<T: Number>(
        &self,
        device: &Accelerator,
        module: &Module,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let data = self.data;
        let number = |n: usize| Argument::U32(n as u32);
        let argument = |operand: &Operand| {
            Some(match operand {
                Operand::Geometry => Argument::input(&buffers.geometry),
                Operand::Rule => Argument::input(&buffers.rule),
                Operand::Nodes => Argument::input(&buffers.nodes),
                Operand::ComponentStride => number(self.places().1),
                Operand::Contributions => Argument::input(&buffers.contributions),
                Operand::ContributionStride => {
                    number((CONTRIBUTION_FIRST + ELEMENTS) * data.nodes())
                }
                Operand::ContributionFirst => number(CONTRIBUTION_FIRST),
                Operand::Elements => Argument::input(&buffers.list),
                Operand::CellFields => Argument::input(&buffers.cell_fields),
                Operand::NodalFields => Argument::input(&buffers.nodal_fields),
                Operand::FieldStride => number(data.total),
                Operand::PointFields => Argument::input(&buffers.point_fields),
                Operand::EvalContext => Argument::input(&buffers.context),
                Operand::U => Argument::input(&buffers.u),
                Operand::V => Argument::input(&buffers.v),
                Operand::Count => number(ELEMENTS),
                _ => return None,
            })
        };
        let arguments: Option<Vec<Argument>> = self.kernel.operands.iter().map(argument).collect();
        let arguments = arguments.context("an operand that there is not")?;
        let launch = Launch {
            blocks: self.kernel.blocks(ELEMENTS),
            threads: self.kernel.block.threads,
            shared_bytes: self.kernel.block.shared_bytes(self.precision),
        };
        device.launch(&module.kernel(self.kernel.entry)?, &launch, &arguments)?;
        Ok(())
    }
}

fn read<T: Number + Into<f64>>(
    device: &Accelerator,
    buffer: &AcceleratorBuffer<T>,
) -> Result<Vec<f64>> {
    use femto_platform::device::Buffer;
    let mut found = vec![T::default(); buffer.len()];
    device.read(buffer, &mut found)?;
    Ok(found.into_iter().map(Into::into).collect())
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<()> {
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Not for NaN.
        let close = (found - expected).abs() <= tolerance * largest;
        ensure!(close, "entry {n} is {found}, not {expected}");
    }
    Ok(())
}
