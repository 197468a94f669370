//! Traits for devices that evaluate operators, and for their operators.

use super::{Binding, OperatorError};
use crate::vector::download;
use crate::{AnyDevice, Number};
use femto_fem::parallel;
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

/// The E-vectors that are one at the same number of each element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct UnitVectors {
    /// How many: the first numbers of an element.
    pub columns: usize,
    /// Numbers of an element.
    pub numbers: usize,
    /// Number of elements.
    pub elements: usize,
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

    /// The products with unit E-vectors, each an E-vector.
    fn unit_products(
        &self,
        device: &D,
        context: &EvalContext,
        units: UnitVectors,
    ) -> Result<Vec<Vec<T>>, OperatorError> {
        let mut unit_on_host = vec![T::default(); units.elements * units.numbers];
        let len = unit_on_host.len();
        let [mut unit, mut product] = [device.zeros(len)?, device.zeros(len)?];
        let column = |column: usize| {
            parallel::chunks(&mut unit_on_host, units.numbers, |_, element| {
                element[column.saturating_sub(1)] = T::default();
                element[column] = T::from_f64(1.0);
            });
            device.write(&unit_on_host, &mut unit)?;
            self.apply_elements(context, &unit, &mut product)?;
            Ok(download(device, &product)?)
        };
        (0..units.columns).map(column).collect()
    }

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

    /// Whether matrices are assembled at once, without products with unit inputs.
    fn assembles_at_once(&self) -> bool {
        false
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
