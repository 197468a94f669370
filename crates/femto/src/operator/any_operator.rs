//! Operators of any precision on any device.

use super::{AnyForm, Backend, Explanation, Operator, OperatorError, OperatorParams};
use crate::vector::{VectorOps, download_f64, upload_f64};
use crate::{AnyDevice, Number, on_device};
use femto_fem::space::Block;
use femto_kernel::form::Inspection;
use femto_kernel::roofline::{Ceilings, Work};
use femto_kernel::scalar::Precision;

/// An operator with precision and device erased: see [`AnyDevice::operator`].
pub trait AnyOperator: Send + Sync {
    /// The device.
    fn device(&self) -> AnyDevice;

    /// Precision of vectors and arithmetic.
    fn precision(&self) -> Precision;

    /// Length of an L-vector.
    fn dofs(&self) -> usize;

    /// `v = A u` on L-vectors of the host, rounded to the operator's precision for the evaluation.
    ///
    /// # Errors
    /// Vectors of the wrong length, or not enough memory.
    fn apply(&self, u: &[f64], v: &mut [f64]) -> Result<(), OperatorError>;

    /// The exact diagonal of A, as [`AnyOperator::apply`].
    ///
    /// # Errors
    /// As [`Operator::diagonal`].
    fn diagonal(&self, d: &mut [f64]) -> Result<(), OperatorError>;

    /// One application to `u` on vectors that stay on the device; call it as often as needed.
    ///
    /// # Errors
    /// A vector of the wrong length, or not enough memory.
    fn application<'a>(&'a self, u: &[f64]) -> Result<Application<'a>, OperatorError>;

    /// As [`Operator::set_time`].
    ///
    /// # Errors
    /// As there.
    fn set_time(&mut self, time: f64) -> Result<(), OperatorError>;

    /// As [`Operator::set_parameters`].
    ///
    /// # Errors
    /// As there.
    fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), OperatorError>;

    /// As [`Operator::set_nodal`], from an L-vector of the host.
    ///
    /// # Errors
    /// As there.
    fn set_nodal(&mut self, first: usize, u: &[f64]) -> Result<(), OperatorError>;

    /// As [`Operator::inspection`].
    fn inspection(&self) -> &Inspection;

    /// As [`Operator::count_wavefronts`].
    ///
    /// # Errors
    /// From the device.
    fn count_wavefronts(&self) -> Result<(), OperatorError>;

    /// As [`Operator::work`].
    fn work(&self) -> Work;

    /// As [`Operator::bytes`].
    fn bytes(&self) -> usize;

    /// As [`Operator::explain`].
    fn explain(&self, ceilings: Option<&Ceilings>, measured: Option<f64>) -> Explanation;
}

/// One application of an operator.
pub type Application<'a> = Box<dyn FnMut() -> Result<(), OperatorError> + Send + 'a>;

impl AnyDevice {
    /// Binds `form` to this device, on all blocks of a mesh.
    ///
    /// # Errors
    /// As [`Operator::of_blocks`].
    pub fn operator(
        &self,
        precision: Precision,
        blocks: &[Block],
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<Box<dyn AnyOperator>, OperatorError> {
        Ok(match precision {
            Precision::Fp64 => on_device!(self, |device| {
                Box::new(Operator::<f64, _>::of_blocks(device, blocks, form, params)?)
            }),
            Precision::Fp32 => on_device!(self, |device| {
                Box::new(Operator::<f32, _>::of_blocks(device, blocks, form, params)?)
            }),
        })
    }
}

impl<T: Number, D: Backend + VectorOps<T>> AnyOperator for Operator<T, D> {
    fn device(&self) -> AnyDevice {
        self.device.clone().into()
    }

    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn dofs(&self) -> usize {
        self.dofs()
    }

    fn apply(&self, u: &[f64], v: &mut [f64]) -> Result<(), OperatorError> {
        self.check("the output", v.len())?;
        let (u, mut product) = (upload_f64(&self.device, u)?, self.device.zeros(v.len())?);
        self.apply(&u, &mut product)?;
        v.copy_from_slice(&download_f64(&self.device, &product)?);
        Ok(())
    }

    fn diagonal(&self, d: &mut [f64]) -> Result<(), OperatorError> {
        let mut diagonal = self.device.zeros(d.len())?;
        self.diagonal(&mut diagonal)?;
        d.copy_from_slice(&download_f64(&self.device, &diagonal)?);
        Ok(())
    }

    fn application<'a>(&'a self, u: &[f64]) -> Result<Application<'a>, OperatorError> {
        self.check("the input", u.len())?;
        let (u, mut v) = (upload_f64(&self.device, u)?, self.device.zeros(u.len())?);
        Ok(Box::new(move || self.apply(&u, &mut v)))
    }

    fn set_time(&mut self, time: f64) -> Result<(), OperatorError> {
        self.set_time(time)
    }

    fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), OperatorError> {
        self.set_parameters(parameters)
    }

    fn set_nodal(&mut self, first: usize, u: &[f64]) -> Result<(), OperatorError> {
        let u = upload_f64(&self.device, u)?;
        self.set_nodal(first, &u)
    }

    fn inspection(&self) -> &Inspection {
        self.inspection()
    }

    fn count_wavefronts(&self) -> Result<(), OperatorError> {
        self.count_wavefronts()
    }

    fn work(&self) -> Work {
        self.work()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn explain(&self, ceilings: Option<&Ceilings>, measured: Option<f64>) -> Explanation {
        self.explain(ceilings, measured)
    }
}
