//! Traits for devices that evaluate operators, and for their operators.

use super::{Binding, OperatorError};
use crate::{AnyDevice, Number};
use femto_kernel::family::EvalContext;
use femto_kernel::roofline::Work;
use femto_platform::device::Device;
use std::fmt::Debug;

/// A device that operators can be bound to.
pub trait Backend: Device + Clone + Into<AnyDevice> {
    /// An operator on this device.
    type Bound<T: Number>: Bound<T, Self>;

    /// Prepares everything that does not change between applications.
    ///
    /// # Errors
    /// Not enough memory, or a degenerate element.
    #[doc(hidden)]
    fn bind<T: Number>(&self, binding: &Binding<'_>) -> Result<Self::Bound<T>, OperatorError>;
}

/// An operator bound to a device; callers have checked lengths.
#[doc(hidden)]
pub trait Bound<T: Number, D: Device>: Debug + Send + Sync {
    /// `v = A u` on L-vectors.
    fn apply(
        &self,
        context: &EvalContext,
        u: &D::Buffer<T>,
        v: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError>;

    /// `v = Bᵀ D B u` on E-vectors.
    fn apply_elements(
        &self,
        context: &EvalContext,
        u: &D::Buffer<T>,
        v: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError>;

    /// The diagonal of A, an L-vector.
    fn diagonal(&self, context: &EvalContext, d: &mut D::Buffer<T>) -> Result<(), OperatorError>;

    /// Copies the components of L-vector `u` into the auxiliary fields of the solution's space, starting at
    /// field `first`.
    fn set_nodal(&mut self, first: usize, u: &D::Buffer<T>) -> Result<(), OperatorError>;

    /// Assembles element matrices, if the operator has any, for this context and the auxiliary fields of now.
    fn assemble(&mut self, context: &EvalContext) -> Result<(), OperatorError> {
        let _ = context;
        Ok(())
    }

    /// Bytes of device memory held, apart from vectors.
    fn bytes(&self) -> usize;

    /// Warnings, such as a wrong kernel that was dropped.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The kernel's schedule for each kind of map, where there is a choice.
    fn schedules(&self) -> Vec<String> {
        Vec::new()
    }

    /// Counts the wavefronts of [`Bound::apply`] on vectors of `dofs` entries, for [`Bound::work`], where the device
    /// can.
    fn count_wavefronts(&self, context: &EvalContext, dofs: usize) -> Result<(), OperatorError> {
        let _ = (context, dofs);
        Ok(())
    }

    /// The same of [`Bound::apply_elements`].
    fn count_element_wavefronts(
        &self,
        context: &EvalContext,
        element_dofs: usize,
    ) -> Result<(), OperatorError> {
        let _ = (context, element_dofs);
        Ok(())
    }

    /// Work of [`Bound::apply`] on vectors of `dofs` entries; `planned` is the host's.
    fn work(&self, dofs: usize, planned: Work) -> Work {
        let _ = dofs;
        planned
    }

    /// Work of [`Bound::apply_elements`].
    fn element_work(&self, element_dofs: usize, planned: Work) -> Work {
        let _ = element_dofs;
        planned
    }
}
