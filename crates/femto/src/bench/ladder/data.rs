//! Factors and vectors of one size, and the measurement of a step on them.

use super::row::{LadderRow, Outcome};
use super::time::time;
use super::{LadderSize, kernel, twin};
use crate::Number;
use crate::bench::timing::{random, random_from, since};
use crate::bench::{BenchError, Sampling};
use femto_kernel::family::tensor_hex::ladder::{LadderKernel, Step};
use femto_kernel::roofline::Ceilings;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch, Usage,
};
use femto_platform::device::{Device, DeviceError};
use std::time::Instant;

/// Elements that are compared with the plain twin.
const COMPARED: usize = 5;
/// The mass term's factor; BK1 does not use it.
const LAMBDA: f64 = 0.75;

/// Random factors and vectors of one size on a device.
#[derive(Debug)]
pub struct LadderData<'a, T: Number> {
    device: &'a Accelerator,
    size: LadderSize,
    nodes: usize,
    interp: AcceleratorBuffer<T>,
    grad: AcceleratorBuffer<T>,
    factors: AcceleratorBuffer<T>,
    u: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
    /// What v holds before a step.
    poison: AcceleratorBuffer<T>,
    /// Some elements and their outputs.
    wanted: Vec<(usize, Vec<f64>)>,
    /// Bytes of the copy timed last, and its seconds.
    copied: Option<(u64, f64)>,
}

impl<'a, T: Number> LadderData<'a, T> {
    /// Makes them, `[element][factor][point]` and `[element][node]`.
    ///
    /// # Errors
    /// A degree out of range, no memory.
    pub fn new(device: &'a Accelerator, size: LadderSize) -> Result<Self, BenchError> {
        let basis = size.basis()?;
        let sizes = size.benchmark.sizes(size.degree as u32);
        let (nodes, points) = (sizes.nodes() as usize, sizes.points() as usize);
        let per_element = size.benchmark.factors() as usize * points;
        check_memory::<T>(device, &size, 3 * nodes + per_element)?;

        let u = random::<T>(size.elements * nodes);
        let factors = random_from::<T>(1, size.elements * per_element);
        let twin = |element: usize| {
            let part = |all: &[T], len: usize| -> Vec<f64> {
                let part = all[element * len..].iter().take(len);
                part.map(|value| value.to_f64()).collect()
            };
            let (factors, u) = (part(&factors, per_element), part(&u, nodes));
            let v = twin::apply(size.benchmark, &basis, LAMBDA, &factors, &u);
            (element, v)
        };
        let numbers = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        let (interp, grad): (Vec<T>, Vec<T>) =
            (numbers(&basis.interp_1d), numbers(&basis.colloc_grad_1d));
        Ok(Self {
            device,
            size,
            nodes,
            interp: device.upload(&interp)?,
            grad: device.upload(&grad)?,
            factors: device.upload(&factors)?,
            u: device.upload(&u)?,
            v: device.zeros(u.len())?,
            poison: device.upload(&vec![T::from_f64(f64::NAN); u.len()])?,
            wanted: sample(size.elements).map(twin).collect(),
            copied: None,
        })
    }

    /// Measures: 1. text and kernels, 2. output, compared, 3. time, 4. a copy of as many bytes, 5. row.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a step that the size or the device does not allow; a text that
    /// does not compile, no memory, an output that is not finite.
    pub fn measure(
        &mut self,
        step: &Step,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<LadderRow, BenchError> {
        let (device, size) = (self.device, self.size);
        let kernel = kernel(step, size.degree, T::PRECISION, device.features())?;
        let start = Instant::now();
        let kernels = compile(device, step, &kernel)?;
        let compile_seconds = since(start);

        let reals = kernel.scratch_reals(size.elements as u32).max(1);
        let mut scratch = device.zeros::<T>(reals)?;
        device.copy(&self.poison, &mut self.v)?;
        let mut application = Application {
            data: self,
            kernel: &kernel,
            kernels: &kernels,
            scratch: &mut scratch,
        };
        application.run()?;
        let error = application.data.error(step)?;
        let timing = time(device, sampling, || application.run())?;

        let work = step.work(size.degree as u32, T::PRECISION, size.elements as u32);
        let outcome = Outcome {
            degree: size.degree,
            precision: T::PRECISION,
            elements: size.elements,
            nodes: size.elements * self.nodes,
            device: device.info(),
            timing,
            error,
            work,
            copy_seconds: self.copy_seconds(work.bytes(), sampling)?,
            usage: kernels
                .iter()
                .map(Kernel::usage)
                .fold(Usage::default(), most),
            block_shared_bytes: step
                .schedule
                .block(step.benchmark.sizes(size.degree as u32))
                .shared_bytes(T::PRECISION),
            compile_seconds,
        };
        Ok(LadderRow::new(step, &outcome, ceilings))
    }

    /// Seconds of a copy on the device that reads and writes so many bytes together (seed 002, eq. 12).
    fn copy_seconds(&mut self, bytes: u64, sampling: &Sampling) -> Result<f64, DeviceError> {
        if let Some((_, seconds)) = self.copied.filter(|(known, _)| *known == bytes) {
            return Ok(seconds);
        }
        let device = self.device;
        let len = (bytes / 2).div_ceil(4) as usize;
        let (from, mut to) = (device.zeros::<f32>(len)?, device.zeros::<f32>(len)?);
        let seconds = time(device, sampling, || device.copy(&from, &mut to))?.median;
        self.copied = Some((bytes, seconds));
        Ok(seconds)
    }

    /// The largest difference of v from the plain twin, relative to the largest entry.
    fn error(&self, step: &Step) -> Result<f64, BenchError> {
        let mut v = vec![T::default(); self.size.elements * self.nodes];
        self.device.read(&self.v, &mut v)?;
        if let Some(index) = v.iter().position(|value| !value.to_f64().is_finite()) {
            return Err(BenchError::StepNotFinite {
                step: step.to_string(),
                index,
                length: v.len(),
                value: v[index].to_f64(),
            });
        }
        let (mut difference, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
        for (element, wanted) in &self.wanted {
            for (found, wanted) in v[element * self.nodes..].iter().zip(wanted) {
                difference = difference.max((found.to_f64() - wanted).abs());
                scale = scale.max(wanted.abs());
            }
        }
        Ok(difference / scale)
    }
}

/// Elements to compare: the first, the last, some between.
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
            Argument::U32(elements),
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
                blocks: plan.blocks(elements),
                threads: plan.block.threads,
                shared_bytes: plan.block.shared_bytes(T::PRECISION),
            };
            data.device.launch(kernel, &launch, &arguments)?;
        }
        Ok(())
    }
}

fn compile(
    device: &Accelerator,
    step: &Step,
    kernel: &LadderKernel,
) -> Result<Vec<Kernel>, DeviceError> {
    let text = KernelText {
        name: &step.to_string(),
        text: &kernel.text,
        options: &[],
    };
    let module = device.compile(&text, &KernelCache::user().unwrap_or_default())?;
    let entries = kernel.launches.iter().map(|launch| launch.entry);
    entries.map(|entry| module.kernel(entry)).collect()
}

/// What the hungriest of two kernels uses.
fn most(a: Usage, b: Usage) -> Usage {
    Usage {
        registers: a.registers.max(b.registers),
        local_bytes: a.local_bytes.max(b.local_bytes),
        ..a
    }
}

fn check_memory<T: Number>(
    device: &Accelerator,
    size: &LadderSize,
    per_element: usize,
) -> Result<(), BenchError> {
    let bytes = size.elements as f64 * (per_element * T::BYTES) as f64;
    let memory = device.features().memory_bytes as f64;
    if bytes <= memory {
        return Ok(());
    }
    Err(BenchError::LadderTooLarge {
        benchmark: size.benchmark.name(),
        degree: size.degree,
        gigabytes: bytes * 1e-9,
        device: device.info().id(),
        memory: memory * 1e-9,
    })
}
