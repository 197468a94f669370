//! Matrices, factors and vectors of one degree and size, and measuring a kernel on them.

use super::Variant;
use crate::compare::{difference, finite};
use crate::compile::compile;
use crate::memory::fits;
use crate::record::Outcome;
use crate::timing::{since, time_on_device};
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::accelerator::{language, limits};
use femto::operator::OperatorError;
use femto::vector::{RandomVectors, VectorOps};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::affine_simplex::schedule::Schedule;
use femto_kernel::family::affine_simplex::source::{KernelSpec, tables};
use femto_kernel::family::affine_simplex::{Matrices, fragments};
use femto_kernel::family::{KernelSource, Operand, Vectors};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use serde_json::json;
use std::time::Instant;

/// Factors of an element: six of the stiffness, one of the mass.
pub(super) const FACTORS: usize = 7;
/// Number of elements compared with the oracle.
const COMPARED: usize = 5;
/// Seeds of the vector and of the factors.
const U: u32 = 0;
const GEOMETRY: u32 = 1;

/// The matrices of a degree, with mass and stiffness.
pub(super) fn matrices(degree: usize) -> Result<Matrices, BenchError> {
    let cell = Cell::Tetrahedron;
    let basis = LagrangeBasis::new(cell, degree).map_err(OperatorError::from)?;
    let rule = rule(cell, 2 * degree).map_err(OperatorError::from)?;
    let tables = DenseTables::in_space(&basis, &rule, cell.dim());
    Ok(Matrices::with(&tables, true, true))
}

/// The kernel's source, on E-vectors.
pub(super) fn source(
    (matrices, precision): (&Matrices, Precision),
    variant: &Variant,
    language: Language,
) -> KernelSource {
    let problem = KernelSpec {
        matrices,
        components: 1,
        vectors: Vectors::Element {
            listed: variant.step.is_some_and(|step| step.listed),
        },
        precision,
        language,
    };
    problem.source(&variant.schedule)
}

/// Random factors and vectors of one degree and size on a device.
#[derive(Debug)]
pub struct TetrahedraData<'a, T: Number> {
    device: &'a Accelerator,
    degree: usize,
    elements: usize,
    matrices: Matrices,
    numbers: RandomVectors<'a, T>,
    /// With S_ab and S_ba apart, and added up.
    tables: [AcceleratorBuffer<T>; 2],
    fragments: AcceleratorBuffer<T>,
    geometry: AcceleratorBuffer<T>,
    list: AcceleratorBuffer<u32>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    /// Some elements and their outputs.
    wanted: Vec<(usize, Vec<f64>)>,
}

impl<'a, T: Number> TetrahedraData<'a, T> {
    /// Generates them, `[element][factor]` and `[element][node]`.
    ///
    /// # Errors
    /// A degree out of range, or not enough memory.
    pub fn new(
        device: &'a Accelerator,
        degree: usize,
        elements: usize,
    ) -> Result<Self, BenchError> {
        let matrices = matrices(degree)?;
        let nodes = matrices.nodes;
        let bytes = elements as f64 * ((2 * nodes + FACTORS) * T::BYTES + 4) as f64;
        let what = format!("tetrahedra of degree {degree} at this size");
        fits(&what, &device.info(), bytes)?;
        let numbers = RandomVectors::new(device)?;
        let all = matrices.all(true);
        let oracle = |element: usize| {
            let entry = |seed, index| RandomVectors::<T>::entry(seed, index);
            let factors: Vec<f64> = (0..FACTORS)
                .map(|m| entry(GEOMETRY, element * FACTORS + m))
                .collect();
            let u: Vec<f64> = (0..nodes).map(|n| entry(U, element * nodes + n)).collect();
            let row = |n: usize| -> f64 {
                let terms = factors.iter().zip(&all).map(|(factor, matrix)| {
                    let row = matrix[n * nodes..][..nodes].iter();
                    factor * row.zip(&u).map(|(a, u)| a * u).sum::<f64>()
                });
                terms.sum()
            };
            (element, (0..nodes).map(row).collect())
        };
        let count = elements.min(COMPARED);
        let sample = (0..count).map(|index| index * (elements - 1) / (count - 1).max(1));
        let wanted = sample.map(oracle).collect();
        let upload = |values: Vec<f64>| {
            device.upload(&values.into_iter().map(T::from_f64).collect::<Vec<T>>())
        };
        let list: Vec<u32> = (0..elements as u32).collect();
        Ok(Self {
            device,
            degree,
            elements,
            tables: [
                upload(tables(&matrices, false))?,
                upload(tables(&matrices, true))?,
            ],
            fragments: upload(fragments(&matrices, T::PRECISION))?,
            geometry: numbers.make(GEOMETRY, elements * FACTORS)?,
            list: device.upload(&list)?,
            u: numbers.make(U, elements * nodes)?,
            v: device.zeros(elements * nodes)?,
            numbers,
            matrices,
            wanted,
        })
    }

    /// Measures: 1. text and kernel, 2. output, compared, 3. time, 4. record.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a schedule that is illegal for the degree or the device; a text that does not
    /// compile, an output that is not finite.
    pub fn measure(
        &mut self,
        variant: &Variant,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<Record, BenchError> {
        let (device, schedule) = (self.device, &variant.schedule);
        let source = source(
            (&self.matrices, T::PRECISION),
            variant,
            language(device.features()),
        );
        let problem = KernelSpec {
            matrices: &self.matrices,
            components: 1,
            vectors: Vectors::ELEMENT,
            precision: T::PRECISION,
            language: language(device.features()),
        };
        let limits = limits(device.features());
        schedule.validate(problem.sizes(), T::PRECISION, &limits)?;
        let work = problem.work(schedule, self.elements);
        let start = Instant::now();
        let kernel = compile(device, &source.name, &source.text)?.kernel(source.entry)?;
        let compile_seconds = since(start);
        device.fill(f64::NAN, &mut self.v)?;
        self.run(variant, &source, &kernel)?;
        let error = self.error(variant)?;
        let timing = time_on_device(device, sampling, || self.run(variant, &source, &kernel))?;
        let outcome = Outcome {
            precision: T::PRECISION,
            device: device.info(),
            timing,
            error: Some(error),
            work,
            ceilings: *ceilings,
        };
        let mut record = Record::new("tetrahedra", outcome);
        let nodes = self.elements * self.matrices.nodes;
        let rows = schedule.rows();
        record.setting = vec![
            ("step", json!(variant.step.map(|step| step.number))),
            ("change", json!(variant.step.map(|step| step.change))),
            ("degree", json!(self.degree)),
            ("elements", json!(self.elements)),
            ("nodes", json!(nodes)),
            ("per_thread", json!(rows.map(|it| it.elements_per_thread))),
            ("aside", json!(rows.map(|it| it.elements_aside))),
            ("unroll", json!(rows.map(|it| it.unroll))),
        ];
        record.schedule = schedule.to_string();
        record.counts = vec![("rate", Some(nodes))];
        let usage = kernel.usage();
        record.extras = vec![
            ("registers", json!(usage.registers)),
            ("local_bytes", json!(usage.local_bytes)),
            (
                "block_shared_bytes",
                json!(source.block.shared_bytes(T::PRECISION)),
            ),
            ("compile_seconds", json!(compile_seconds)),
        ];
        Ok(record)
    }

    fn run(
        &mut self,
        variant: &Variant,
        source: &KernelSource,
        kernel: &Kernel,
    ) -> Result<(), DeviceError> {
        let [apart, symmetric] = &self.tables;
        let tables = match variant.schedule {
            Schedule::Rows(rows) if !rows.symmetric => apart,
            _ => symmetric,
        };
        let launch = Launch {
            blocks: source.blocks(self.elements),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let elements = self.elements as u32;
        let mut v = Some(&mut self.v);
        let mut arguments = Vec::new();
        for operand in &source.operands {
            arguments.extend(match operand {
                Operand::Geometry => Some(Argument::input(&self.geometry)),
                Operand::Tables => Some(Argument::input(tables)),
                Operand::Fragments => Some(Argument::input(&self.fragments)),
                Operand::Elements => Some(Argument::input(&self.list)),
                Operand::U => Some(Argument::input(&self.u)),
                Operand::V => v.take().map(Argument::output),
                _ => Some(Argument::U32(elements)),
            });
        }
        self.device.launch(kernel, &launch, &arguments)
    }

    /// The largest difference of v from the oracle, relative to the largest entry.
    fn error(&self, variant: &Variant) -> Result<f64, BenchError> {
        // A sum of squares is finite if all entries are.
        if !self.device.norm(&self.v)?.is_finite() {
            let mut v = vec![T::default(); self.v.len()];
            self.device.read(&self.v, &mut v)?;
            finite(variant.schedule, &v)?;
        }
        let (mut pairs, nodes) = (Vec::new(), self.matrices.nodes);
        for (element, wanted) in &self.wanted {
            let found = self.numbers.part(&self.v, element * nodes, nodes)?;
            let found = found.into_iter().map(|value| value.to_f64());
            pairs.extend(found.zip(wanted.iter().copied()));
        }
        Ok(difference(pairs))
    }
}
