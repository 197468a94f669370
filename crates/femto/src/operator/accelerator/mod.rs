//! Operators on accelerators: blocks of elements, each with a kernel that gathers, evaluates and scatters.
//!
//! A block has the elements of one kind of map, with what its kernels read (`block`, `pack`); a family makes
//! their texts (`family`). Kernels are made when they are first needed, from the schedules thought best, and
//! the operator is compared with the oracle at some nodes of the caller's mesh before it is used (`verify`).
//! The diagonal's kernels, which run once a solve, are not compared. Nodes that several elements share are
//! set to zero first and summed by atomic additions (`zero`), or, to be deterministic, elements write
//! contributions that a second kernel sums (`contributions`).

mod block;
mod cell_quadrature;
mod context;
mod contributions;
mod family;
mod nodal;
mod operator;
mod pack;
mod sum_factorization;
mod sums;
mod verify;
mod zero;

use super::tables::Tables;
use super::{Backend, Binding, Bound, OperatorError};
use crate::Number;
use crate::accelerator::{language, limits};
use cell_quadrature::CellQuadrature;
use femto_fem::space::Layout;
use femto_kernel::family::{EvalContext, Vectors};
use femto_kernel::form::Form;
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Device, DeviceError};
use operator::Blocks;
use std::fmt::{self, Debug};
use sum_factorization::SumFactorization;
use verify::Oracle;

/// An operator bound to an accelerator.
pub struct AcceleratorBound<T: Number>(Box<dyn Bound<T, Accelerator>>);

impl<T: Number> AcceleratorBound<T> {
    /// Chooses the family.
    fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        oracle: &Oracle<'_>,
    ) -> Result<Self, OperatorError> {
        binding.check_geometry()?;
        let features = device.features();
        let (language, limits) = (language(features), limits(features));
        Ok(Self(match &binding.plan.tables {
            Tables::Hex(_) => {
                let family = SumFactorization::<T>::new(device, binding, language)?;
                Box::new(Blocks::new(device, binding, family, oracle)?)
            }
            Tables::Dense(..) => {
                let on = (language, limits);
                let family = CellQuadrature::<T>::new(device, binding, on, vectors(binding))?;
                Box::new(Blocks::new(device, binding, family, oracle)?)
            }
        }))
    }
}

/// The L-vectors of an operator.
fn vectors(binding: &Binding<'_, ()>) -> Vectors {
    Vectors::Nodal {
        interleaved: binding.space.layout() == Layout::Interleaved,
        scatter: binding.params.scatter,
    }
}

impl Backend for Accelerator {
    type Bound<T: Number> = AcceleratorBound<T>;

    fn bind<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F>,
    ) -> Result<AcceleratorBound<T>, OperatorError>
    where
        T: Number,
        F: Form<3, C> + Clone + 'static,
    {
        let own = binding.without_form();
        match &binding.plan.tables {
            Tables::Hex(basis) => {
                AcceleratorBound::new(self, &own, &verify::hexahedron::<F, C>(binding, basis))
            }
            Tables::Dense(element, points) => {
                let oracle = verify::simplex::<F, 3, C>(binding, element, points);
                AcceleratorBound::new(self, &own, &oracle)
            }
        }
    }

    fn bind_planar<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F>,
    ) -> Result<AcceleratorBound<T>, OperatorError>
    where
        T: Number,
        F: Form<2, C> + Clone + 'static,
    {
        let Tables::Dense(element, points) = &binding.plan.tables else {
            return Err(OperatorError::NoKernel);
        };
        let oracle = verify::simplex::<F, 2, C>(binding, element, points);
        AcceleratorBound::new(self, &binding.without_form(), &oracle)
    }
}

impl<T: Number> Bound<T, Accelerator> for AcceleratorBound<T> {
    fn apply(
        &self,
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.apply(context, u, v)
    }

    fn apply_elements(
        &self,
        context: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.apply_elements(context, u, v)
    }

    fn diagonal(
        &self,
        context: &EvalContext,
        d: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.diagonal(context, d)
    }

    fn set_nodal(&mut self, first: usize, u: &AcceleratorBuffer<T>) -> Result<(), OperatorError> {
        self.0.set_nodal(first, u)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    fn schedules(&self) -> Vec<String> {
        self.0.schedules()
    }

    fn work(&self, dofs: usize, planned: Work) -> Work {
        self.0.work(dofs, planned)
    }

    fn element_work(&self, element_dofs: usize, planned: Work) -> Work {
        self.0.element_work(element_dofs, planned)
    }
}

impl<T: Number> Debug for AcceleratorBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceleratorBound")
            .field("schedules", &self.schedules())
            .finish_non_exhaustive()
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
