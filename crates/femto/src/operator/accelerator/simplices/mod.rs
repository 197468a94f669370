//! Any form on triangles and tetrahedra: one kernel gathers, evaluates and scatters.
//!
//! Cells are grouped by kind of map. The kernel of a group is compared with the oracle at some nodes of
//! the caller's mesh, with all cells around them, before it is used; a wrong one is dropped with a warning.

mod arrays;
mod bound;
mod choice;
mod kernel;

use super::conditions::DeviceConditions;
use super::contributions::Contributions;
use super::nodal::NodalFields;
use super::oracle::{Expected, Oracle};
use crate::Number;
use crate::accelerator::{language, limits};
use crate::operator::tables::Tables;
use crate::operator::{Binding, Bound, OperatorError, Scatter};
use arrays::{Arrays, Group, Lists};
use femto_fem::space::Layout;
use femto_kernel::family::batch::EvalContext;
use femto_kernel::family::simplex_quadrature::schedule::Schedule;
use femto_kernel::family::simplex_quadrature::source::{
    Interleave, Problem, Vectors, diagonal_source, source,
};
use femto_kernel::family::simplex_quadrature::work::Counts;
use femto_kernel::family::simplex_quadrature::{Element, Shape};
use femto_kernel::family::tensor_hex::schedule::ScheduleError;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, DeviceError};
use kernel::{Call, Compiled};
use std::sync::OnceLock;

/// An operator on simplices.
#[derive(Debug)]
pub(super) struct Simplices<T: Number> {
    device: Accelerator,
    cache: KernelCache,
    element: Element,
    point_form: String,
    interleaved: bool,
    components: usize,
    counts: Counts,
    conditions: DeviceConditions<T>,
    fields: NodalFields<T>,
    /// One per kind of map, with its kernel for L-vectors and T-vectors.
    groups: Vec<(Group<T>, Compiled)>,
    /// Where groups write their contributions, and who adds them up; else sums are atomic.
    contributions: Option<Contributions<T>>,
    /// All cells, for E-vectors, where they are of several kinds.
    all: Option<(Arrays<T>, Shape)>,
    element_kernel: OnceLock<Compiled>,
    diagonals: OnceLock<Vec<Compiled>>,
    warnings: Vec<String>,
}

impl<T: Number> Simplices<T> {
    /// Binds: 1. arrays of each group, 2. kernels, compared with the oracle.
    pub(super) fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        oracle: &Oracle<'_>,
    ) -> Result<Self, OperatorError> {
        let (plan, space, params) = (binding.plan, binding.space, binding.params);
        let Tables::Simplex(element, points) = &plan.tables else {
            return Err(OperatorError::FormOnAccelerator);
        };
        binding.check_geometry()?;
        let cache = KernelCache::user().unwrap_or_default();
        let point_form = plan
            .form
            .point_function(T::PRECISION, language(device.features()))?;
        let groups = arrays::groups::<T>(device, binding, (element, points))?;
        let contributions = match params.scatter {
            Scatter::Atomic => None,
            Scatter::Deterministic => {
                let nodes = arrays::all_nodes(&groups);
                Some(Contributions::new(device, &cache, space, &nodes, |_| true)?)
            }
        };
        let conditions = EvalContext {
            time: params.time,
            parameters: &params.parameters,
        };
        let all = match groups.len() {
            1 => None,
            _ => Some(arrays::all::<T>(device, binding, (element, points))?),
        };
        let mut bound = Self {
            device: device.clone(),
            element: element.clone(),
            point_form,
            interleaved: space.layout() == Layout::Interleaved,
            components: space.components(),
            counts: Counts {
                cells: space.elements(),
                nodes: space.nodes(),
                vertices: binding.geometry.coordinates().len(),
                ..Counts::default()
            },
            conditions: DeviceConditions::new(device, params.parameters.len(), &conditions)?,
            fields: NodalFields::new(device, &cache, space, params)?,
            groups: Vec::new(),
            contributions,
            all,
            element_kernel: OnceLock::new(),
            diagonals: OnceLock::new(),
            warnings: Vec::new(),
            cache,
        };
        bound.choose(groups, binding, oracle)?;
        Ok(bound)
    }

    /// The first schedule that the device can run and whose operator agrees with the oracle.
    fn choose(
        &mut self,
        groups: Vec<Group<T>>,
        binding: &Binding<'_, ()>,
        oracle: &Oracle<'_>,
    ) -> Result<(), OperatorError> {
        // A material law wants gradients to be small.
        let amplitude = match binding.plan.inspection.linear {
            true => 1.0,
            false => 0.02 * arrays::least_edge(binding),
        };
        let expected = Expected::new(binding.space, oracle, amplitude, T::PRECISION);
        let conditions = EvalContext {
            time: binding.params.time,
            parameters: &binding.params.parameters,
        };
        self.groups = groups
            .into_iter()
            .map(|group| (group, Compiled::NONE))
            .collect();
        let mut last = OperatorError::FormOnAccelerator;
        for plain in [false, true] {
            match self.compile_all(binding, plain) {
                Ok(()) => {}
                // This device does not take this kernel; it may take a plainer one.
                Err(
                    error @ (OperatorError::Device(DeviceError::Kernel(_))
                    | OperatorError::Schedule(_)),
                ) => {
                    last = error;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if !expected.is_finite() {
                let words = "the form has no finite value at the states that kernels are compared at, \
                             so this one was not";
                self.warnings.push(words.to_owned());
                return Ok(());
            }
            let error = expected.error::<T>(&self.device, |u, v| self.apply(&conditions, u, v))?;
            if error <= expected.tolerance() {
                return Ok(());
            }
            let wrong = self.wrong(error);
            self.warnings.push(format!("{wrong}; it is not used"));
            last = wrong;
        }
        Err(last)
    }

    fn wrong(&self, error: f64) -> OperatorError {
        let names: Vec<String> = self
            .groups
            .iter()
            .map(|(_, compiled)| compiled.words())
            .collect();
        OperatorError::WrongVariant {
            kernel: "simplex_quadrature".to_owned(),
            schedule: names.join("; "),
            error,
        }
    }

    fn nodal_vectors(&self) -> Vectors {
        Vectors::Nodal {
            interleaved: self.interleaved,
            scatter: match self.contributions {
                None => Scatter::Atomic,
                Some(_) => Scatter::Deterministic,
            },
        }
    }

    fn problem<'a>(&'a self, shape: Shape, vectors: Vectors) -> Problem<'a> {
        Problem {
            element: &self.element,
            shape,
            vectors,
            interleave: Interleave::NONE,
            point_form: &self.point_form,
            precision: T::PRECISION,
            language: language(self.device.features()),
        }
    }

    /// Compiles the kernels of all groups: the schedules thought best, or the plainest ones.
    fn compile_all(&mut self, binding: &Binding<'_, ()>, plain: bool) -> Result<(), OperatorError> {
        let vectors = self.nodal_vectors();
        for index in 0..self.groups.len() {
            let (group, _) = &self.groups[index];
            let shape = group.shape;
            let (lists, schedule) = match plain {
                true => (None, choice::plainest()),
                false => self.best(index, binding)?,
            };
            let compiled = self.compile(shape, vectors, schedule)?;
            let (group, kernel) = &mut self.groups[index];
            (group.lists, *kernel) = (lists, compiled);
        }
        Ok(())
    }

    /// The schedule thought best for a group that the device can run, with its lists.
    fn best(
        &self,
        index: usize,
        binding: &Binding<'_, ()>,
    ) -> Result<(Option<Lists<T>>, Schedule), OperatorError> {
        let (group, _) = &self.groups[index];
        let shape = &group.shape;
        let fans = choice::fans(shape, T::PRECISION);
        if self.contributions.is_some() || fans.is_empty() {
            return Ok((None, Schedule::usual(shape)));
        }
        let others = self.groups.iter().enumerate().filter(|(n, _)| *n != index);
        let others = others.map(|(_, (group, _))| group);
        let elsewhere = arrays::elsewhere(binding.space.nodes(), others);
        for fans in fans {
            let lists = group.lists(&self.device, binding, fans, &elsewhere)?;
            let schedule = choice::block_local(shape, T::PRECISION, fans, lists.most_nodes);
            if self
                .validate(&schedule, shape, self.nodal_vectors())
                .is_ok()
            {
                return Ok((Some(lists), schedule));
            }
        }
        Ok((None, Schedule::usual(shape)))
    }

    fn validate(
        &self,
        schedule: &Schedule,
        shape: &Shape,
        vectors: Vectors,
    ) -> Result<(), ScheduleError> {
        let limits = limits(self.device.features());
        schedule.validate(shape, (vectors, Interleave::NONE), T::PRECISION, &limits)
    }

    fn compile(
        &self,
        shape: Shape,
        vectors: Vectors,
        schedule: Schedule,
    ) -> Result<Compiled, OperatorError> {
        self.validate(&schedule, &shape, vectors)?;
        let source = source(&self.problem(shape, vectors), &schedule);
        Ok(Compiled::new(&self.device, &self.cache, source, "apply")?)
    }

    /// Launches a kernel of each group, which add to `v`.
    fn launch<'a>(
        &'a self,
        kernels: impl Iterator<Item = &'a Compiled>,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let nodes = v.len() / self.components;
        let stride = if self.interleaved { 1 } else { nodes };
        let held = self.conditions.hold(&self.device, conditions)?;
        let mut contributions = self
            .contributions
            .as_ref()
            .map(|contributions| (contributions, contributions.lock()));
        if contributions.is_none() {
            let len = v.len();
            self.device.fill_zero(v, 0..len)?;
        }
        let mut first = 0;
        for ((group, _), kernel) in self.groups.iter().zip(kernels) {
            let mut call = Call {
                shape: &group.shape,
                arrays: &group.arrays,
                lists: group.lists.as_ref().filter(|_| kernel.has_lists()),
                fields: &self.fields.values,
                field_stride: self.fields.stride(),
                conditions: &held.buffer,
                nodes,
                stride,
                contributions: contributions
                    .as_mut()
                    .map(|(contributions, locked)| (*contributions, &mut **locked)),
                first,
            };
            kernel.launch(&self.device, &mut call, u, v)?;
            first += group.arrays.cells;
        }
        if let Some((contributions, locked)) = &contributions {
            let size = super::nodes_and_stride(nodes, stride);
            contributions.sum(&self.device, locked, size, v)?;
        }
        Ok(())
    }

    /// All cells in the order of the space.
    fn all(&self) -> Result<(&Arrays<T>, &Shape), OperatorError> {
        let only = || {
            self.groups
                .first()
                .map(|(group, _)| (&group.arrays, &group.shape))
        };
        let all = self.all.as_ref().map(|(arrays, shape)| (arrays, shape));
        all.or_else(only).ok_or(OperatorError::FormOnAccelerator)
    }

    fn element_kernel(&self) -> Result<&Compiled, OperatorError> {
        if let Some(kernel) = self.element_kernel.get() {
            return Ok(kernel);
        }
        let shape = *self.all()?.1;
        let compiled = self.compile(shape, Vectors::Element, Schedule::usual(&shape))?;
        Ok(self.element_kernel.get_or_init(|| compiled))
    }

    fn diagonals(&self) -> Result<&[Compiled], OperatorError> {
        if let Some(kernels) = self.diagonals.get() {
            return Ok(kernels);
        }
        let vectors = self.nodal_vectors();
        let compile = |(group, _): &(Group<T>, Compiled)| {
            let source = diagonal_source(&self.problem(group.shape, vectors));
            Compiled::new(&self.device, &self.cache, source, "diagonal")
        };
        let kernels = self.groups.iter().map(compile);
        let kernels = kernels.collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(self.diagonals.get_or_init(|| kernels))
    }
}
