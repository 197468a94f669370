//! Operators on the null device, which counts their work.

use super::{Backend, Binding, Bound, OperatorError, Plan};
use crate::Number;
use femto_kernel::family::EvalContext;
use femto_kernel::roofline::Work;
use femto_kernel::scalar::Precision;
use femto_platform::device::null::{Launch, Null, NullBuffer};

/// An operator that only counts.
#[derive(Debug)]
pub struct NullBound {
    device: Null,
    work: Work,
    element_work: Work,
}

impl Backend for Null {
    type Bound<T: Number> = NullBound;

    fn bind<T: Number>(&self, binding: &Binding<'_>) -> Result<NullBound, OperatorError> {
        Ok(NullBound::new(self, binding.plan, T::PRECISION))
    }
}

impl NullBound {
    fn new(device: &Null, plan: &Plan, precision: Precision) -> Self {
        Self {
            device: device.clone(),
            work: plan.work(precision),
            element_work: plan.element_work(precision),
        }
    }

    fn record(&self, name: &str, work: Work) {
        self.device.record(Launch {
            name: name.to_owned(),
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            flops: work.flops,
        });
    }
}

impl<T: Number> Bound<T, Null> for NullBound {
    fn apply(
        &self,
        _: &EvalContext,
        _: &NullBuffer<T>,
        _: &mut NullBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.record("apply", self.work);
        Ok(())
    }

    fn apply_elements(
        &self,
        _: &EvalContext,
        _: &NullBuffer<T>,
        _: &mut NullBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.record("apply_elements", self.element_work);
        Ok(())
    }

    fn diagonal(&self, _: &EvalContext, _: &mut NullBuffer<T>) -> Result<(), OperatorError> {
        self.record("diagonal", self.work);
        Ok(())
    }

    fn set_nodal(&mut self, _: usize, _: &NullBuffer<T>) -> Result<(), OperatorError> {
        Ok(())
    }

    fn bytes(&self) -> usize {
        0
    }
}
