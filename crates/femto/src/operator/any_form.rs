//! Forms of any type, dimension and number of components.

use femto_element::tables::Tables;
use femto_kernel::family::batch::ElementKernel;
use femto_kernel::family::oracle::{self, CellFields, OracleGeometry};
use femto_kernel::family::{Block, EvalContext};
use femto_kernel::form::{Form, TracedForm, trace};
use femto_kernel::scalar::{SimdLevel, Vectorizable};

/// A form with its type erased, as operators take it; wrap forms in [`Typed`].
pub trait AnyForm: Send + Sync {
    /// Its expression graph.
    fn trace(&self) -> TracedForm;

    /// The host's loops for a block, in double precision.
    fn host_kernel_fp64(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f64>>;

    /// The host's loops for a block, in single precision.
    fn host_kernel_fp32(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f32>>;

    /// v = A u of one element by the oracle: `u` and v are `[component][node]`.
    fn oracle(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64>;
}

/// A number type in which forms have host loops, one of [`AnyForm`]'s two.
#[doc(hidden)]
pub trait FormNumber: Vectorizable {
    /// The form's host loops over a block.
    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>>;
}

impl FormNumber for f64 {
    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>> {
        form.host_kernel_fp64(block, level)
    }
}

impl FormNumber for f32 {
    fn host_kernel(
        form: &dyn AnyForm,
        block: &Block,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<Self>> {
        form.host_kernel_fp32(block, level)
    }
}

/// A form in `D` dimensions with `C` components.
#[derive(Clone, Debug)]
pub struct Typed<F, const D: usize, const C: usize>(pub F);

impl<F, const D: usize, const C: usize> AnyForm for Typed<F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    fn trace(&self) -> TracedForm {
        trace::<F, D, C>(&self.0)
    }

    fn host_kernel_fp64(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f64>> {
        block.kernel::<f64, F, D, C>(&self.0, level)
    }

    fn host_kernel_fp32(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f32>> {
        block.kernel::<f32, F, D, C>(&self.0, level)
    }

    fn oracle(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64> {
        oracle::apply::<F, D, C>(&self.0, &**tables, geometry, environment, u)
    }
}
