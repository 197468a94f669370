//! What may change after an operator is bound: time, parameters, fields in the solution's space.

use super::{Backend, Bound as _, Operator, OperatorError, plan};
use crate::Number;
use crate::vector::VectorOps;
use femto_kernel::family::EvalContext;
use femto_platform::device::Buffer;

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// Sets the time for the form and for all facet forms.
    ///
    /// # Errors
    /// From the device, where matrices are assembled anew.
    pub fn set_time(&mut self, time: f64) -> Result<(), OperatorError> {
        let is_stale = self.inspection().reads_time && self.time != time;
        self.time = time;
        for term in &mut self.facets {
            term.operator.set_time(time)?;
        }
        self.assemble(is_stale)
    }

    /// Assembles matrices anew, if there are any and they are stale.
    fn assemble(&mut self, is_stale: bool) -> Result<(), OperatorError> {
        let context = EvalContext {
            time: self.time,
            parameters: &self.parameters,
        };
        for shape in &mut self.shapes {
            if is_stale && shape.plan.base.is_some() {
                shape.bound.assemble(&context)?;
            }
        }
        // If that fails, products are those of the shapes.
        if is_stale && self.sparse.take().is_some() {
            self.sparse = Some(self.on_device()?);
        }
        Ok(())
    }

    /// Replaces the run-time parameters of the form and of all facet forms.
    ///
    /// # Errors
    /// Fewer parameters than a form reads, or more than a form may read; then nothing is changed.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), OperatorError> {
        let read = self.inspection().parameters;
        let of_facets = self
            .facets
            .iter()
            .map(|term| term.operator.inspection().parameters);
        for read in of_facets.chain([read]) {
            plan::check_fields("parameters", parameters.len(), read)?;
        }
        let mut facets = self.facets.iter_mut();
        facets.try_for_each(|term| term.operator.set_parameters(parameters))?;
        let is_stale = read > 0 && self.parameters != parameters;
        self.parameters = parameters.to_vec();
        self.assemble(is_stale)
    }

    /// Copies the components of `u`, an L-vector, into the auxiliary fields of the solution's space, starting at the
    /// `first` of these; other fields are not counted. Facet terms that have such fields take them too. With `first` = 0
    /// that is the state of [`Jacobian`](femto_kernel::form::Jacobian).
    ///
    /// # Errors
    /// A vector of the wrong length, or fields that did not exist at construction, here or in a facet term that has some;
    /// then nothing is changed.
    pub fn set_nodal(&mut self, first: usize, u: &D::Buffer<T>) -> Result<(), OperatorError> {
        let (found, dofs) = (u.len(), self.sizes.dofs);
        femto_platform::device::check_len("the nodal fields", found, dofs)?;
        let of_facets = self.facets.iter().map(|term| term.operator.nodal);
        for found in of_facets.filter(|&nodal| nodal > 0).chain([self.nodal]) {
            let components = self.inspection().components;
            if first.saturating_add(components) > found {
                return Err(OperatorError::NodalFields {
                    first,
                    components,
                    found,
                });
            }
        }
        for shape in &mut self.shapes {
            shape.bound.set_nodal(first, u)?;
        }
        let mut facets = self.facets.iter_mut();
        facets.try_for_each(|term| term.set_nodal(first, u))?;
        self.assemble(true)
    }
}
