//! Running any operator's kernel: arguments from its list of operands, output against the oracle.

use anyhow::{Context, Result, ensure};
use femto_kernel::family::cell_quadrature::fans::NONE;
use femto_kernel::family::cell_quadrature::source::{Interleave, place, places};
use femto_kernel::family::{Array, KernelSource, Operand, Scatter, Vectors};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument, Module};
use femto_platform::device::{Buffer, Device};

use super::elements::{CONTEXT, Elements, Oracle};
use super::{Number, launch_of};

/// Offset of the contributions, as if another launch came first.
const CONTRIBUTION_FIRST: usize = 2;

/// Elements with at most this many entries have their whole diagonal compared: the oracle takes one
/// application per entry.
const ALL_ENTRIES: usize = 192;

/// Approximate number of entries compared in larger elements.
const SOME_ENTRIES: usize = 8;

/// A device with a compiled kernel.
type On<'a> = (&'a Accelerator, &'a Module);

/// L-vectors.
pub(super) const fn nodal(interleaved: bool, scatter: Scatter) -> Vectors {
    Vectors::Nodal {
        interleaved,
        scatter,
    }
}

/// A kernel with its input.
pub(super) struct Run<'a> {
    pub(super) elements: &'a Elements,
    pub(super) kernel: &'a KernelSource,
    pub(super) vectors: Vectors,
    pub(super) interleave: Interleave,
    pub(super) precision: Precision,
    /// Operands made by families: geometry, rules, vertices, lists of blocks.
    pub(super) arrays: Vec<(Operand, Value)>,
    /// Whether a node is written to the output, `[node]`, rather than summed.
    pub(super) written: Vec<bool>,
    /// Elements, or places for them, that the kernel runs over. In E-vectors the others stay NaN.
    pub(super) places: usize,
}

impl Run<'_> {
    /// Compares the kernel's output with the oracle; the error includes the seed of the elements.
    pub(super) fn check(&self, on: On<'_>, oracle: &Oracle, tolerance: f64) -> Result<()> {
        let expected = self.expected(oracle);
        let compare = || match self.vectors.scatter() {
            None => self.compare_elements(&self.launch(on)?.0, &expected, tolerance),
            Some(scatter) => {
                let found = self.l_vector(self.launch(on)?, scatter)?;
                close(&found, &self.elements.sum(&expected), tolerance)
            }
        };
        compare().with_context(|| format!("seed {}", self.elements.seed))
    }

    /// The oracle's result for each element, `[element][component][node]`; for the diagonal of large
    /// elements some entries, the others NaN.
    pub(super) fn expected(&self, oracle: &Oracle) -> Vec<Vec<f64>> {
        let is_diagonal = !self.kernel.operands.contains(&Operand::U);
        let of_element = |element: usize| {
            let u = self.elements.gather(element, &self.elements.u);
            if !is_diagonal {
                return self.elements.apply(oracle, element, &u);
            }
            let step = if u.len() > ALL_ENTRIES {
                u.len() / SOME_ENTRIES
            } else {
                1
            };
            let mut diagonal = vec![f64::NAN; u.len()];
            for n in (rand::random::<u32>() as usize % step..u.len()).step_by(step) {
                let mut unit = vec![0.0; u.len()];
                unit[n] = 1.0;
                diagonal[n] = self.elements.apply(oracle, element, &unit)[n];
            }
            diagonal
        };
        (0..self.elements.count()).map(of_element).collect()
    }

    /// Compares an E-vector written by the kernel, relative to the largest value of all elements.
    fn compare_elements(&self, v: &[f64], expected: &[Vec<f64>], tolerance: f64) -> Result<()> {
        let of_element = |(element, expected): (usize, &Vec<f64>)| -> Vec<f64> {
            let at = |n| place(self.interleave.vectors, element, (n, expected.len()));
            (0..expected.len()).map(|n| v[at(n)]).collect()
        };
        let elements = (0..expected.len()).map(|element| self.listed(element));
        let mut found: Vec<Vec<f64>> = elements.zip(expected).map(of_element).collect();
        let rest = found.split_off(self.places.min(expected.len()));
        let is_poison = rest.iter().flatten().all(|v| v.is_nan());
        ensure!(is_poison, "elements that remain were written");
        close(
            &found.concat(),
            &expected[..found.len()].concat(),
            tolerance,
        )
    }

    /// The L-vector from output and contributions, `[component][node]`.
    fn l_vector(&self, (v, added): (Vec<f64>, Vec<f64>), scatter: Scatter) -> Result<Vec<f64>> {
        let mut vectors = match self.vectors {
            Vectors::Nodal { interleaved, .. } if interleaved => {
                transposed(&v, self.elements.recipe.components)
            }
            _ => v,
        };
        if scatter == Scatter::Atomic {
            return Ok(vectors);
        }
        let (entries, first) = self.contributions();
        let added = added.chunks_exact(first + entries.len());
        for (v, added) in vectors.chunks_exact_mut(self.elements.total).zip(added) {
            for (v, _) in v.iter_mut().zip(&self.written).filter(|(_, own)| !**own) {
                ensure!(v.is_nan(), "a node that is summed elsewhere was written");
                *v = 0.0;
            }
            let entries = entries.iter().zip(&added[first..]);
            for (&node, value) in entries.filter(|(node, _)| !self.written[**node as usize]) {
                v[node as usize] += value;
            }
        }
        Ok(vectors)
    }

    /// The node of each contribution, and the number of preceding contributions.
    fn contributions(&self) -> (&[u32], usize) {
        let nodes = &self.elements.recipe.nodes;
        match self.given(Operand::BlockList) {
            Some(Value::U32(list)) => (list, CONTRIBUTION_FIRST),
            _ => (
                nodes,
                CONTRIBUTION_FIRST * nodes.len() / self.elements.count(),
            ),
        }
    }

    fn given(&self, operand: Operand) -> Option<&Value> {
        let mut given = self.arrays.iter().filter(|(of, _)| *of == operand);
        given.next().map(|(_, value)| value)
    }

    /// The index of an element in E-vectors; permuted if there is a list.
    fn listed(&self, element: usize) -> usize {
        match self.vectors {
            // No number of elements here is a multiple of 3.
            Vectors::Element { listed: true } => (3 * element + 2) % self.elements.count(),
            _ => element,
        }
    }

    /// L-vectors `[vector][node]` in the kernel's layout.
    fn laid_out(&self, vectors: &[f64]) -> Vec<f64> {
        match self.vectors {
            Vectors::Nodal { interleaved, .. } if interleaved => {
                transposed(vectors, self.elements.total)
            }
            Vectors::Nodal { .. } => vectors.to_vec(),
            Vectors::Element { .. } => {
                let mut all = vec![Vec::new(); self.elements.count()];
                for element in 0..all.len() {
                    all[self.listed(element)] = self.elements.gather(element, vectors);
                }
                let sizes = (all.len(), self.interleave.vectors);
                rows(&all.concat(), sizes, None, f64::NAN)
            }
        }
    }

    /// NaN `[component][node]`, but zero where sums are added.
    fn start(&self) -> Vec<f64> {
        let is_atomic = self.vectors.scatter() == Some(Scatter::Atomic);
        let of_node = |own: &bool| if is_atomic && !own { 0.0 } else { f64::NAN };
        let of_component: Vec<f64> = self.written.iter().map(of_node).collect();
        of_component.repeat(self.elements.recipe.components)
    }

    /// The value of an operand.
    fn value(&self, operand: Operand) -> Option<Value> {
        let elements = self.elements;
        let sizes = (elements.count(), self.interleave.data);
        let reals = |all| Value::Reals(rows(all, sizes, None, f64::NAN));
        let (entries, first) = self.contributions();
        let stride = first + entries.len();
        let poison = vec![f64::NAN; elements.recipe.components * stride];
        Some(match (operand, self.vectors) {
            (Operand::Nodes, _) => Value::U32(rows(&elements.recipe.nodes, sizes, None, 0)),
            (Operand::ComponentStride, Vectors::Nodal { interleaved, .. }) if interleaved => {
                Value::Number(1)
            }
            (Operand::ComponentStride | Operand::FieldStride, _) => Value::Number(elements.total),
            (Operand::Contributions, _) => Value::Reals(poison),
            (Operand::ContributionStride, _) => Value::Number(stride),
            (Operand::ContributionFirst, _) => Value::Number(CONTRIBUTION_FIRST),
            (Operand::Elements, _) => {
                let listed = (0..elements.count()).map(|element| self.listed(element) as u32);
                Value::U32(listed.collect())
            }
            (Operand::CellFields, _) => reals(&elements.cell_fields),
            (Operand::PointFields, _) => reals(&elements.point_fields),
            (Operand::NodalFields, Vectors::Nodal { .. }) => {
                Value::Reals(elements.nodal_fields.clone())
            }
            (Operand::NodalFields, _) => Value::Reals(self.laid_out(&elements.nodal_fields)),
            (Operand::EvalContext, _) => {
                Value::Reals([&[CONTEXT.time], CONTEXT.parameters].concat())
            }
            (Operand::U, _) => Value::Reals(self.laid_out(&elements.u)),
            (Operand::V, _) => Value::Reals(self.laid_out(&self.start())),
            (Operand::Count, _) => Value::Number(self.places),
            (given, _) => self.given(given)?.clone(),
        })
    }

    /// Runs the kernel on fresh outputs: v and contributions.
    fn launch(&self, (device, module): On<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
        let kernel = self.kernel;
        let memory = |&operand: &Operand| {
            let value = self.value(operand);
            let value = value.with_context(|| format!("nothing is given as {operand:?}"))?;
            value.upload(device, self.precision)
        };
        let mut memory: Vec<Memory> = kernel.operands.iter().map(memory).collect::<Result<_>>()?;
        let launch = launch_of(kernel.block, self.precision, kernel.blocks(self.places));
        let arguments: Vec<_> = memory.iter_mut().map(Memory::argument).collect();
        device.launch(&module.kernel(kernel.entry)?, &launch, &arguments)?;
        let read = |operand| {
            let at = kernel.operands.iter().position(|&other| other == operand);
            at.map_or(Ok(Vec::new()), |at| memory[at].read(device))
        };
        Ok((read(Operand::V)?, read(Operand::Contributions)?))
    }
}

/// An array or number as an operand of a kernel.
#[derive(Clone)]
pub(super) enum Value {
    Number(usize),
    /// Numbers of the kernel's precision.
    Reals(Vec<f64>),
    /// Numbers of single precision, whatever the kernel's.
    Singles(Vec<f64>),
    U32(Vec<u32>),
    U16(Vec<u16>),
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        match array {
            Array::Reals(numbers) => Self::Reals(numbers),
            Array::U32(numbers) => Self::U32(numbers),
            Array::U16(numbers) => Self::U16(numbers),
        }
    }
}

/// A value on a device.
enum Memory {
    Number(u32),
    Double(AcceleratorBuffer<f64>),
    Single(AcceleratorBuffer<f32>),
    U32(AcceleratorBuffer<u32>),
    U16(AcceleratorBuffer<u16>),
}

impl Value {
    fn upload(&self, device: &Accelerator, precision: Precision) -> Result<Memory> {
        Ok(match (self, precision) {
            (&Self::Number(number), _) => Memory::Number(number as u32),
            (Self::Reals(numbers), Precision::Fp64) => Memory::Double(device.upload(numbers)?),
            (Self::Reals(numbers) | Self::Singles(numbers), _) => {
                let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                Memory::Single(device.upload(&numbers)?)
            }
            (Self::U32(numbers), _) => Memory::U32(device.upload(numbers)?),
            (Self::U16(numbers), _) => Memory::U16(device.upload(numbers)?),
        })
    }
}

impl Memory {
    fn argument(&mut self) -> Argument<'_> {
        match self {
            Self::Number(number) => Argument::U32(*number),
            Self::Double(numbers) => Argument::output(numbers),
            Self::Single(numbers) => Argument::output(numbers),
            Self::U32(numbers) => Argument::output(numbers),
            Self::U16(numbers) => Argument::output(numbers),
        }
    }

    /// The real numbers; empty for other types.
    fn read(&self, device: &Accelerator) -> Result<Vec<f64>> {
        let (mut double, mut single) = (Vec::new(), Vec::new());
        if let Self::Double(buffer) = self {
            double.resize(buffer.len(), 0.0);
            device.read(buffer, &mut double)?;
        }
        if let Self::Single(buffer) = self {
            single.resize(buffer.len(), 0.0);
            device.read(buffer, &mut single)?;
        }
        double.extend(single.into_iter().map(f64::from));
        Ok(double)
    }
}

/// Rows of elements in the given order, from `all` `[element][number]`, interleaved and filled with NaN for
/// missing ones.
pub(super) fn rows<N: Copy>(
    all: &[N],
    (elements, together): (usize, usize),
    order: Option<&[u32]>,
    poison: N,
) -> Vec<N> {
    let (len, count) = (all.len() / elements, order.map_or(elements, <[u32]>::len));
    let mut array = vec![poison; places(together, count, len)];
    for at in 0..count {
        let element = order.map_or(at as u32, |order| order[at]);
        for n in (0..len).filter(|_| element != NONE) {
            array[place(together, at, (n, len))] = all[element as usize * len + n];
        }
    }
    array
}

/// The transpose of `[row][column]`.
fn transposed(all: &[f64], columns: usize) -> Vec<f64> {
    let rows = all.len() / columns;
    let entry = |n: usize| all[n % rows * columns + n / rows];
    (0..all.len()).map(entry).collect()
}

/// Compares numbers with the expected ones that are not NaN, relative to the largest of these.
pub(super) fn close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<()> {
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    ensure!(found.len() == expected.len(), "lengths differ");
    let pairs = found.iter().zip(expected).enumerate();
    for (n, (found, expected)) in pairs.filter(|(_, (_, expected))| !expected.is_nan()) {
        // Not for NaN.
        let close = (found - expected).abs() <= tolerance * largest;
        ensure!(close, "entry {n} is {found}, not {expected}");
    }
    Ok(())
}

/// The output of a kernel on E-vectors of some elements for the input `u`; `inputs` are its other arrays.
pub(super) fn element_product<'a, T: Number>(
    (device, module, source): (&Accelerator, &Module, &KernelSource),
    (elements, u): (usize, &[f64]),
    inputs: impl Fn(Operand) -> Option<Argument<'a>>,
) -> Result<Vec<f64>> {
    let mut v = T::upload(device, &vec![f64::NAN; u.len()])?;
    let mut found = T::rounded(u);
    let u = device.upload(&found)?;
    let mut output = Some(&mut v);
    let mut arguments = Vec::new();
    for &operand in &source.operands {
        arguments.extend(match operand {
            Operand::U => Some(Argument::input(&u)),
            Operand::V => output.take().map(Argument::output),
            Operand::Count => Some(Argument::U32(elements as u32)),
            other => inputs(other),
        });
    }
    let launch = launch_of(source.block, T::PRECISION, source.blocks(elements));
    device.launch(&module.kernel(source.entry)?, &launch, &arguments)?;
    device.read(&v, &mut found)?;
    Ok(found.into_iter().map(T::to_f64).collect())
}
