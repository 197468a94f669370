//! Operators on the null device: nothing is computed, everything is counted.

use super::{Backend, Binding, Bound, OperatorError};
use crate::Number;
use femto_kernel::family::tensor_hex::Conditions;
use femto_kernel::form::Form;
use femto_kernel::roofline::Work;
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

    fn bind<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F, C>,
    ) -> Result<NullBound, OperatorError>
    where
        T: Number,
        F: Form<3, C> + Clone + 'static,
    {
        Ok(NullBound {
            device: self.clone(),
            work: binding.plan.work(T::BYTES),
            element_work: binding.plan.element_work(T::BYTES),
        })
    }
}

impl NullBound {
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
        _: &Conditions,
        _: &NullBuffer<T>,
        _: &mut NullBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.record("apply", self.work);
        Ok(())
    }

    fn apply_elements(
        &self,
        _: &Conditions,
        _: &NullBuffer<T>,
        _: &mut NullBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.record("apply_elements", self.element_work);
        Ok(())
    }

    fn diagonal(&self, _: &Conditions, _: &mut NullBuffer<T>) -> Result<(), OperatorError> {
        self.record("diagonal", self.work);
        Ok(())
    }

    fn bytes(&self) -> usize {
        0
    }
}
