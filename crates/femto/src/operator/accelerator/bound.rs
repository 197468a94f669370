//! Which kernels an accelerator evaluates a form with.

use super::Factors;
use super::forms::Forms;
use super::oracle;
use super::simplices::Simplices;
use super::variant::Variants;
use crate::Number;
use crate::operator::tables::Tables;
use crate::operator::{Backend, Binding, Bound, OperatorError};
use femto_kernel::family::batch::EvalContext;
use femto_kernel::form::Form;
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use std::fmt::{self, Debug};

/// An operator bound to an accelerator.
pub struct AcceleratorBound<T: Number>(Box<dyn Bound<T, Accelerator>>);

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
        Ok(AcceleratorBound(match &binding.plan.tables {
            Tables::Hex(_) if binding.plan.coefficients.is_some() => {
                let variants = Variants {
                    knobs: binding.params.knobs,
                    ..Variants::default()
                };
                Box::new(Factors::new::<F, C>(self, binding, &variants)?)
            }
            Tables::Hex(basis) => {
                let oracle = oracle::hexahedron::<F, C>(binding, basis);
                Box::new(Forms::new(self, &binding.without_form(), &oracle)?)
            }
            Tables::Simplex(element, points) => {
                let oracle = oracle::simplex::<F, 3, C>(binding, element, points);
                Box::new(Simplices::new(self, &binding.without_form(), &oracle)?)
            }
        }))
    }

    fn bind_planar<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F>,
    ) -> Result<AcceleratorBound<T>, OperatorError>
    where
        T: Number,
        F: Form<2, C> + Clone + 'static,
    {
        let Tables::Simplex(element, points) = &binding.plan.tables else {
            return Err(OperatorError::FormOnAccelerator);
        };
        let oracle = oracle::simplex::<F, 2, C>(binding, element, points);
        let simplices = Simplices::new(self, &binding.without_form(), &oracle)?;
        Ok(AcceleratorBound(Box::new(simplices)))
    }
}

impl<T: Number> Bound<T, Accelerator> for AcceleratorBound<T> {
    fn apply(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.apply(conditions, u, v)
    }

    fn apply_elements(
        &self,
        conditions: &EvalContext,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.apply_elements(conditions, u, v)
    }

    fn diagonal(
        &self,
        conditions: &EvalContext,
        d: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.0.diagonal(conditions, d)
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
