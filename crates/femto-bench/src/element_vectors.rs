//! Kernels on random E-vectors: the vectors, the oracle's results for some elements, and measuring a kernel on them.

use crate::compare::{difference, finite};
use crate::compile::compile;
use crate::record::{Outcome, kernel_columns};
use crate::timing::{Copies, since, time_on_device};
use crate::wavefronts::wavefronts;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::vector::{RandomVectors, VectorOps};
use femto_kernel::family::{KernelSource, Operand};
use femto_kernel::roofline::{Ceilings, Work};
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use serde_json::json;
use std::time::Instant;

/// Number of elements compared with the oracle.
const COMPARED: usize = 5;
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

/// A kernel to measure.
pub(crate) struct Subject<'s> {
    /// The benchmark's name, and the schedule in words.
    pub(crate) name: &'static str,
    pub(crate) schedule: String,
    pub(crate) source: KernelSource,
    pub(crate) work: Work,
    pub(crate) sampling: &'s Sampling,
    pub(crate) ceilings: &'s Ceilings,
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

    /// Measures: 1. text and kernel, 2. output, compared, 3. time, 4. record. `inputs` are the kernel's other arrays.
    pub(crate) fn measure<'b>(
        &mut self,
        subject: Subject<'_>,
        inputs: impl Fn(Operand) -> Option<Argument<'b>>,
    ) -> Result<Record, BenchError> {
        let (device, source) = (self.device, &subject.source);
        let start = Instant::now();
        let kernel = compile(device, &source.name, &source.text)?.kernel(source.entry)?;
        let compile_seconds = since(start);
        device.fill(f64::NAN, &mut self.v)?;
        self.run(source, &kernel, &inputs)?;
        let error = self.error(&subject.schedule)?;
        let run = || self.run(source, &kernel, &inputs);
        let timing = time_on_device(device, subject.sampling, run)?;
        let (wavefronts, warning) = wavefronts(device, (&source.name, &source.text), |counting| {
            self.run(source, &counting.kernel(source.entry)?, &inputs)
        });
        let outcome = Outcome {
            precision: T::PRECISION,
            device: device.info(),
            timing,
            error: Some(error),
            work: Work {
                wavefronts,
                ..subject.work
            },
            ceilings: *subject.ceilings,
        };
        let copied = self
            .copies
            .seconds(subject.work.bytes(), subject.sampling)?;
        let roofline_copy = subject.work.flops as f64 / copied;
        let mut record = Record::new(subject.name, outcome);
        record.schedule = subject.schedule;
        record.counts = vec![("rate", Some(self.elements * self.per_element))];
        let usage = kernel.usage();
        record.extras = vec![
            // Flops per second allowed by a copy of as many bytes (Świrydowicz et al. 2019, eq. 12).
            ("roofline_copy", json!(roofline_copy)),
            ("warnings", json!(warning)),
        ];
        let block_bytes = source.block.shared_bytes(T::PRECISION);
        let columns = kernel_columns(usage, block_bytes, compile_seconds);
        record.extras.extend(columns);
        Ok(record)
    }

    fn run<'b>(
        &mut self,
        source: &KernelSource,
        kernel: &Kernel,
        inputs: &impl Fn(Operand) -> Option<Argument<'b>>,
    ) -> Result<(), DeviceError> {
        let launch = Launch {
            blocks: source.blocks(self.elements),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let mut v = Some(&mut self.v);
        let mut arguments = Vec::new();
        for &operand in &source.operands {
            arguments.extend(match operand {
                Operand::U => Some(Argument::input(&self.u)),
                Operand::V => v.take().map(Argument::output),
                Operand::Count => Some(Argument::U32(self.elements as u32)),
                other => inputs(other),
            });
        }
        self.device.launch(kernel, &launch, &arguments)
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
