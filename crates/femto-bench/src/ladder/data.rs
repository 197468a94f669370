//! Factors and vectors of one size, and measuring a step on them.

use super::{LadderSize, kernel};
use crate::element_vectors::{ElementVectors, Kernels, Subject};
use crate::memory::fits;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::operator::OperatorError;
use femto::vector::RandomVectors;
use femto_kernel::family::hex_published::ladder::Step;
use femto_kernel::family::hex_published::ladder::oracle::Oracle;
use femto_kernel::roofline::Ceilings;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument, Launch};
use serde_json::json;

/// The mass term's factor; unused by BK1.
const LAMBDA: f64 = 0.75;

/// Bytes of shared memory that the authors let a multiprocessor access in a cycle: four for each thread of a warp.
const BYTES_PER_CYCLE: f64 = 4.0 * 32.0;

/// Seed of the factors; the input's is another.
const FACTORS: u32 = 1;

/// Random factors and vectors of one size on a device.
#[derive(Debug)]
pub struct LadderData<'a, T: Number> {
    device: &'a Accelerator,
    size: LadderSize,
    vectors: ElementVectors<'a, T>,
    interp: AcceleratorBuffer<T>,
    grad: AcceleratorBuffer<T>,
    factors: AcceleratorBuffer<T>,
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
        let sizes = size.benchmark.sizes(size.degree as u32);
        let oracle = Oracle {
            benchmark: size.benchmark,
            sizes,
            interp: &basis.interp_1d,
            grad: &basis.colloc_grad_1d,
            lambda: LAMBDA,
        };
        let (nodes, points) = (sizes.nodes() as usize, sizes.points() as usize);
        let per_element = size.benchmark.factors() as usize * points;
        let (name, degree) = (size.benchmark.name(), size.degree);
        let what = format!("the ladder of {name} of degree {degree} at this size");
        let bytes = size.elements as f64 * ((2 * nodes + per_element) * T::BYTES) as f64;
        fits(&what, &device.info(), bytes)?;
        let mut vectors = ElementVectors::<T>::new(device, size.elements, nodes)?;
        vectors.expect(|element, u| {
            let own = element * per_element..(element + 1) * per_element;
            let factors = own.map(|index| RandomVectors::<T>::entry(FACTORS, index));
            oracle.element(&factors.collect::<Vec<f64>>(), u)
        });
        let upload = |values: &[f64]| {
            let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
            device.upload(&values)
        };
        Ok(Self {
            device,
            size,
            interp: upload(&basis.interp_1d)?,
            grad: upload(&basis.colloc_grad_1d)?,
            factors: vectors.random.make(FACTORS, size.elements * per_element)?,
            vectors,
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
        let reals = size.elements * kernel.scratch_reals_per_element as usize;
        let mut scratch = device.zeros::<T>(reals.max(1))?;
        let sizes = step.benchmark.sizes(size.degree as u32);
        let subject = Subject {
            name: step.benchmark.name(),
            schedule: step.schedule.to_string(),
            work: step.work(size.degree as u32, T::PRECISION, size.elements as u32),
            sampling,
            ceilings,
        };
        let text_name = step.to_string();
        let kernels = Kernels {
            name: &text_name,
            text: &kernel.text,
            entries: kernel.launches.iter().map(|it| it.entry).collect(),
            elements_per_block: 1,
            block_bytes: step.schedule.block(sizes).shared_bytes(T::PRECISION),
        };
        let lambda = || match T::BYTES {
            8 => Argument::F64(LAMBDA),
            _ => Argument::F32(LAMBDA as f32),
        };
        let (interp, grad, factors) = (&self.interp, &self.grad, &self.factors);
        let mut record = self
            .vectors
            .measure(subject, &kernels, |kernels, elements, u, v| {
                let arguments = [
                    lambda(),
                    Argument::input(interp),
                    Argument::input(grad),
                    Argument::input(factors),
                    Argument::input(u),
                    Argument::output(v),
                    Argument::output(&mut scratch),
                ];
                let mut launches = kernel.launches.iter().zip(kernels);
                launches.try_for_each(|(plan, kernel)| {
                    let launch = Launch {
                        blocks: elements as u32,
                        threads: plan.block.threads,
                        shared_bytes: plan.block.shared_bytes(T::PRECISION),
                    };
                    device.launch(kernel, &launch, &arguments)
                })
            })?;
        record.setting = vec![
            ("step", json!(step.to_string())),
            ("threads", json!(step.threads.name())),
            ("number", json!(step.number)),
            ("change", json!(step.change)),
            ("degree", json!(size.degree)),
            ("elements", json!(size.elements)),
            ("nodes", json!(size.elements * sizes.nodes() as usize)),
        ];
        // Flops per second allowed by the rate of shared memory, measured and by the authors' ansatz (Świrydowicz et al.
        // 2019, eq. 13).
        let work = record.work;
        let shared = |rate: f64| work.flops as f64 * rate / work.shared_bytes as f64;
        let features = device.features();
        let ansatz =
            f64::from(features.compute_units) * BYTES_PER_CYCLE * features.clock_rate as f64;
        record.extras.extend([
            ("roofline_shared", json!(ceilings.shared.map(shared))),
            ("roofline_shared_ansatz", json!(shared(ansatz))),
        ]);
        Ok(record)
    }
}
