//! Operators on accelerators: one kernel gathers, evaluates and scatters.
//!
//! Elements are grouped by kind of map. A group has its geometry and its node tables on the device and
//! a kernel for each kind of vectors, made from the pencil text when it is first needed and compared
//! with the plain twin on some of the caller's elements before it is used (`variant`). Nodes that
//! several elements add to are set to zero first, those inside elements are written.

mod pack;
mod variant;
mod zero;

use super::{Backend, Binding, Bound, OperatorError};
use crate::Number;
use femto_fem::space::Layout;
use femto_kernel::dialect::Language;
use femto_kernel::family::tensor_hex::pencils::{Problem, Vectors, diagonal_source, element_work};
use femto_kernel::family::tensor_hex::{Basis, Conditions};
use femto_kernel::form::Form;
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, LanguageKind, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use pack::Group;
use std::sync::OnceLock;
use variant::{Sample, Variant, Variants};
use zero::Zero;

/// An operator bound to an accelerator.
#[derive(Debug)]
pub struct AcceleratorBound<T: Number> {
    device: Accelerator,
    cache: KernelCache,
    basis: Basis,
    by_node: bool,
    components: usize,
    /// The quadrature rule: points, then weights.
    rule: AcceleratorBuffer<T>,
    /// One per kind of map.
    groups: Vec<Group<T>>,
    /// `[group]`, for L-vectors and T-vectors.
    nodal: Vec<Variant>,
    /// `[group]`, for E-vectors, made when first asked for.
    element: OnceLock<Vec<Variant>>,
    /// `[group]`, made when first asked for.
    diagonal: OnceLock<Vec<Kernel>>,
    zero: Zero,
    samples: Vec<Sample>,
    warnings: Vec<String>,
}

impl Backend for Accelerator {
    type Bound<T: Number> = AcceleratorBound<T>;

    fn bind<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F, C>,
    ) -> Result<AcceleratorBound<T>, OperatorError>
    where
        T: Number,
        F: Form<3, C> + Clone + 'static,
    {
        AcceleratorBound::new(self, binding, &Variants::default())
    }
}

impl<T: Number> AcceleratorBound<T> {
    /// Binds: 1. geometry and tables, 2. samples of the plain twin, 3. the nodal kernels.
    fn new<F, const C: usize>(
        device: &Accelerator,
        binding: &Binding<'_, F, C>,
        variants: &Variants,
    ) -> Result<Self, OperatorError>
    where
        F: Form<3, C> + Clone + 'static,
    {
        let plan = binding.plan;
        if plan.coefficients.is_none() {
            return Err(OperatorError::FormOnAccelerator);
        }
        binding.geometry.check(&plan.basis.points)?;
        let rule = [&*plan.basis.points, &*plan.basis.weights].concat();
        let rule: Vec<T> = rule.into_iter().map(T::from_f64).collect();
        let groups = pack::groups(device, binding)?;
        let cache = KernelCache::user().unwrap_or_default();
        let mut bound = Self {
            device: device.clone(),
            cache: cache.clone(),
            basis: plan.basis.clone(),
            by_node: binding.space.layout() == Layout::ByNode,
            components: C,
            rule: device.upload(&rule)?,
            samples: groups
                .iter()
                .map(|group| Sample::new(binding, group))
                .collect(),
            groups,
            nodal: Vec::new(),
            element: OnceLock::new(),
            diagonal: OnceLock::new(),
            zero: Zero::new::<T>(device, &cache, binding.space)?,
            warnings: Vec::new(),
        };
        (bound.nodal, bound.warnings) = bound.variants(bound.nodal_vectors(), variants)?;
        Ok(bound)
    }

    fn nodal_vectors(&self) -> Vectors {
        Vectors::Nodal {
            by_node: self.by_node,
        }
    }

    fn element_vectors(&self) -> Vectors {
        Vectors::Element {
            listed: self.groups.len() > 1,
        }
    }

    /// The kernel of each group for a kind of vectors, and what is to be warned of.
    fn variants(
        &self,
        vectors: Vectors,
        variants: &Variants,
    ) -> Result<(Vec<Variant>, Vec<String>), OperatorError> {
        let mut warnings = Vec::new();
        let mut chosen = Vec::with_capacity(self.groups.len());
        for (group, sample) in self.groups.iter().zip(&self.samples) {
            let problem = self.problem(group, vectors);
            let checked = variant::Check {
                device: &self.device,
                cache: &self.cache,
                rule: &self.rule,
                sample,
            };
            chosen.push(variants.first_that_is_right::<T>(&problem, &checked, &mut warnings)?);
        }
        Ok((chosen, warnings))
    }

    fn problem(&self, group: &Group<T>, vectors: Vectors) -> Problem<'_> {
        Problem {
            basis: &self.basis,
            shape: group.shape,
            vectors,
            precision: T::PRECISION,
            language: language(&self.device),
        }
    }

    /// What a vector of `len` entries is to a nodal kernel: nodes, distance of components.
    fn nodes(&self, len: usize) -> [Argument<'static>; 2] {
        let nodes = (len / self.components) as u32;
        let stride = if self.by_node { 1 } else { nodes };
        [Argument::U32(nodes), Argument::U32(stride)]
    }

    fn diagonal_kernels(&self) -> Result<&[Kernel], OperatorError> {
        if let Some(kernels) = self.diagonal.get() {
            return Ok(kernels);
        }
        let compile = |group: &Group<T>| {
            let source = diagonal_source(&self.problem(group, self.nodal_vectors()));
            variant::compile(&self.device, &self.cache, &source, "diagonal")
        };
        let kernels = self.groups.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(self.diagonal.get_or_init(|| kernels))
    }

    fn element_variants(&self) -> Result<&[Variant], OperatorError> {
        if let Some(variants) = self.element.get() {
            return Ok(variants);
        }
        let (variants, _) = self.variants(self.element_vectors(), &Variants::default())?;
        Ok(self.element.get_or_init(|| variants))
    }
}

impl<T: Number> Bound<T, Accelerator> for AcceleratorBound<T> {
    fn apply(
        &self,
        _: &Conditions,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.zero.apply(&self.device, self.nodes(v.len()), v)?;
        let [nodes, stride] = self.nodes(u.len());
        for (group, variant) in self.groups.iter().zip(&self.nodal) {
            let arguments = [
                Argument::input(&group.geometry),
                Argument::input(&self.rule),
                Argument::input(&group.shell),
                Argument::input(&group.interior),
                nodes,
                stride,
                Argument::input(u),
                Argument::output(v),
                Argument::U32(group.elements.len() as u32),
            ];
            variant.launch(&self.device, group.elements.len(), &arguments)?;
        }
        Ok(())
    }

    fn apply_elements(
        &self,
        _: &Conditions,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let variants = self.element_variants()?;
        for (group, variant) in self.groups.iter().zip(variants) {
            let mut arguments = vec![
                Argument::input(&group.geometry),
                Argument::input(&self.rule),
            ];
            arguments.extend(group.list.as_ref().map(Argument::input));
            arguments.extend([
                Argument::input(u),
                Argument::output(v),
                Argument::U32(group.elements.len() as u32),
            ]);
            variant.launch(&self.device, group.elements.len(), &arguments)?;
        }
        Ok(())
    }

    fn diagonal(&self, _: &Conditions, d: &mut AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        let kernels = self.diagonal_kernels()?;
        self.zero.apply(&self.device, self.nodes(d.len()), d)?;
        let [nodes, stride] = self.nodes(d.len());
        for (group, kernel) in self.groups.iter().zip(kernels) {
            let source = diagonal_source(&self.problem(group, self.nodal_vectors()));
            let arguments = [
                Argument::input(&group.geometry),
                Argument::input(&self.rule),
                Argument::input(&group.shell),
                Argument::input(&group.interior),
                nodes,
                stride,
                Argument::output(d),
                Argument::U32(group.elements.len() as u32),
            ];
            let launch = Launch {
                blocks: source.blocks(group.elements.len()),
                threads: source.block.threads,
                shared_bytes: source.block.shared_bytes(T::PRECISION),
            };
            self.device.launch(kernel, &launch, &arguments)?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::bytes).sum();
        groups + self.zero.bytes() + self.rule.len() * T::BYTES
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn schedules(&self) -> Vec<String> {
        self.nodal
            .iter()
            .map(|variant| variant.schedule.to_string())
            .collect()
    }

    /// Geometry and node tables once, input and output once; atomic additions count as writes of the
    /// nodes that they go to, and these are set to zero before.
    fn work(&self, dofs: usize, _: Work) -> Work {
        let vector = (dofs * T::BYTES) as u64;
        let zeroed = self.zero.nodes() as u64 * (self.components * T::BYTES) as u64;
        let vectors = Work {
            bytes_read: vector,
            bytes_written: vector + zeroed,
            ..Work::default()
        };
        let groups = self.groups.iter().zip(&self.nodal).map(|(group, variant)| {
            let element = element_work(&group.shape, &variant.schedule, T::BYTES);
            let tables = (group.shell.len() + group.interior.len()) * size_of::<u32>();
            element * group.elements.len() as u64
                + Work {
                    bytes_read: tables as u64,
                    ..Work::default()
                }
        });
        vectors + groups.sum()
    }

    fn element_work(&self, element_dofs: usize, _: Work) -> Work {
        let vector = (element_dofs * T::BYTES) as u64;
        let vectors = Work {
            bytes_read: vector,
            bytes_written: vector,
            ..Work::default()
        };
        let groups = self.groups.iter().zip(&self.nodal).map(|(group, variant)| {
            let element = element_work(&group.shape, &variant.schedule, T::BYTES);
            element * group.elements.len() as u64
        });
        vectors + groups.sum()
    }
}

fn language(device: &Accelerator) -> Language {
    match device.features().language {
        LanguageKind::Cuda => Language::Cuda,
        LanguageKind::OpenCl => Language::OpenCl,
    }
}

/// A table of the device; an empty one gets an entry that no one reads, since no buffer is empty.
fn table(
    device: &Accelerator,
    mut entries: Vec<u32>,
) -> Result<AcceleratorBuffer<u32>, DeviceError> {
    if entries.is_empty() {
        entries.push(0);
    }
    device.upload(&entries)
}

#[cfg(test)]
mod tests;
