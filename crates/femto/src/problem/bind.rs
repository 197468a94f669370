//! Binding a problem's form and its derivative, whatever the dimension.

use super::GraphForm;
use crate::operator::{Backend, OperatorError};
use crate::{Number, Operator, OperatorParams};
use femto_fem::geometry::Geometry;
use femto_fem::space::Space;
use femto_kernel::form::{Form, Jacobian, trace};

/// A space with its geometry on a device.
#[derive(Debug)]
pub struct BindTarget<'a, B> {
    pub(super) device: &'a B,
    pub(super) space: &'a Space,
    pub(super) geometry: &'a Geometry,
}

/// A form that problems take: any [`Form`] in two or three dimensions that can be cloned.
pub trait ProblemForm<const D: usize, const C: usize>: Form<D, C> + Clone + 'static {
    /// Binds the form.
    ///
    /// # Errors
    /// As [`Operator::new`].
    #[doc(hidden)]
    fn bind<T: Number, B: Backend>(
        &self,
        target: &BindTarget<'_, B>,
        params: OperatorParams,
    ) -> Result<Operator<T, B>, OperatorError>;

    /// Binds the form's derivative; the state is the first `C` auxiliary fields.
    ///
    /// # Errors
    /// As [`Operator::new`].
    #[doc(hidden)]
    fn bind_jacobian<T: Number, B: Backend>(
        &self,
        target: &BindTarget<'_, B>,
        params: OperatorParams,
    ) -> Result<Operator<T, B>, OperatorError>;

    /// The same, with the derivative as a graph.
    ///
    /// # Errors
    /// As [`Operator::new`].
    #[doc(hidden)]
    fn bind_traced_jacobian<T: Number, B: Backend>(
        &self,
        target: &BindTarget<'_, B>,
        params: OperatorParams,
    ) -> Result<Operator<T, B>, OperatorError>;
}

macro_rules! problem_form {
    ($dim:literal, $new:ident) => {
        impl<F, const C: usize> ProblemForm<$dim, C> for F
        where
            F: Form<$dim, C> + Clone + 'static,
        {
            fn bind<T: Number, B: Backend>(
                &self,
                &BindTarget {
                    device,
                    space,
                    geometry,
                }: &BindTarget<'_, B>,
                params: OperatorParams,
            ) -> Result<Operator<T, B>, OperatorError> {
                Operator::$new(device, space, geometry, self, params)
            }

            fn bind_jacobian<T: Number, B: Backend>(
                &self,
                &BindTarget {
                    device,
                    space,
                    geometry,
                }: &BindTarget<'_, B>,
                params: OperatorParams,
            ) -> Result<Operator<T, B>, OperatorError> {
                let jacobian = Jacobian(self.clone());
                Operator::$new(device, space, geometry, &jacobian, params)
            }

            fn bind_traced_jacobian<T: Number, B: Backend>(
                &self,
                &BindTarget {
                    device,
                    space,
                    geometry,
                }: &BindTarget<'_, B>,
                params: OperatorParams,
            ) -> Result<Operator<T, B>, OperatorError> {
                let traced = trace::<_, $dim, C>(&Jacobian(self.clone()));
                let dimension = OperatorError::Dimension {
                    form: traced.dim,
                    cells: space.cell().plural(),
                };
                let jacobian = GraphForm::<$dim, C>::new(&traced).ok_or(dimension)?;
                Operator::$new(device, space, geometry, &jacobian, params)
            }
        }
    };
}
problem_form!(3, new);
problem_form!(2, planar);
