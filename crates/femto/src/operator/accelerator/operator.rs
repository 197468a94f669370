//! `AcceleratorBound`: binding, kernels, launches, work.

use super::block::{BoundBlock, Call, Compiled};
use super::choose::{Edit, Kernels};
use super::context::DeviceContext;
use super::matrices::Assembler;
use super::nodal::NodalFields;
use super::pack::Packer;
use super::sums::Sums;
use super::texts::KernelTarget;
use super::verify::{Expected, chosen_nodes};
use crate::Number;
use crate::accelerator::{Counting, language, limits};
use crate::operator::{Binding, Bound, OperatorError};
use femto_kernel::family::{Candidate, Elements, EvalContext, Scatter, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device};
use std::sync::OnceLock;

/// An operator bound to an accelerator.
#[derive(Debug)]
pub struct AcceleratorBound<T: Number> {
    pub(super) device: Accelerator,
    pub(super) cache: KernelCache,
    pub(super) edit: Edit,
    /// L-vectors.
    pub(super) vectors: Vectors,
    components: usize,
    interleaved: bool,
    /// Whether coefficients are folded into the geometry, so that kernels read no fields.
    is_folded: bool,
    pub(super) context: DeviceContext<T>,
    pub(super) fields: NodalFields<T>,
    /// One per kind of map.
    pub(super) blocks: Vec<BoundBlock<T>>,
    /// Of element matrices.
    assembler: Option<Box<Assembler<T>>>,
    sums: Sums<T>,
    pub(super) expected: Expected,
    /// Kernels for L-vectors.
    pub(super) nodal: Vec<Compiled>,
    /// Kernels for E-vectors; made when first used.
    element: OnceLock<Kernels>,
    /// Made when first used.
    diagonal: OnceLock<Vec<Compiled>>,
    pub(super) warnings: Vec<String>,
}

impl<T: Number> AcceleratorBound<T> {
    /// Binds: 1. the oracle's answer at some nodes, 2. arrays of each block, 3. element matrices, if asked for,
    /// 4. kernels, compared with the oracle.
    pub(super) fn new(device: &Accelerator, binding: &Binding<'_>) -> Result<Self, OperatorError> {
        Self::with_edit(device, binding, |_, text| text)
    }

    pub(super) fn with_edit(
        device: &Accelerator,
        binding: &Binding<'_>,
        edit: Edit,
    ) -> Result<Self, OperatorError> {
        binding.check_geometry()?;
        let (space, plan) = (binding.space, binding.plan);
        let whole = binding;
        // What matrices are made of, their products do not read.
        let without_fields = binding.params.without_fields();
        let params = match plan.base {
            Some(_) => &without_fields,
            None => binding.params,
        };
        let binding = &Binding { params, ..*whole };
        let cache = device.user_cache();
        let packers = Packer::all(binding);
        let nodes: Vec<u32> = match params.scatter {
            Scatter::Atomic => Vec::new(),
            Scatter::Deterministic => packers.iter().flat_map(Elements::nodes).copied().collect(),
        };
        let expected = Expected::at::<T>(chosen_nodes(whole.space, &packers), whole);
        let vectors = super::vectors(binding);
        let context = params.context();
        let target = KernelTarget {
            language: language(device.features()),
            limits: limits(device.features()),
            precision: T::PRECISION,
        };
        let target = target.of(binding);
        let blocks = packers.into_iter();
        let blocks = blocks.map(|packer| BoundBlock::new(device, packer, &target));
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
            is_folded: plan
                .kinds
                .iter()
                .all(|kind| kind.block.folds_coefficients()),
            context: DeviceContext::new(device, params.parameters.len(), &context)?,
            fields: NodalFields::new(device, &cache, space, params)?,
            blocks: blocks.collect::<Result<_, _>>()?,
            assembler: None,
            sums: Sums::new(device, &cache, binding, &nodes, plan.family.writes_inside())?,
            expected,
            nodal: Vec::new(),
            element: OnceLock::new(),
            diagonal: OnceLock::new(),
            warnings: Vec::new(),
            cache,
        };
        drop(nodes);
        let on = (device, &bound.cache);
        let vectors_of_elements = bound.element_vectors();
        let to = (&mut bound.blocks[..], vectors_of_elements);
        bound.assembler = Assembler::new(on, whole, to)?.map(Box::new);
        bound.assemble(&context)?;
        (bound.nodal, bound.warnings) = bound.choose(vectors, |bound, kernels| {
            let apply = |u: &_, v: &mut _| bound.launch(kernels, &context, Some(u), v);
            bound.expected.error::<T>(&bound.device, apply)
        })?;
        Ok(bound)
    }

    /// Launches a kernel for each block, adding to `v`, with `u` if it has an input.
    fn launch(
        &self,
        kernels: &[Compiled],
        context: &EvalContext,
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let stride = match self.interleaved {
            true => 1,
            false => v.len() / self.components,
        };
        let held = self.context.hold(&self.device, context)?;
        let mut contributions = self.sums.begin(&self.device, stride, v)?;
        let mut call = Call {
            device: &self.device,
            fields: &self.fields.values,
            field_stride: self.fields.stride(),
            context: &held.buffer,
            stride,
            contributions: contributions
                .as_mut()
                .map(|(contributions, locked)| (*contributions, &mut **locked)),
            first: 0,
            column: 0,
        };
        for block in self.blocks.iter().zip(kernels) {
            call.launch(block, u, v)?;
        }
        if let Some((contributions, locked)) = &contributions {
            contributions.sum(&self.device, locked, stride, v)?;
        }
        Ok(())
    }

    /// As [`Self::launch`], on E-vectors.
    fn launch_elements(
        &self,
        kernels: &[Compiled],
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let held = self.context.hold(&self.device, context)?;
        let fields = self.fields.of_elements(&self.device, &self.blocks)?;
        let mut call = Call {
            fields: fields.as_ref().unwrap_or(&self.fields.values),
            ..Call::of_elements(&self.device, &held.buffer)
        };
        for block in self.blocks.iter().zip(kernels) {
            call.launch(block, Some(u), v)?;
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
    ) -> Result<&[Compiled], OperatorError> {
        if self.element.get().is_none() {
            let made = self.choose(self.element_vectors(), |bound, kernels| {
                // The oracle's answer predates changes of time, parameters and fields.
                if !bound.is_folded || bound.assembler.is_some() {
                    return Ok(0.0);
                }
                let apply = |u: &_, v: &mut _| bound.launch_elements(kernels, context, u, v);
                let elements = bound.blocks.iter().map(|it| it.list.elements.len()).sum();
                bound
                    .expected
                    .element_error((&bound.device, elements), apply)
            })?;
            // A second caller uses what the first one made.
            _ = self.element.set(made);
        }
        Ok(self.element.get().map_or(&[], |(kernels, _)| kernels))
    }

    /// Each block's schedule and work on E-vectors: of the kernel in use, or of the first that the device
    /// can run, if the knobs allow any.
    fn element_schedules(&self) -> Vec<Option<(String, Work)>> {
        if let Some((kernels, _)) = self.element.get() {
            let own = |it: &Compiled| Some((it.schedule.clone(), it.work()));
            return kernels.iter().map(own).collect();
        }
        let first = |block: &BoundBlock<T>| {
            let all = block.kernels.candidates(self.element_vectors());
            let first = all.ok()?.into_iter().next()?;
            Some((first.schedule, first.work))
        };
        self.blocks.iter().map(first).collect()
    }

    /// Counts once what `kernels` do when `launch` runs them over all elements, where the device can.
    fn count(
        &self,
        kernels: &[Compiled],
        launch: impl FnOnce(&[Compiled]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        if kernels.iter().all(|it| it.wavefronts.get().is_some()) {
            return Ok(());
        }
        let copy = |it: &Compiled| Counting::new(&self.device, &it.source.name, &it.source.text);
        let made: Option<Result<Vec<_>, _>> =
            kernels.iter().map(|it| copy(it).transpose()).collect();
        let Some(counting) = made.transpose()? else {
            return Ok(());
        };
        let pairs = kernels.iter().zip(&counting);
        let same = pairs.map(|(kernel, counting)| kernel.counting(counting));
        launch(&same.collect::<Result<Vec<_>, _>>()?)?;
        for (kernel, counting) in kernels.iter().zip(&counting) {
            _ = kernel.wavefronts.set(counting.take(&self.device)?);
        }
        Ok(())
    }

    fn diagonals(&self) -> Result<&[Compiled], OperatorError> {
        if self.diagonal.get().is_none() {
            let compile = |block: &BoundBlock<T>| -> Result<Compiled, OperatorError> {
                let candidate = Candidate {
                    schedule: String::new(),
                    source: block.kernels.diagonal(self.vectors)?,
                    places: block.list.elements.len(),
                    work: Work::default(),
                };
                Ok(Compiled::new(&self.device, &self.cache, candidate)?)
            };
            let made = self.blocks.iter().map(compile).collect::<Result<_, _>>()?;
            _ = self.diagonal.set(made);
        }
        Ok(self.diagonal.get().map_or(&[], |kernels| kernels))
    }
}

impl<T: Number> Bound<T, Accelerator> for AcceleratorBound<T> {
    fn apply(
        &self,
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(&self.nodal, context, Some(u), v)
    }

    /// Fields in the solution's space are gathered on the host here; this serves tests, comparisons and matrices, not
    /// solvers.
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
        let fields = match &mut self.assembler {
            Some(assembler) => &mut assembler.base.fields,
            None => &mut self.fields,
        };
        fields.set(&self.device, first, u)
    }

    fn assemble(&mut self, context: &EvalContext) -> Result<(), OperatorError> {
        match &self.assembler {
            Some(assembler) => assembler.assemble(&self.device, context, &mut self.blocks),
            None => Ok(()),
        }
    }

    fn assembles_at_once(&self) -> bool {
        self.assembler.as_ref().is_some_and(|it| it.is_at_once())
    }

    fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(BoundBlock::bytes).sum();
        let base = self.assembler.as_ref().map_or(0, |it| it.base.bytes());
        base + blocks + self.sums.bytes(self.components) + self.fields.bytes()
    }

    fn warnings(&self) -> Vec<String> {
        let element = self.element.get().into_iter();
        let element = element.flat_map(|(_, warnings)| warnings);
        self.warnings.iter().chain(element).cloned().collect()
    }

    fn schedules(&self) -> Vec<String> {
        let nodal = self.nodal.iter().map(|it| &it.schedule);
        let both = nodal.zip(self.element_schedules());
        both.map(|(nodal, element)| match element {
            Some((element, _)) if element != *nodal => format!("{nodal}; on E-vectors {element}"),
            _ => nodal.clone(),
        })
        .collect()
    }

    fn count_wavefronts(&self, context: &EvalContext, dofs: usize) -> Result<(), OperatorError> {
        self.count(&self.nodal, |kernels| {
            let (u, mut v) = (self.device.zeros(dofs)?, self.device.zeros(dofs)?);
            self.launch(kernels, context, Some(&u), &mut v)
        })
    }

    fn count_element_wavefronts(
        &self,
        context: &EvalContext,
        element_dofs: usize,
    ) -> Result<(), OperatorError> {
        let kernels = self.element_kernels(context)?;
        self.count(kernels, |kernels| {
            let zeros = || self.device.zeros(element_dofs);
            let (u, mut v) = (zeros()?, zeros()?);
            self.launch_elements(kernels, context, &u, &mut v)
        })
    }

    /// Work of an application: each block's arrays, input, fields and output once, and the sums of shared
    /// nodes.
    fn work(&self, dofs: usize, _: Work) -> Work {
        let vector = dofs * T::BYTES;
        let vectors = Work {
            bytes_read: (vector + self.fields.bytes()) as u64,
            bytes_written: vector as u64,
            ..Work::default()
        };
        let sums = self.sums.work(self.components * T::BYTES);
        vectors + sums + self.nodal.iter().map(Compiled::work).sum()
    }

    fn element_work(&self, _: usize, _: Work) -> Work {
        let own = self.element_schedules().into_iter().flatten();
        own.map(|(_, work)| work).sum()
    }
}
