//! Factors and vectors of one size, and measuring a step on them.

use super::{LadderSize, kernel};
use crate::compare::{difference, finite};
use crate::compile::compile;
use crate::memory::fits;
use crate::record::{Outcome, kernel_columns};
use crate::timing::{Copies, since, time_on_device};
use crate::wavefronts::wavefronts;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::operator::OperatorError;
use femto::vector::{RandomVectors, VectorOps};
use femto_kernel::family::hex_published::ladder::oracle::Oracle;
use femto_kernel::family::hex_published::ladder::{LadderKernel, Step};
use femto_kernel::roofline::{Ceilings, Work};
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, Launch, Usage,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use serde_json::json;
use std::time::Instant;

/// Number of elements compared with the oracle.
const COMPARED: usize = 5;
/// The mass term's factor; unused by BK1.
const LAMBDA: f64 = 0.75;

/// Bytes of shared memory that the authors let a multiprocessor access in a cycle: four for each thread of a warp.
const BYTES_PER_CYCLE: f64 = 4.0 * 32.0;

/// Seeds of the vector and of the factors.
const U: u32 = 0;
const FACTORS: u32 = 1;

/// Random factors and vectors of one size on a device.
#[derive(Debug)]
pub struct LadderData<'a, T: Number> {
    device: &'a Accelerator,
    size: LadderSize,
    nodes: usize,
    numbers: RandomVectors<'a, T>,
    interp: AcceleratorBuffer<T>,
    grad: AcceleratorBuffer<T>,
    factors: AcceleratorBuffer<T>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    /// Some elements and their outputs.
    wanted: Vec<(usize, Vec<f64>)>,
    copies: Copies<'a>,
}

impl<'a, T: Number> LadderData<'a, T> {
    /// Generates them, `[element][factor][point]` and `[element][node]`.
    ///
    /// # Errors
    /// A degree out of range, or not enough memory.
    pub fn new(device: &'a Accelerator, size: LadderSize) -> Result<Self, BenchError> {
        let basis = size
            .benchmark
            .tables(size.degree)
            .map_err(OperatorError::from)?;
        let oracle = Oracle {
            benchmark: size.benchmark,
            sizes: size.benchmark.sizes(size.degree as u32),
            interp: &basis.interp_1d,
            grad: &basis.colloc_grad_1d,
            lambda: LAMBDA,
        };
        let sizes = size.benchmark.sizes(size.degree as u32);
        let (nodes, points) = (sizes.nodes() as usize, sizes.points() as usize);
        let per_element = size.benchmark.factors() as usize * points;
        let (name, degree) = (size.benchmark.name(), size.degree);
        let what = format!("the ladder of {name} of degree {degree} at this size");
        let bytes = size.elements as f64 * ((2 * nodes + per_element) * T::BYTES) as f64;
        fits(&what, &device.info(), bytes)?;
        let numbers = RandomVectors::new(device)?;
        let oracle = |element: usize| {
            let entries = |seed, len: usize| -> Vec<f64> {
                let own = element * len..(element + 1) * len;
                own.map(|index| RandomVectors::<T>::entry(seed, index))
                    .collect()
            };
            let (factors, u) = (entries(FACTORS, per_element), entries(U, nodes));
            let v = oracle.element(&factors, &u);
            (element, v)
        };
        let upload = |values: &[f64]| {
            let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
            device.upload(&values)
        };
        Ok(Self {
            device,
            size,
            nodes,
            interp: upload(&basis.interp_1d)?,
            grad: upload(&basis.colloc_grad_1d)?,
            factors: numbers.make(FACTORS, size.elements * per_element)?,
            u: numbers.make(U, size.elements * nodes)?,
            v: device.zeros(size.elements * nodes)?,
            numbers,
            wanted: sample(size.elements).map(oracle).collect(),
            copies: Copies::new(device),
        })
    }

    /// Measures: 1. text and kernels, 2. output, compared, 3. time, 4. a copy of as many bytes, 5. record.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a step that is illegal for the size or the device; a text that does not
    /// compile, not enough memory, an output that is not finite.
    pub fn measure(
        &mut self,
        step: &Step,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<Record, BenchError> {
        let (device, size) = (self.device, self.size);
        let kernel = kernel(step, size.degree, T::PRECISION, device.features())?;
        let start = Instant::now();
        let module = compile(device, &step.to_string(), &kernel.text)?;
        let kernels = kernel.launches.iter().map(|it| module.kernel(it.entry));
        let kernels: Vec<Kernel> = kernels.collect::<Result<_, _>>()?;
        let compile_seconds = since(start);

        let reals = size.elements * kernel.scratch_reals_per_element as usize;
        let mut scratch = device.zeros::<T>(reals.max(1))?;
        device.fill(f64::NAN, &mut self.v)?;
        let mut application = Application {
            data: self,
            kernel: &kernel,
            kernels: &kernels,
            scratch: &mut scratch,
        };
        application.run()?;
        let error = application.data.error(step)?;
        let timing = time_on_device(device, sampling, || application.run())?;

        let text = (step.to_string(), &kernel.text);
        let (wavefronts, warning) = wavefronts(device, (&text.0, text.1), |counting| {
            let kernels = kernel.launches.iter().map(|it| counting.kernel(it.entry));
            let mut counting = Application {
                kernels: &kernels.collect::<Result<Vec<_>, _>>()?,
                ..application
            };
            counting.run()
        });
        let work = Work {
            wavefronts,
            ..step.work(size.degree as u32, T::PRECISION, size.elements as u32)
        };
        let outcome = Outcome {
            precision: T::PRECISION,
            device: device.info(),
            timing,
            error: Some(error),
            work,
            ceilings: *ceilings,
        };
        let mut record = Record::new(step.benchmark.name(), outcome);
        let nodes = size.elements * self.nodes;
        record.setting = vec![
            ("step", json!(step.to_string())),
            ("threads", json!(step.threads.name())),
            ("number", json!(step.number)),
            ("change", json!(step.change)),
            ("degree", json!(size.degree)),
            ("elements", json!(size.elements)),
            ("nodes", json!(nodes)),
        ];
        record.schedule = step.schedule.to_string();
        record.counts = vec![("rate", Some(nodes))];

        let copy_seconds = self.copies.seconds(work.bytes(), sampling)?;
        record.set_bound("copy", Some(copy_seconds));
        let flops = work.flops as f64;
        let shared = |rate: f64| flops * rate / work.shared_bytes as f64;
        let features = device.features();
        let ansatz =
            f64::from(features.compute_units) * BYTES_PER_CYCLE * features.clock_rate as f64;
        let usage = kernels
            .iter()
            .map(Kernel::usage)
            .fold(Usage::default(), most);
        let block = step
            .schedule
            .block(step.benchmark.sizes(size.degree as u32));
        record.extras = vec![
            // Flops per second allowed by a copy of as many bytes, and by the rate of shared memory, measured and by the
            // authors' ansatz (Świrydowicz et al. 2019, eqs. 12 and 13).
            ("roofline_copy", json!(flops / copy_seconds)),
            ("roofline_shared", json!(ceilings.shared.map(shared))),
            ("roofline_shared_ansatz", json!(shared(ansatz))),
            ("warnings", json!(warning)),
        ];
        let block_bytes = block.shared_bytes(T::PRECISION);
        let columns = kernel_columns(usage, block_bytes, compile_seconds);
        record.extras.extend(columns);
        Ok(record)
    }

    /// The largest difference of v from the oracle, relative to the largest entry.
    fn error(&self, step: &Step) -> Result<f64, BenchError> {
        // A sum of squares is finite if all entries are.
        if !self.device.norm(&self.v)?.is_finite() {
            let mut v = vec![T::default(); self.v.len()];
            self.device.read(&self.v, &mut v)?;
            finite(step, &v)?;
        }
        let mut pairs = Vec::new();
        for (element, wanted) in &self.wanted {
            let first = element * self.nodes;
            let found = self.numbers.part(&self.v, first, self.nodes)?;
            let found = found.into_iter().map(|value| value.to_f64());
            pairs.extend(found.zip(wanted.iter().copied()));
        }
        Ok(difference(pairs))
    }
}

/// Elements to compare: the first, the last, and some between.
fn sample(elements: usize) -> impl Iterator<Item = usize> {
    let count = elements.min(COMPARED);
    (0..count).map(move |index| index * (elements - 1) / (count - 1).max(1))
}

/// A step on its data.
struct Application<'a, 'b, T: Number> {
    data: &'a mut LadderData<'b, T>,
    kernel: &'a LadderKernel,
    kernels: &'a [Kernel],
    scratch: &'a mut AcceleratorBuffer<T>,
}

impl<T: Number> Application<'_, '_, T> {
    fn run(&mut self) -> Result<(), DeviceError> {
        let data = &mut *self.data;
        let elements = data.size.elements as u32;
        let lambda = match T::BYTES {
            8 => Argument::F64(LAMBDA),
            _ => Argument::F32(LAMBDA as f32),
        };
        let arguments = [
            lambda,
            Argument::input(&data.interp),
            Argument::input(&data.grad),
            Argument::input(&data.factors),
            Argument::input(&data.u),
            Argument::output(&mut data.v),
            Argument::output(self.scratch),
        ];
        for (plan, kernel) in self.kernel.launches.iter().zip(self.kernels) {
            let launch = Launch {
                blocks: elements,
                threads: plan.block.threads,
                shared_bytes: plan.block.shared_bytes(T::PRECISION),
            };
            data.device.launch(kernel, &launch, &arguments)?;
        }
        Ok(())
    }
}

/// The larger resources of two kernels.
fn most(a: Usage, b: Usage) -> Usage {
    Usage {
        registers: a.registers.max(b.registers),
        local_bytes: a.local_bytes.max(b.local_bytes),
        ..a
    }
}
