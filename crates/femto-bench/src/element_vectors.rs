//! Kernels on random E-vectors: the vectors, the oracle's results for some elements, and measuring a kernel on them.

use crate::compare::{difference, finite};
use crate::compile::compile;
use crate::record::{Outcome, kernel_columns};
use crate::roofline::Copies;
use crate::timing::{since, time_on_device};
use crate::wavefronts::wavefronts;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::vector::{RandomVectors, VectorOps};
use femto_kernel::family::{KernelSource, Operand};
use femto_kernel::roofline::{Ceilings, Wavefronts, Work};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, Launch, Usage,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use serde_json::json;
use std::time::Instant;

/// Number of elements compared with the oracle.
const COMPARED: usize = 5;
/// Number of elements, at least, whose accesses are counted: a run that counts takes a thousand times as long
/// and more.
const COUNTED: usize = 4096;
/// Seed of the input.
const U: u32 = 0;

/// Input and output, `[element][number]`.
#[derive(Debug)]
pub(crate) struct ElementVectors<'a, T: Number> {
    device: &'a Accelerator,
    pub(crate) elements: usize,
    per_element: usize,
    pub(crate) random: RandomVectors<'a, T>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    copies: Copies<'a>,
    /// Some elements and their outputs.
    wanted: Vec<(usize, Vec<f64>)>,
}

/// What is measured, and how.
pub(crate) struct Subject<'s> {
    /// The benchmark's name, and the schedule in words.
    pub(crate) name: &'static str,
    pub(crate) schedule: String,
    pub(crate) work: Work,
    pub(crate) sampling: &'s Sampling,
    pub(crate) ceilings: &'s Ceilings,
}

/// Kernels of one text, launched one after the other.
pub(crate) struct Kernels<'s> {
    /// The name of the text.
    pub(crate) name: &'s str,
    pub(crate) text: &'s str,
    pub(crate) entries: Vec<&'s str>,
    pub(crate) elements_per_block: usize,
    /// Shared memory of a block.
    pub(crate) block_bytes: u32,
}

impl<'a, T: Number> ElementVectors<'a, T> {
    pub(crate) fn new(
        device: &'a Accelerator,
        elements: usize,
        per_element: usize,
    ) -> Result<Self, BenchError> {
        let random = RandomVectors::new(device)?;
        Ok(Self {
            device,
            elements,
            per_element,
            u: random.make(U, elements * per_element)?,
            v: device.zeros(elements * per_element)?,
            random,
            copies: Copies::new(device),
            wanted: Vec::new(),
        })
    }

    /// Sets what is expected, from an element's number and its part of the input.
    pub(crate) fn expect(&mut self, oracle: impl Fn(usize, &[f64]) -> Vec<f64>) {
        let count = self.elements.min(COMPARED);
        let last = (count - 1).max(1);
        let sample = (0..count).map(|index| index * (self.elements - 1) / last);
        let of_element = |element: usize| {
            let numbers = element * self.per_element..(element + 1) * self.per_element;
            let u: Vec<f64> = numbers.map(|n| RandomVectors::<T>::entry(U, n)).collect();
            (element, oracle(element, &u))
        };
        self.wanted = sample.map(of_element).collect();
    }

    /// Measures: 1. text and kernels, 2. output, compared, 3. time, 4. a copy of as many bytes, 5. record. `run` launches
    /// the kernels for the first so many elements of input and output.
    pub(crate) fn measure(
        &mut self,
        subject: Subject<'_>,
        of: &Kernels<'_>,
        mut run: impl FnMut(
            &[Kernel],
            usize,
            &AcceleratorBuffer<T>,
            &mut AcceleratorBuffer<T>,
        ) -> Result<(), DeviceError>,
    ) -> Result<Record, BenchError> {
        let (device, elements) = (self.device, self.elements);
        let start = Instant::now();
        let module = compile(device, of.name, of.text)?;
        let entries = || of.entries.iter();
        let kernels = entries().map(|entry| module.kernel(entry));
        let kernels: Vec<Kernel> = kernels.collect::<Result<_, _>>()?;
        let compile_seconds = since(start);
        device.fill(f64::NAN, &mut self.v)?;
        run(&kernels, elements, &self.u, &mut self.v)?;
        let error = self.error(&subject.schedule)?;
        let (u, v) = (&self.u, &mut self.v);
        let timing = time_on_device(device, subject.sampling, || run(&kernels, elements, u, v))?;
        let counted = elements.min(representative(of.elements_per_block));
        let (wavefronts, warning) = wavefronts(device, (of.name, of.text), |counting| {
            let kernels = entries().map(|entry| counting.kernel(entry));
            run(&kernels.collect::<Result<Vec<_>, _>>()?, counted, u, v)
        });
        let work = Work {
            wavefronts: wavefronts.scaled(elements as f64 / counted as f64),
            ..subject.work
        };
        let copied = match self.copies.seconds(work.bytes(), subject.sampling) {
            // The copy needs room of its own.
            Err(DeviceError::OutOfMemory { .. }) => None,
            copied => Some(copied?),
        };
        let outcome = Outcome {
            precision: T::PRECISION,
            device: device.info(),
            timing,
            error: Some(error),
            work,
            ceilings: *subject.ceilings,
        };
        let mut record = Record::new(subject.name, outcome);
        record.set_bound("copy", copied);
        record.schedule = subject.schedule;
        record.counts = vec![("rate", Some(self.elements * self.per_element))];
        let usage = kernels.iter().map(Kernel::usage);
        let usage = usage.fold(Usage::default(), most);
        record.extras = vec![
            // Flops per second allowed by a copy of as many bytes (Świrydowicz et al. 2019, eq. 12).
            (
                "roofline_copy",
                json!(copied.map(|seconds| work.flops as f64 / seconds)),
            ),
            ("warnings", json!(warning)),
        ];
        let columns = kernel_columns(usage, of.block_bytes, compile_seconds);
        record.extras.extend(columns);
        Ok(record)
    }

    /// Measures a kernel whose `inputs` are the other arrays.
    pub(crate) fn measure_source<'b>(
        &mut self,
        subject: Subject<'_>,
        source: &KernelSource,
        inputs: impl Fn(Operand) -> Option<Argument<'b>>,
    ) -> Result<Record, BenchError> {
        let device = self.device;
        let block_bytes = source.block.shared_bytes(T::PRECISION);
        let kernels = Kernels {
            name: &source.name,
            text: &source.text,
            entries: vec![source.entry],
            elements_per_block: source.elements_per_block as usize,
            block_bytes,
        };
        self.measure(subject, &kernels, |kernels, elements, u, v| {
            let launch = Launch {
                blocks: source.blocks(elements),
                threads: source.block.threads,
                shared_bytes: block_bytes,
            };
            let mut v = Some(v);
            let mut arguments = Vec::new();
            for &operand in &source.operands {
                arguments.extend(match operand {
                    Operand::U => Some(Argument::input(u)),
                    Operand::V => v.take().map(Argument::output),
                    Operand::Count => Some(Argument::U32(elements as u32)),
                    other => inputs(other),
                });
            }
            device.launch(&kernels[0], &launch, &arguments)
        })
    }

    /// The largest difference of v from the oracle, relative to the largest entry.
    fn error(&self, schedule: &str) -> Result<f64, BenchError> {
        // A sum of squares is finite if all entries are.
        if !self.device.norm(&self.v)?.is_finite() {
            let mut v = vec![T::default(); self.v.len()];
            self.device.read(&self.v, &mut v)?;
            finite(schedule, &v)?;
        }
        let (mut pairs, count) = (Vec::new(), self.per_element);
        for (element, wanted) in &self.wanted {
            let found = self.random.part(&self.v, element * count, count)?;
            let found = found.into_iter().map(|value| value.to_f64());
            pairs.extend(found.zip(wanted.iter().copied()));
        }
        Ok(difference(pairs))
    }
}

/// A number of elements that stands for all in counts: whole blocks, as many that their addresses within wavefronts take
/// all values that they can have.
fn representative(elements_per_block: usize) -> usize {
    let numbers = Wavefronts::BYTES as usize / Precision::Fp32.bytes();
    COUNTED.next_multiple_of(elements_per_block * numbers)
}

/// The larger resources of two kernels.
fn most(a: Usage, b: Usage) -> Usage {
    Usage {
        registers: a.registers.max(b.registers),
        local_bytes: a.local_bytes.max(b.local_bytes),
        ..a
    }
}
