//! One run of any operator's kernel: arguments from its list of operands, output against the oracle.

mod elements;
mod memory;

use anyhow::{Context, Result, ensure};
use femto_kernel::family::cell_quadrature::fans::NONE;
use femto_kernel::family::cell_quadrature::source::{Interleave, place, places};
use femto_kernel::family::{KernelSource, Operand, Scatter, Vectors};
use femto_kernel::roofline::Precision;
use femto_platform::device::accelerator::{Accelerator, Launch, Module};
use rand::RngExt;

use elements::CONTEXT;
pub(super) use elements::{Elements, Map, Oracle, Random, Recipe, oracle};
use memory::Memory;
pub(super) use memory::Value;

/// Contributions begin with so many of another launch.
const CONTRIBUTION_FIRST: usize = 2;

/// Entries of an element whose diagonal is compared whole: the oracle takes an application for each.
const ALL_ENTRIES: usize = 192;

/// Random entries that are compared in an element of more.
const SOME_ENTRIES: usize = 8;

/// A device with a compiled kernel.
pub(super) type On<'a> = (&'a Accelerator, &'a Module);

/// A kernel and what it is run on.
#[derive(Clone)]
pub(super) struct Run<'a> {
    pub(super) elements: &'a Elements,
    pub(super) kernel: &'a KernelSource,
    pub(super) vectors: Vectors,
    pub(super) interleave: Interleave,
    pub(super) precision: Precision,
    /// Operands that families make themselves: geometry, rules, vertices, lists of blocks.
    pub(super) arrays: Vec<(Operand, Value)>,
    /// Nodes that one thread alone writes to the output, `[node]`; the others are summed.
    pub(super) written: Vec<bool>,
    /// Elements, or places for them, that the kernel runs over.
    pub(super) places: usize,
}

/// What a kernel wrote.
struct Output {
    v: Vec<f64>,
    contributions: Vec<f64>,
}

impl Run<'_> {
    /// Holds the kernel's output against the oracle; the error has the seed of the elements.
    pub(super) fn check(&self, on: On<'_>, oracle: &Oracle, tolerance: f64) -> Result<()> {
        let entries = self.compared();
        let expected = self.expected(oracle, &entries);
        let compare = || match self.vectors {
            Vectors::Element { .. } => {
                for (found, expected) in self.e_vector(on)?.iter().zip(&expected) {
                    let found: Vec<f64> = entries.iter().map(|&n| found[n]).collect();
                    close(&found, expected, tolerance)?;
                }
                Ok(())
            }
            Vectors::Nodal { scatter, .. } => {
                let found = self.l_vector(&self.launch(on)?, scatter)?;
                close(&found, &self.elements.sum(&expected), tolerance)
            }
        };
        compare().with_context(|| format!("seed {}", self.elements.seed))
    }

    /// Entries of an element's `[component][node]` that are compared: all, but of the diagonal of large elements.
    fn compared(&self) -> Vec<usize> {
        let all = self.elements.components * self.elements.own;
        let few = self.is_diagonal() && self.vectors.scatter().is_none() && all > ALL_ENTRIES;
        let mut random = rand::rng();
        match few {
            true => (0..SOME_ENTRIES)
                .map(|_| random.random_range(0..all))
                .collect(),
            false => (0..all).collect(),
        }
    }

    fn is_diagonal(&self) -> bool {
        !self.kernel.operands.contains(&Operand::U)
    }

    /// What the oracle makes of each element, `[element][entry]`.
    pub(super) fn expected(&self, oracle: &Oracle, entries: &[usize]) -> Vec<Vec<f64>> {
        let elements = self.elements;
        let of_element = |element: usize| {
            let u = elements.unknowns(element);
            if !self.is_diagonal() {
                return elements.apply(oracle, element, &u);
            }
            let entry = |&entry: &usize| {
                let mut unit = vec![0.0; u.len()];
                unit[entry] = 1.0;
                elements.apply(oracle, element, &unit)[entry]
            };
            entries.iter().map(entry).collect()
        };
        (0..elements.count).map(of_element).collect()
    }

    /// The E-vector that the kernel writes, `[element][component][node]`.
    pub(super) fn e_vector(&self, on: On<'_>) -> Result<Vec<Vec<f64>>> {
        let found = self.launch(on)?.v;
        let len = self.elements.components * self.elements.own;
        let entry = |element, n| found[place(self.interleave.vectors, element, (n, len))];
        let element = |element| (0..len).map(|n| entry(self.listed(element), n)).collect();
        Ok((0..self.elements.count).map(element).collect())
    }

    /// The L-vector that comes of the output, `[component][node]`.
    fn l_vector(&self, output: &Output, scatter: Scatter) -> Result<Vec<f64>> {
        let (total, len) = (self.elements.total, self.elements.u.len());
        let number = |n: usize| output.v[self.l_place(n / total, n % total)];
        let mut vector: Vec<f64> = (0..len).map(number).collect();
        if scatter == Scatter::Atomic {
            return Ok(vector);
        }
        for (component, vector) in vector.chunks_mut(total).enumerate() {
            for (v, _) in vector
                .iter_mut()
                .zip(&self.written)
                .filter(|(_, own)| !**own)
            {
                ensure!(v.is_nan(), "a node that is summed elsewhere was written");
                *v = 0.0;
            }
            let (entries, first) = self.contributions();
            for (n, &node) in entries.iter().enumerate() {
                if !self.written[node as usize] {
                    vector[node as usize] +=
                        output.contributions[component * (first + entries.len()) + first + n];
                }
            }
        }
        Ok(vector)
    }

    /// The node of each contribution, and how many come before these.
    fn contributions(&self) -> (&[u32], usize) {
        match self.given(Operand::BlockList) {
            Some(Value::U32(list)) => (list, CONTRIBUTION_FIRST),
            _ => (&self.elements.nodes, CONTRIBUTION_FIRST * self.elements.own),
        }
    }

    fn given(&self, operand: Operand) -> Option<&Value> {
        let mut given = self.arrays.iter().filter(|(of, _)| *of == operand);
        given.next().map(|(_, value)| value)
    }

    /// Where an element is in E-vectors; with a list elsewhere.
    fn listed(&self, element: usize) -> usize {
        match self.vectors {
            // No number of elements here is a multiple of 3.
            Vectors::Element { listed: true } => (3 * element + 2) % self.elements.count,
            _ => element,
        }
    }

    fn is_interleaved(&self) -> bool {
        matches!(self.vectors, Vectors::Nodal { interleaved, .. } if interleaved)
    }

    /// Where an entry of an L-vector is.
    fn l_place(&self, component: usize, node: usize) -> usize {
        match self.is_interleaved() {
            true => node * self.elements.components + component,
            false => component * self.elements.total + node,
        }
    }

    /// L-vectors `[vector][node]` as the kernel reads E-vectors.
    fn as_e_vector(&self, vectors: &[f64]) -> Vec<f64> {
        let count = self.elements.count;
        let element = |element| self.elements.gather(element, vectors);
        let all: Vec<f64> = (0..count).flat_map(element).collect();
        let mut order = vec![NONE; count];
        for element in 0..count {
            order[self.listed(element)] = element as u32;
        }
        rows(&all, (count, self.interleave.vectors), &order, f64::NAN)
    }

    /// An L-vector with an entry for each of `[component][node]`.
    fn as_l_vector(&self, entry: impl Fn(usize) -> f64) -> Vec<f64> {
        let (total, len) = (self.elements.total, self.elements.u.len());
        let mut vector = vec![f64::NAN; len];
        for n in 0..len {
            vector[self.l_place(n / total, n % total)] = entry(n);
        }
        vector
    }

    fn input(&self) -> Vec<f64> {
        match self.vectors {
            Vectors::Element { .. } => self.as_e_vector(&self.elements.u),
            Vectors::Nodal { .. } => self.as_l_vector(|n| self.elements.u[n]),
        }
    }

    /// Poison, but zero where sums are added.
    fn output(&self) -> Vec<f64> {
        let is_added_to = |n: usize| !self.written[n % self.elements.total];
        match self.vectors.scatter() {
            None => vec![f64::NAN; self.input().len()],
            Some(Scatter::Atomic) => {
                self.as_l_vector(|n| if is_added_to(n) { 0.0 } else { f64::NAN })
            }
            Some(Scatter::Deterministic) => self.as_l_vector(|_| f64::NAN),
        }
    }

    /// What the kernel is given as an operand.
    fn value(&self, operand: Operand) -> Option<Value> {
        let elements = self.elements;
        let natural: Vec<u32> = (0..elements.count as u32).collect();
        let sizes = (elements.count, self.interleave.data);
        let (entries, first) = self.contributions();
        let stride = first + entries.len();
        Some(match operand {
            Operand::Nodes => Value::U32(rows(&elements.nodes, sizes, &natural, 0)),
            Operand::ComponentStride if self.is_interleaved() => Value::Number(1),
            Operand::ComponentStride | Operand::FieldStride => Value::Number(elements.total),
            Operand::Contributions => Value::Reals(vec![f64::NAN; elements.components * stride]),
            Operand::ContributionStride => Value::Number(stride),
            Operand::ContributionFirst => Value::Number(CONTRIBUTION_FIRST),
            Operand::Elements => {
                let listed = natural.iter().map(|&n| self.listed(n as usize) as u32);
                Value::U32(listed.collect())
            }
            Operand::CellFields => {
                Value::Reals(rows(&elements.cell_fields, sizes, &natural, f64::NAN))
            }
            Operand::PointFields => {
                Value::Reals(rows(&elements.point_fields, sizes, &natural, f64::NAN))
            }
            Operand::NodalFields => Value::Reals(match self.vectors {
                Vectors::Element { .. } => self.as_e_vector(&elements.nodal_fields),
                Vectors::Nodal { .. } => elements.nodal_fields.clone(),
            }),
            Operand::EvalContext => Value::Reals([&[CONTEXT.time], CONTEXT.parameters].concat()),
            Operand::U => Value::Reals(self.input()),
            Operand::V => Value::Reals(self.output()),
            Operand::Count => Value::Number(self.places),
            given => self.given(given)?.clone(),
        })
    }

    /// Runs the kernel on fresh outputs.
    fn launch(&self, (device, module): On<'_>) -> Result<Output> {
        let kernel = self.kernel;
        let memory = |&operand: &Operand| {
            let value = self.value(operand);
            let value = value.with_context(|| format!("nothing is given as {operand:?}"))?;
            Memory::new(device, &value, self.precision)
        };
        let mut memory: Vec<Memory> = kernel.operands.iter().map(memory).collect::<Result<_>>()?;
        let launch = Launch {
            blocks: kernel.blocks(self.places),
            threads: kernel.block.threads,
            shared_bytes: kernel.block.shared_bytes(self.precision),
        };
        let arguments: Vec<_> = memory.iter_mut().map(Memory::argument).collect();
        device.launch(&module.kernel(kernel.entry)?, &launch, &arguments)?;
        let read = |operand| {
            let at = kernel.operands.iter().position(|&other| other == operand);
            at.map_or(Ok(Vec::new()), |at| memory[at].read(device))
        };
        Ok(Output {
            v: read(Operand::V)?,
            contributions: read(Operand::Contributions)?,
        })
    }
}

/// The array over elements that has rows of `all`, `[element][number]` of so many elements, in an order, so many of
/// them together, and poison where there is none.
pub(super) fn rows<N: Copy>(
    all: &[N],
    (elements, together): (usize, usize),
    order: &[u32],
    poison: N,
) -> Vec<N> {
    let len = all.len() / elements;
    let mut array = vec![poison; places(together, order.len(), len)];
    for (at, &element) in order.iter().enumerate() {
        for n in (0..len).filter(|_| element != NONE) {
            array[place(together, at, (n, len))] = all[element as usize * len + n];
        }
    }
    array
}

/// Holds numbers against expected ones, relative to the largest of these.
pub(super) fn close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<()> {
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    ensure!(found.len() == expected.len(), "lengths differ");
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Not for NaN.
        let close = (found - expected).abs() <= tolerance * largest;
        ensure!(close, "entry {n} is {found}, not {expected}");
    }
    Ok(())
}
