//! `Blocks`, the operator of one family: binding, kernels, launches, work.

use super::block::{Block, Call, Compiled};
use super::context::DeviceContext;
use super::family::Family;
use super::nodal::NodalFields;
use super::pack::Packer;
use super::sums::Sums;
use super::verify::{Expected, Oracle};
use crate::Number;
use crate::accelerator::limits;
use crate::operator::{Binding, Bound, OperatorError};
use femto_kernel::family::{EvalContext, Scatter, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, DeviceError};
use std::sync::OnceLock;

/// An edit of a text before it is compiled: none, except in the test that plants a wrong one.
pub(super) type Edit<S> = fn(&S, String) -> String;

/// A kernel of each block, and what is to be warned of.
type Kernels<S> = (Vec<Compiled<S>>, Vec<String>);

/// An operator on a device.
#[derive(Debug)]
pub(super) struct Blocks<T: Number, F: Family<T>> {
    device: Accelerator,
    cache: KernelCache,
    family: F,
    edit: Edit<F::Schedule>,
    /// L-vectors.
    pub(super) vectors: Vectors,
    components: usize,
    interleaved: bool,
    context: DeviceContext<T>,
    fields: NodalFields<T>,
    /// One per kind of map.
    pub(super) blocks: Vec<Block<T, F::Data>>,
    sums: Sums<T>,
    expected: Expected,
    /// For L-vectors and T-vectors.
    pub(super) nodal: Vec<Compiled<F::Schedule>>,
    /// For E-vectors; made when first asked for.
    element: OnceLock<Kernels<F::Schedule>>,
    /// Made when first asked for.
    diagonal: OnceLock<Vec<Compiled<F::Schedule>>>,
    pub(super) warnings: Vec<String>,
}

impl<T: Number, F: Family<T>> Blocks<T, F> {
    /// Binds: 1. arrays of each block, 2. the oracle's answer at some nodes, 3. kernels, compared with it.
    pub(super) fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        family: F,
        oracle: &Oracle<'_>,
    ) -> Result<Self, OperatorError> {
        Self::with_edit(device, binding, family, oracle, |_, text| text)
    }

    pub(super) fn with_edit(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        family: F,
        oracle: &Oracle<'_>,
        edit: Edit<F::Schedule>,
    ) -> Result<Self, OperatorError> {
        let (space, params) = (binding.space, binding.params);
        let cache = KernelCache::user().unwrap_or_default();
        let packers = Packer::all(device, binding);
        let nodes: Vec<u32> = match params.scatter {
            Scatter::Atomic => Vec::new(),
            Scatter::Deterministic => packers.iter().flat_map(|it| &it.nodes).copied().collect(),
        };
        let expected = Expected::new::<T>(binding, &packers, oracle);
        let vectors = super::vectors(binding);
        let context = params.context();
        let blocks = packers
            .into_iter()
            .map(|packer| Block::new(&family, packer));
        let mut bound = Self {
            device: device.clone(),
            edit,
            vectors,
            components: space.components(),
            interleaved: matches!(
                vectors,
                Vectors::Nodal {
                    interleaved: true,
                    ..
                }
            ),
            context: DeviceContext::new(device, params.parameters.len(), &context)?,
            fields: NodalFields::new(device, &cache, space, params)?,
            blocks: blocks.collect::<Result<_, _>>()?,
            sums: Sums::new(device, &cache, binding, &nodes, F::WRITES_INSIDE)?,
            expected,
            nodal: Vec::new(),
            element: OnceLock::new(),
            diagonal: OnceLock::new(),
            warnings: Vec::new(),
            cache,
            family,
        };
        drop(nodes);
        (bound.nodal, bound.warnings) = bound.choose(vectors, |bound, kernels| {
            let apply = |u: &_, v: &mut _| bound.launch(kernels, &context, Some(u), v);
            bound.expected.error::<T>(&bound.device, apply)
        })?;
        Ok(bound)
    }

    /// Kernels of the first schedules that the device can run, and whose `error` is one of rounding.
    ///
    /// What is dropped because it is wrong is warned of; what the device cannot run is passed over.
    fn choose(
        &self,
        vectors: Vectors,
        error: impl Fn(&Self, &[Compiled<F::Schedule>]) -> Result<f64, OperatorError>,
    ) -> Result<Kernels<F::Schedule>, OperatorError> {
        let legal = self.legal(vectors)?;
        let attempts = legal.iter().map(Vec::len).max().unwrap_or(0);
        let (mut warnings, mut last) = (Vec::new(), OperatorError::NoKernel);
        for attempt in 0..attempts {
            let kernels = match self.compile(vectors, &legal, attempt) {
                Ok(kernels) => kernels,
                // This device does not take this kernel; it may take a plainer one.
                Err(error @ OperatorError::Device(DeviceError::Kernel(_))) => {
                    last = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !self.expected.is_finite() && vectors.scatter().is_none() {
                return Ok((kernels, warnings));
            }
            if !self.expected.is_finite() {
                let words = "the form has no finite value at the states that kernels are compared at, \
                             so this one was not";
                warnings.push(words.to_owned());
                return Ok((kernels, warnings));
            }
            let error = error(self, &kernels)?;
            if error <= self.expected.tolerance() {
                return Ok((kernels, warnings));
            }
            let wrong = OperatorError::WrongVariant {
                kernel: kernels
                    .first()
                    .map_or_else(String::new, |it| it.source.name.clone()),
                schedule: words(&kernels).join("; "),
                error,
            };
            warnings.push(format!("{wrong}; it is not used"));
            last = wrong;
        }
        Err(last)
    }

    /// Of each block the schedules that the device can run.
    pub(super) fn legal(&self, vectors: Vectors) -> Result<Vec<Vec<F::Schedule>>, OperatorError> {
        let limits = limits(self.device.features());
        let of_block = |block: &Block<T, F::Data>| {
            let all = self.family.schedules(&block.data, vectors, &limits);
            let mut last = OperatorError::NoKernel;
            let mut legal = Vec::with_capacity(all.len());
            for schedule in all {
                match self
                    .family
                    .validate(&block.data, &schedule, vectors, &limits)
                {
                    Ok(()) => legal.push(schedule),
                    Err(error) => last = error.into(),
                }
            }
            if legal.is_empty() {
                Err(last)
            } else {
                Ok(legal)
            }
        };
        self.blocks.iter().map(of_block).collect()
    }

    /// A kernel of each block, of its schedule number `attempt` or the last one.
    fn compile(
        &self,
        vectors: Vectors,
        legal: &[Vec<F::Schedule>],
        attempt: usize,
    ) -> Result<Vec<Compiled<F::Schedule>>, OperatorError> {
        let of_block = |(block, schedules): (&Block<T, F::Data>, &Vec<F::Schedule>)| {
            let schedule = schedules[attempt.min(schedules.len() - 1)];
            let mut source = self.family.source(&block.data, &schedule, vectors)?;
            source.text = (self.edit)(&schedule, source.text);
            Ok(Compiled::new(
                &self.device,
                &self.cache,
                source,
                Some(schedule),
            )?)
        };
        self.blocks.iter().zip(legal).map(of_block).collect()
    }

    /// Launches a kernel of each block, which add to `v`, with `u` where they have an input.
    fn launch(
        &self,
        kernels: &[Compiled<F::Schedule>],
        context: &EvalContext,
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let nodes = v.len() / self.components;
        let stride = if self.interleaved { 1 } else { nodes };
        let held = self.context.hold(&self.device, context)?;
        let mut contributions = self.sums.begin(&self.device, (nodes, stride), v)?;
        let mut call = Call {
            device: &self.device,
            fields: &self.fields.values,
            field_stride: self.fields.stride(),
            context: &held.buffer,
            nodes,
            stride,
            contributions: contributions
                .as_mut()
                .map(|(contributions, locked)| (*contributions, &mut **locked)),
            first: 0,
        };
        for block in self.blocks.iter().zip(kernels) {
            call.launch(&self.family, block, u, v)?;
        }
        if let Some((contributions, locked)) = &contributions {
            let size = super::nodes_and_stride(nodes, stride);
            contributions.sum(&self.device, locked, size, v)?;
        }
        Ok(())
    }

    /// The same on E-vectors.
    fn launch_elements(
        &self,
        kernels: &[Compiled<F::Schedule>],
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let held = self.context.hold(&self.device, context)?;
        let fields = self.fields.of_elements(&self.device, &self.blocks)?;
        let mut call = Call {
            device: &self.device,
            fields: fields.as_ref().unwrap_or(&self.fields.values),
            field_stride: 0,
            context: &held.buffer,
            nodes: 0,
            stride: 0,
            contributions: None,
            first: 0,
        };
        for block in self.blocks.iter().zip(kernels) {
            call.launch(&self.family, block, Some(u), v)?;
        }
        Ok(())
    }

    fn element_vectors(&self) -> Vectors {
        Vectors::Element {
            listed: self.blocks.len() > 1,
        }
    }

    pub(super) fn element_kernels(
        &self,
        context: &EvalContext,
    ) -> Result<&[Compiled<F::Schedule>], OperatorError> {
        if self.element.get().is_none() {
            let made = self.choose(self.element_vectors(), |bound, kernels| {
                // The oracle was asked before time, parameters and fields changed.
                if bound.family.reads_fields() {
                    return Ok(0.0);
                }
                let apply = |u: &_, v: &mut _| bound.launch_elements(kernels, context, u, v);
                let on = (&bound.device, &bound.blocks[..]);
                bound.expected.element_error::<T, _>(on, apply)
            })?;
            // Whoever comes second uses what the first one made.
            _ = self.element.set(made);
        }
        Ok(self.element.get().map_or(&[], |(kernels, _)| kernels))
    }

    /// The schedules for E-vectors of each block: those in use, or the first that the device can run.
    fn element_schedules(&self) -> Vec<F::Schedule> {
        if let Some((kernels, _)) = self.element.get() {
            return kernels.iter().filter_map(|it| it.schedule).collect();
        }
        let limits = limits(self.device.features());
        let vectors = self.element_vectors();
        let first = |block: &Block<T, F::Data>| {
            let all = self.family.schedules(&block.data, vectors, &limits);
            all.first().copied()
        };
        self.blocks.iter().filter_map(first).collect()
    }

    fn diagonals(&self) -> Result<&[Compiled<F::Schedule>], OperatorError> {
        if self.diagonal.get().is_none() {
            let compile = |block: &Block<T, F::Data>| {
                let source = self.family.diagonal_source(&block.data, self.vectors)?;
                Ok(Compiled::new(&self.device, &self.cache, source, None)?)
            };
            let made = self.blocks.iter().map(compile);
            _ = self
                .diagonal
                .set(made.collect::<Result<_, OperatorError>>()?);
        }
        Ok(self.diagonal.get().map_or(&[], |kernels| kernels))
    }

    /// Work on all blocks with these schedules.
    fn block_work(&self, schedules: &[F::Schedule], vectors: Vectors) -> Work {
        let blocks = self.blocks.iter().zip(schedules);
        let of_block = |(block, schedule): (&Block<T, F::Data>, &F::Schedule)| {
            let elements = block.elements.len();
            self.family.work(&block.data, schedule, vectors, elements)
        };
        let shared = Work {
            bytes_read: self.family.shared_bytes().1 as u64,
            ..Work::default()
        };
        shared + blocks.map(of_block).sum()
    }
}

/// The schedules in words.
fn words<S: std::fmt::Display>(kernels: &[Compiled<S>]) -> Vec<String> {
    let schedules = kernels.iter().filter_map(|it| it.schedule.as_ref());
    schedules.map(ToString::to_string).collect()
}

impl<T: Number, F: Family<T>> Bound<T, Accelerator> for Blocks<T, F> {
    fn apply(
        &self,
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(&self.nodal, context, Some(u), v)
    }

    /// Fields in the solution's space are gathered on the host for this, which is for tests and for
    /// comparisons, not for solvers.
    fn apply_elements(
        &self,
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch_elements(self.element_kernels(context)?, context, u, v)
    }

    fn diagonal(
        &self,
        context: &EvalContext,
        d: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(self.diagonals()?, context, None, d)
    }

    fn set_nodal(&mut self, first: usize, u: &AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        self.fields.set(&self.device, first, u)
    }

    fn bytes(&self) -> usize {
        let of_block = |block: &Block<T, F::Data>| block.bytes() + self.family.bytes(&block.data);
        let blocks: usize = self.blocks.iter().map(of_block).sum();
        let sums = self.sums.bytes(self.components);
        blocks + sums + self.fields.bytes() + self.family.shared_bytes().0
    }

    fn warnings(&self) -> Vec<String> {
        let element = self.element.get().into_iter();
        let element = element.flat_map(|(_, warnings)| warnings);
        self.warnings.iter().chain(element).cloned().collect()
    }

    fn schedules(&self) -> Vec<String> {
        let nodal = self.nodal.iter().filter_map(|it| it.schedule);
        let both = nodal.zip(self.element_schedules());
        both.map(|(nodal, element)| match nodal == element {
            true => nodal.to_string(),
            false => format!("{nodal}; on E-vectors {element}"),
        })
        .collect()
    }

    /// Work of an application: arrays of blocks, input, fields and output once, and sums of shared nodes.
    fn work(&self, dofs: usize, _: Work) -> Work {
        let vector = dofs * T::BYTES;
        let vectors = Work {
            bytes_read: (vector + self.fields.bytes()) as u64,
            bytes_written: vector as u64,
            ..Work::default()
        };
        let sums = self.sums.work(self.components * T::BYTES);
        let schedules: Vec<_> = self.nodal.iter().filter_map(|it| it.schedule).collect();
        vectors + sums + self.block_work(&schedules, self.vectors)
    }

    fn element_work(&self, _: usize, _: Work) -> Work {
        self.block_work(&self.element_schedules(), self.element_vectors())
    }
}
