//! Operators on accelerators: one kernel gathers, evaluates and scatters.
//!
//! Elements are grouped by kind of map. A group has its geometry and its node tables on the device and
//! a kernel for each kind of vectors, made from the pencil text when it is first needed and compared
//! with the oracle on some of the caller's elements before it is used (`variant`). The diagonal's
//! kernel, which runs once a solve, is not compared. Nodes inside
//! elements are written. Those that several elements share are set to zero first and summed by atomic
//! additions (`zero`), or, to be deterministic, elements write contributions that a second kernel sums (`contributions`).

mod bound;
mod conditions;
mod contributions;
mod forms;
mod nodal;
mod oracle;
mod pack;
mod simplices;
mod variant;
mod zero;

use super::tables::Tables;
use super::{Binding, Bound, OperatorError};
use crate::Number;
use crate::accelerator::language;
pub use bound::AcceleratorBound;
use contributions::Contributions;
use femto_fem::space::Layout;
use femto_kernel::family::tensor_hex::pencils::{
    FactorPrecision, Pencils, Problem, Scatter, Vectors, diagonal_source, element_work,
};
use femto_kernel::family::tensor_hex::{Basis, EvalContext};
use femto_kernel::form::Form;
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device, DeviceError};
use pack::Group;
use std::sync::OnceLock;
use variant::{Sample, Variant, Variants};
use zero::Zero;

/// A form λ u, κ ∇u on hexahedra, its coefficients folded into the geometry.
#[derive(Debug)]
struct Factors<T: Number> {
    device: Accelerator,
    cache: KernelCache,
    basis: Basis,
    interleaved: bool,
    components: usize,
    factors: FactorPrecision,
    /// What is tried for each kind of vectors.
    variants: Variants,
    /// The quadrature rule: points and weights, `[points_1d][2]`.
    rule: AcceleratorBuffer<T>,
    /// One per kind of map.
    groups: Vec<Group<T>>,
    /// `[group]`, for L-vectors and T-vectors.
    nodal: Vec<Variant>,
    /// `[group]`, for E-vectors, and what is to be warned of; made when first asked for.
    element: OnceLock<(Vec<Variant>, Vec<String>)>,
    /// `[group]`, made when first asked for.
    diagonal: OnceLock<Vec<Variant>>,
    sums: Sums<T>,
    samples: Vec<Sample>,
    warnings: Vec<String>,
}

/// How nodes that several elements share are summed.
#[derive(Debug)]
enum Sums<T: Number> {
    Atomic(Zero),
    Deterministic(Contributions<T>),
}

impl<T: Number> Sums<T> {
    fn bytes(&self, components: usize) -> usize {
        match self {
            Self::Atomic(zero) => zero.bytes(),
            Self::Deterministic(contributions) => contributions.bytes(components),
        }
    }

    /// What sums of shared nodes need beside their output: zeros before atomic additions, which count as
    /// one write of each node of `bytes`; or contributions that are written and read, with their lists.
    fn work(&self, bytes: usize) -> Work {
        let (bytes_read, bytes_written) = match self {
            Self::Atomic(zero) => (0, zero.nodes() * bytes),
            Self::Deterministic(contributions) => {
                let (nodes, contributions) = contributions.counts();
                let lists = (2 * nodes + contributions) * size_of::<u32>();
                (contributions * bytes + lists, contributions * bytes)
            }
        };
        Work {
            bytes_read: bytes_read as u64,
            bytes_written: bytes_written as u64,
            ..Work::default()
        }
    }
}

impl<T: Number> Factors<T> {
    /// Binds: 1. geometry and tables, 2. samples of the oracle, 3. the nodal kernels.
    fn new<F, const C: usize>(
        device: &Accelerator,
        binding: &Binding<'_, F>,
        variants: &Variants,
    ) -> Result<Self, OperatorError>
    where
        F: Form<3, C> + Clone + 'static,
    {
        let plan = binding.plan;
        let (Some(_), Tables::Hex(basis)) = (&plan.coefficients, &plan.tables) else {
            return Err(OperatorError::FormOnAccelerator);
        };
        binding.check_geometry()?;
        let rule = basis.points.iter().zip(&basis.weights);
        let rule: Vec<T> = rule.flat_map(|(&x, &w)| [x, w].map(T::from_f64)).collect();
        let (groups, nodes) = pack::groups(device, binding, basis)?;
        let cache = KernelCache::user().unwrap_or_default();
        let sums = match binding.params.scatter {
            Scatter::Atomic => Sums::Atomic(Zero::new::<T>(device, &cache, binding.space)?),
            Scatter::Deterministic => {
                let shell = contributions::shell(binding.space);
                Sums::Deterministic(Contributions::new(
                    device,
                    &cache,
                    binding.space,
                    &nodes,
                    shell,
                )?)
            }
        };
        let mut bound = Self {
            device: device.clone(),
            cache: cache.clone(),
            basis: basis.clone(),
            interleaved: binding.space.layout() == Layout::Interleaved,
            components: C,
            factors: plan.factors,
            variants: *variants,
            rule: device.upload(&rule)?,
            samples: groups
                .iter()
                .map(|group| Sample::new::<T, F, C>(binding, basis, group))
                .collect(),
            groups,
            nodal: Vec::new(),
            element: OnceLock::new(),
            diagonal: OnceLock::new(),
            sums,
            warnings: Vec::new(),
        };
        (bound.nodal, bound.warnings) = bound.chosen(bound.nodal_vectors())?;
        Ok(bound)
    }

    fn nodal_vectors(&self) -> Vectors {
        Vectors::Nodal {
            interleaved: self.interleaved,
            scatter: match self.sums {
                Sums::Atomic(_) => Scatter::Atomic,
                Sums::Deterministic(_) => Scatter::Deterministic,
            },
        }
    }

    fn element_vectors(&self) -> Vectors {
        Vectors::Element {
            listed: self.groups.len() > 1,
        }
    }

    /// The kernel of each group for a kind of vectors, and what is to be warned of.
    fn chosen(&self, vectors: Vectors) -> Result<(Vec<Variant>, Vec<String>), OperatorError> {
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
            chosen.push(self.variants.first_that_is_right::<T>(
                &problem,
                &checked,
                &mut warnings,
            )?);
        }
        Ok((chosen, warnings))
    }

    fn problem(&self, group: &Group<T>, vectors: Vectors) -> Problem<'_> {
        Problem {
            basis: &self.basis,
            shape: group.shape,
            vectors,
            precision: T::PRECISION,
            factors: self.factors,
            language: language(self.device.features()),
        }
    }

    /// Work of an element apart from vectors and tables.
    fn work_of(&self, group: &Group<T>, schedule: &Pencils) -> Work {
        element_work(&group.shape, schedule, T::PRECISION, self.factors)
    }

    /// What a vector of `len` entries is to a nodal kernel: nodes, distance of components.
    fn nodes(&self, len: usize) -> [Argument<'static>; 2] {
        let nodes = (len / self.components) as u32;
        let stride = if self.interleaved { 1 } else { nodes };
        [Argument::U32(nodes), Argument::U32(stride)]
    }

    fn diagonal_variants(&self) -> Result<&[Variant], OperatorError> {
        if let Some(variants) = self.diagonal.get() {
            return Ok(variants);
        }
        let compile = |group: &Group<T>| {
            let source = diagonal_source(&self.problem(group, self.nodal_vectors()));
            Variant::compile::<T>(&self.device, &self.cache, &source, "diagonal")
        };
        let variants = self.groups.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(self.diagonal.get_or_init(|| variants))
    }

    /// Launches kernels of all groups that add to `v`, with `u` if they have an input.
    fn launch(
        &self,
        variants: &[Variant],
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let [nodes, stride] = self.nodes(v.len());
        let mut contributions = match &self.sums {
            Sums::Deterministic(contributions) => Some((contributions, contributions.lock())),
            Sums::Atomic(zero) => {
                zero.apply(&self.device, [nodes, stride], v)?;
                None
            }
        };
        let mut first = 0;
        for (group, variant) in self.groups.iter().zip(variants) {
            let mut arguments = vec![
                group.geometry.argument(),
                Argument::input(&self.rule),
                Argument::input(&group.nodes),
                nodes,
                stride,
            ];
            if let Some((contributions, locked)) = &mut contributions {
                arguments.extend(contributions.arguments(locked, first));
            }
            arguments.extend(u.map(Argument::input));
            let elements = group.elements.len();
            arguments.extend([Argument::output(v), Argument::U32(elements as u32)]);
            variant.launch(&self.device, elements, &arguments)?;
            first += elements;
        }
        if let Some((contributions, locked)) = &contributions {
            contributions.sum(&self.device, locked, [nodes, stride], v)?;
        }
        Ok(())
    }

    /// How E-vectors of a group are or will be evaluated.
    fn element_schedule(&self, group: usize) -> Pencils {
        match self.element.get() {
            Some((variants, _)) => variants[group].schedule,
            None => {
                let shape = &self.groups[group].shape;
                let best = Pencils::best(shape, self.element_vectors(), self.factors);
                self.variants.knobs.turn(best)
            }
        }
    }

    fn element_variants(&self) -> Result<&[Variant], OperatorError> {
        if self.element.get().is_none() {
            let made = self.chosen(self.element_vectors())?;
            // Whoever comes second uses what the first one made.
            _ = self.element.set(made);
        }
        Ok(self.element.get().map_or(&[], |(variants, _)| variants))
    }
}

impl<T: Number> Bound<T, Accelerator> for Factors<T> {
    fn apply(
        &self,
        _: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(&self.nodal, Some(u), v)
    }

    fn apply_elements(
        &self,
        _: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let variants = self.element_variants()?;
        for (group, variant) in self.groups.iter().zip(variants) {
            let mut arguments = vec![group.geometry.argument(), Argument::input(&self.rule)];
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

    fn diagonal(&self, _: &EvalContext, d: &mut AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        self.launch(self.diagonal_variants()?, None, d)
    }

    /// Coefficients of this kind do not vary inside of an element.
    fn set_nodal(&mut self, _: usize, _: &AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        Ok(())
    }

    fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::bytes).sum();
        groups + self.sums.bytes(self.components) + self.rule.len() * T::BYTES
    }

    fn warnings(&self) -> Vec<String> {
        let element = self.element.get().into_iter();
        let element = element.flat_map(|(_, warnings)| warnings);
        self.warnings.iter().chain(element).cloned().collect()
    }

    fn schedules(&self) -> Vec<String> {
        let nodal = self.nodal.iter().map(|variant| variant.schedule);
        let element = (0..self.groups.len()).map(|group| self.element_schedule(group));
        let both = nodal.zip(element);
        both.map(|(nodal, element)| match nodal == element {
            true => nodal.to_string(),
            false => format!("{nodal}; on E-vectors {element}"),
        })
        .collect()
    }

    /// Geometry and node tables once, input and output once, and sums of shared nodes.
    fn work(&self, dofs: usize, _: Work) -> Work {
        let vector = (dofs * T::BYTES) as u64;
        let vectors = Work {
            bytes_read: vector,
            bytes_written: vector,
            ..Work::default()
        } + self.sums.work(self.components * T::BYTES);
        let groups = self.groups.iter().zip(&self.nodal).map(|(group, variant)| {
            let element = self.work_of(group, &variant.schedule);
            let tables = group.nodes.len() * size_of::<u32>();
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
        let groups = self.groups.iter().enumerate().map(|(index, group)| {
            let element = self.work_of(group, &self.element_schedule(index));
            element * group.elements.len() as u64
        });
        vectors + groups.sum()
    }
}

/// Nodes of a vector and the distance of its components, as kernels of nodes take them.
fn nodes_and_stride(nodes: usize, stride: usize) -> [Argument<'static>; 2] {
    [nodes, stride].map(|number| Argument::U32(number as u32))
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
