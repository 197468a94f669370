//! Any form on hexahedra: one kernel gathers, evaluates the printed form and scatters.
//!
//! As for simplices, the operator is compared with the oracle at some nodes before it is used.

mod group;

use super::conditions::DeviceConditions;
use super::contributions::{self, Contributions};
use super::nodal::NodalFields;
use super::oracle::{Expected, Oracle};
use super::zero::Zero;
use super::{Sums, nodes_and_stride};
use crate::Number;
use crate::accelerator::{language, limits};
use crate::operator::tables::Tables;
use crate::operator::{Binding, Bound, OperatorError, Scatter};
use femto_fem::space::Layout;
use femto_kernel::family::batch::EvalContext;
use femto_kernel::family::tensor_hex::Basis;
use femto_kernel::family::tensor_hex::forms::{
    FormSchedule, Problem, Vectors, diagonal_source, element_work, source,
};
use femto_kernel::form::TracedForm;
use femto_kernel::roofline::Work;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device, DeviceError};
use group::{Call, Compiled, Group};
use std::sync::OnceLock;

/// An operator on hexahedra with a printed form.
#[derive(Debug)]
pub(super) struct Forms<T: Number> {
    device: Accelerator,
    cache: KernelCache,
    basis: Basis,
    form: TracedForm,
    interleaved: bool,
    components: usize,
    /// The quadrature rule: points and weights, `[points_1d][2]`.
    rule: AcceleratorBuffer<T>,
    conditions: DeviceConditions<T>,
    fields: NodalFields<T>,
    /// One per kind of map.
    groups: Vec<Group<T>>,
    /// `[group]`, for L-vectors and T-vectors.
    nodal: Vec<Compiled>,
    /// `[group]`, made when first asked for.
    element: OnceLock<Vec<Compiled>>,
    diagonal: OnceLock<Vec<Compiled>>,
    sums: Sums<T>,
    warnings: Vec<String>,
}

impl<T: Number> Forms<T> {
    /// Binds: 1. arrays of each group, 2. kernels, compared with the oracle.
    pub(super) fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        oracle: &Oracle<'_>,
    ) -> Result<Self, OperatorError> {
        let (plan, space, params) = (binding.plan, binding.space, binding.params);
        let Tables::Hex(basis) = &plan.tables else {
            return Err(OperatorError::FormOnAccelerator);
        };
        binding.check_geometry()?;
        let cache = KernelCache::user().unwrap_or_default();
        let rule = basis.points.iter().zip(&basis.weights);
        let rule: Vec<T> = rule.flat_map(|(&x, &w)| [x, w].map(T::from_f64)).collect();
        let (groups, nodes) = group::groups::<T>(device, binding, basis)?;
        let sums = match params.scatter {
            Scatter::Atomic => Sums::Atomic(Zero::new::<T>(device, &cache, space)?),
            Scatter::Deterministic => {
                let shell = contributions::shell(space);
                Sums::Deterministic(Contributions::new(device, &cache, space, &nodes, shell)?)
            }
        };
        let conditions = EvalContext {
            time: params.time,
            parameters: &params.parameters,
        };
        let mut bound = Self {
            device: device.clone(),
            basis: basis.clone(),
            form: plan.form.clone(),
            interleaved: space.layout() == Layout::Interleaved,
            components: space.components(),
            rule: device.upload(&rule)?,
            conditions: DeviceConditions::new(device, params.parameters.len(), &conditions)?,
            fields: NodalFields::new(device, &cache, space, params)?,
            groups,
            nodal: Vec::new(),
            element: OnceLock::new(),
            diagonal: OnceLock::new(),
            sums,
            warnings: Vec::new(),
            cache,
        };
        bound.choose(binding, oracle)?;
        Ok(bound)
    }

    /// The first schedule that the device can run and whose operator agrees with the oracle.
    fn choose(
        &mut self,
        binding: &Binding<'_, ()>,
        oracle: &Oracle<'_>,
    ) -> Result<(), OperatorError> {
        // A material law wants gradients to be small.
        let amplitude = match binding.plan.inspection.linear {
            true => 1.0,
            false => 0.01 * group::least_edge(binding) / (binding.space.degree() as f64).powi(2),
        };
        let expected = Expected::new(binding.space, oracle, amplitude, T::PRECISION);
        let conditions = EvalContext {
            time: binding.params.time,
            parameters: &binding.params.parameters,
        };
        let vectors = self.nodal_vectors();
        let mut last = OperatorError::FormOnAccelerator;
        for plain in [false, true] {
            match self.compile(vectors, plain) {
                Ok(compiled) => self.nodal = compiled,
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
            let wrong = OperatorError::WrongVariant {
                kernel: "tensor_hex form".to_owned(),
                schedule: self.schedules().join("; "),
                error,
            };
            self.warnings.push(format!("{wrong}; it is not used"));
            last = wrong;
        }
        Err(last)
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

    fn problem<'a>(&'a self, group: &Group<T>, vectors: Vectors) -> Problem<'a> {
        Problem {
            basis: &self.basis,
            shape: group.shape,
            form: &self.form,
            vectors,
            precision: T::PRECISION,
            language: language(self.device.features()),
        }
    }

    /// The kernels of all groups: of the schedules thought best, or of the plainest.
    fn compile(&self, vectors: Vectors, plain: bool) -> Result<Vec<Compiled>, OperatorError> {
        let limits = limits(self.device.features());
        let compile = |group: &Group<T>| {
            let schedule = match plain {
                true => FormSchedule::plain(),
                false => FormSchedule::best(&group.shape, vectors, T::PRECISION, &limits),
            };
            schedule.validate(&group.shape, T::PRECISION, &limits)?;
            let source = source(&self.problem(group, vectors), &schedule)?;
            Ok(Compiled::new(&self.device, &self.cache, source)?)
        };
        self.groups.iter().map(compile).collect()
    }

    /// Launches a kernel of each group, which add to `v`, with `u` where they have an input.
    fn launch(
        &self,
        kernels: &[Compiled],
        conditions: &EvalContext,
        u: Option<&AcceleratorBuffer<T>>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let nodes = v.len() / self.components;
        let stride = if self.interleaved { 1 } else { nodes };
        let size = nodes_and_stride(nodes, stride);
        let held = self.conditions.hold(&self.device, conditions)?;
        let mut contributions = match &self.sums {
            Sums::Deterministic(contributions) => Some((contributions, contributions.lock())),
            Sums::Atomic(zero) => {
                zero.apply(&self.device, size, v)?;
                None
            }
        };
        let mut first = 0;
        for (group, kernel) in self.groups.iter().zip(kernels) {
            let call = Call {
                group,
                rule: &self.rule,
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
            kernel.launch(&self.device, &call, u, v)?;
            first += group.elements.len();
        }
        if let Some((contributions, locked)) = &contributions {
            contributions.sum(&self.device, locked, size, v)?;
        }
        Ok(())
    }

    fn element_kernels(&self) -> Result<&[Compiled], OperatorError> {
        if self.element.get().is_none() {
            let made = self.compile(self.element_vectors(), false)?;
            // Whoever comes second uses what the first one made.
            _ = self.element.set(made);
        }
        Ok(self.element.get().map_or(&[], |kernels| kernels))
    }

    fn diagonals(&self) -> Result<&[Compiled], OperatorError> {
        if self.diagonal.get().is_none() {
            let vectors = self.nodal_vectors();
            let compile = |group: &Group<T>| {
                let source = diagonal_source(&self.problem(group, vectors))?;
                Ok(Compiled::new(&self.device, &self.cache, source)?)
            };
            let made = self.groups.iter().map(compile);
            _ = self
                .diagonal
                .set(made.collect::<Result<_, OperatorError>>()?);
        }
        Ok(self.diagonal.get().map_or(&[], |kernels| kernels))
    }
}

impl<T: Number> Bound<T, Accelerator> for Forms<T> {
    fn apply(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(&self.nodal, conditions, Some(u), v)
    }

    fn apply_elements(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let kernels = self.element_kernels()?;
        let held = self.conditions.hold(&self.device, conditions)?;
        for (group, kernel) in self.groups.iter().zip(kernels) {
            let fields = self
                .fields
                .of_cells(&self.device, &group.nodes, self.basis.nodes())?;
            let call = Call {
                group,
                rule: &self.rule,
                fields: fields.as_ref().unwrap_or(&self.fields.values),
                field_stride: 0,
                conditions: &held.buffer,
                nodes: 0,
                stride: 0,
                contributions: None,
                first: 0,
            };
            kernel.launch(&self.device, &call, Some(u), v)?;
        }
        Ok(())
    }

    fn diagonal(
        &self,
        conditions: &EvalContext,
        d: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.launch(self.diagonals()?, conditions, None, d)
    }

    fn set_nodal(&mut self, first: usize, u: &AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        self.fields.set(&self.device, first, u)
    }

    fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::bytes).sum();
        let sums = self.sums.bytes(self.components);
        groups + sums + self.fields.bytes() + self.rule.len() * T::BYTES
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn schedules(&self) -> Vec<String> {
        self.nodal
            .iter()
            .map(|kernel| kernel.schedule().to_string())
            .collect()
    }

    fn work(&self, dofs: usize, _: Work) -> Work {
        let vector = (dofs * T::BYTES) as u64;
        let sums = self.sums.work(self.components * T::BYTES);
        let vectors = Work {
            bytes_read: vector + self.fields.bytes() as u64,
            bytes_written: vector,
            ..Work::default()
        };
        let groups = self.groups.iter().zip(&self.nodal).map(|(group, kernel)| {
            let element = element_work(&group.shape, &kernel.schedule(), T::BYTES);
            let tables = group.nodes.len() * size_of::<u32>();
            element * group.elements.len() as u64
                + Work {
                    bytes_read: tables as u64,
                    ..Work::default()
                }
        });
        vectors + sums + groups.sum()
    }

    fn element_work(&self, element_dofs: usize, _: Work) -> Work {
        let vector = (element_dofs * T::BYTES) as u64;
        let vectors = Work {
            bytes_read: vector,
            bytes_written: vector,
            ..Work::default()
        };
        let groups = self.groups.iter().zip(&self.nodal).map(|(group, kernel)| {
            let element = element_work(&group.shape, &kernel.schedule(), T::BYTES);
            element * group.elements.len() as u64
        });
        vectors + groups.sum()
    }
}
