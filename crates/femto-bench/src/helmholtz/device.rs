//! The stages on an accelerator.

use super::record::{Measured, Subject, TOGETHER, compare};
use super::{Challenge, How, kernels};
use crate::compile::compile;
use crate::memory::fits;
use crate::timing::time_on_device;
use crate::{BenchError, Record};
use femto::vector::VectorOps;
use femto_kernel::family::prism_published::{
    Schedule, Stage, StageKernels, StageWork, Step, Vector,
};
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, Launch, Usage,
};
use femto_platform::device::{Device, DeviceError};

/// The mesh and the vectors of all stages on an accelerator.
#[derive(Debug)]
pub struct DeviceStages<'a> {
    device: &'a Accelerator,
    challenge: &'a Challenge,
    map: AcceleratorBuffer<u32>,
    coordinates: AcceleratorBuffer<f64>,
    vectors: [AcceleratorBuffer<f64>; Vector::ALL.len()],
}

impl<'a> DeviceStages<'a> {
    /// Copies the mesh to the device.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(device: &'a Accelerator, challenge: &'a Challenge) -> Result<Self, BenchError> {
        let columns = &challenge.columns;
        let reals = columns.nodes() * (3 + Vector::ALL.len());
        let bytes = 8.0 * reals as f64 + 4.0 * columns.map().len() as f64;
        let (triangles, layers) = (columns.triangles(), columns.layers());
        let what = format!("the Challenge on {triangles} triangles × {layers} layers");
        fits(&what, &device.info(), bytes)?;
        let vector = || device.zeros(columns.nodes());
        Ok(Self {
            device,
            challenge,
            map: device.upload(columns.map())?,
            coordinates: device.upload(columns.coordinates())?,
            vectors: [vector()?, vector()?, vector()?, vector()?, vector()?],
        })
    }

    /// Measures a step: 1. text and kernels, 2. every output, compared, 3. time of the given stages, and of all together if
    /// the Challenge's are among them, 4. records.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a step that is illegal for the device, [`BenchError::Wrong`] for a wrong output; a
    /// text that does not compile.
    pub fn measure(&mut self, step: &Step, how: How<'_>) -> Result<Vec<Record>, BenchError> {
        let compiled = self.compile(step)?;
        let errors = self.errors(&compiled)?;
        let subject = Subject {
            name: step.to_string(),
            change: step.change,
            schedule: step.schedule.to_string(),
            columns: &self.challenge.columns,
            device: self.device.info(),
            ceilings: *how.ceilings,
        };
        let device = self.device;
        let mut records = Vec::new();
        let all = compiled.stages.iter().zip(&errors);
        for (&stage, &error) in all.filter(|(stage, _)| how.stages.contains(stage)) {
            records.push(subject.record(Measured {
                stage: stage.name(),
                timing: time_on_device(device, how.sampling, || self.run(&compiled, stage))?,
                work: StageWork::new(stage, &step.schedule, &self.challenge.columns),
                error,
                usage: compiled.usage(stage),
            }));
        }
        if !how.are_together() {
            return Ok(records);
        }
        let challenge = || {
            compiled
                .stages
                .iter()
                .filter(|it| Stage::CHALLENGE.contains(it))
        };
        let timing = time_on_device(device, how.sampling, || {
            challenge().try_for_each(|&stage| self.run(&compiled, stage))
        })?;
        let work =
            challenge().map(|&it| StageWork::new(it, &step.schedule, &self.challenge.columns));
        records.push(subject.record(Measured {
            stage: TOGETHER,
            timing,
            work: work.sum(),
            error: errors.iter().fold(0.0, |most: f64, &error| most.max(error)),
            usage: Usage::default(),
        }));
        Ok(records)
    }

    fn compile(&self, step: &Step) -> Result<Compiled, BenchError> {
        let text = kernels(self.device, step, self.challenge.columns.layers())?;
        let module = compile(self.device, &step.to_string(), &text.text)?;
        let stages: Vec<Stage> = step.schedule.stages().collect();
        let kernel = |stage: &Stage| stage.entry().map(|entry| module.kernel(entry)).transpose();
        Ok(Compiled {
            schedule: step.schedule,
            kernels: stages.iter().map(kernel).collect::<Result<_, _>>()?,
            text,
            stages,
        })
    }

    /// Runs all stages on poisoned vectors, in order, and compares the output of each.
    fn errors(&mut self, compiled: &Compiled) -> Result<Vec<f64>, BenchError> {
        for vector in &mut self.vectors {
            self.device.fill(f64::NAN, vector)?;
        }
        let mut errors = Vec::new();
        let mut found = vec![f64::NAN; self.challenge.columns.nodes()];
        for &stage in &compiled.stages {
            if stage == Stage::Action {
                self.device
                    .fill(0.0, &mut self.vectors[Vector::Lhs as usize])?;
            }
            self.run(compiled, stage)?;
            let outputs = stage.output().map_or(&Vector::SUMS[..], |_| &[]);
            let outputs = outputs.iter().copied().chain(stage.output());
            let mut most = 0.0_f64;
            for vector in outputs {
                self.device
                    .read(&self.vectors[vector as usize], &mut found)?;
                most = most.max(compare(&self.challenge.oracle, stage, &found)?);
            }
            errors.push(most);
        }
        Ok(errors)
    }

    /// Launches a stage.
    fn run(&mut self, compiled: &Compiled, stage: Stage) -> Result<(), DeviceError> {
        let device = self.device;
        let place = compiled.stages.iter().position(|&it| it == stage);
        let kernel = place.and_then(|place| compiled.kernels[place].as_ref());
        let bound = stage.bind(&compiled.schedule, &mut self.vectors);
        let (Some(kernel), Some(bound)) = (kernel, bound) else {
            let nodes = self.challenge.columns.nodes();
            return Vector::SUMS.iter().try_for_each(|&vector| {
                device.fill_zero(&mut self.vectors[vector as usize], 0..nodes)
            });
        };
        let launch = Launch {
            blocks: compiled.text.blocks(stage, &self.challenge.columns),
            threads: compiled.text.block.threads,
            shared_bytes: 0,
        };
        let arguments = [
            Argument::input(&self.map),
            Argument::input(&self.coordinates),
            Argument::input(bound.input),
            Argument::input(bound.copy),
            Argument::output(bound.output),
        ];
        device.launch(kernel, &launch, &arguments)
    }
}

/// The kernels of a step.
struct Compiled {
    schedule: Schedule,
    text: StageKernels,
    stages: Vec<Stage>,
    /// Of each stage, if it has one.
    kernels: Vec<Option<Kernel>>,
}

impl Compiled {
    fn usage(&self, stage: Stage) -> Usage {
        let mut all = self.stages.iter().zip(&self.kernels);
        let found = all.find(|(it, _)| **it == stage);
        let kernel = found.and_then(|(_, kernel)| kernel.as_ref());
        kernel.map(Kernel::usage).unwrap_or_default()
    }
}
