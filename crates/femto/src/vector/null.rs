//! Vectors on the null device: every operation is noted with its exact work. Sums are zero.

use super::{Advance, Reduce, Sum, Sums, VectorOps, same_len};
use crate::Number;
use femto_kernel::vector::{self as loops, Cost};
use femto_platform::device::null::{Launch, Null, NullBuffer};
use femto_platform::device::{Buffer, DeviceError};

fn note<T: Number>(null: &Null, cost: Cost, y: &NullBuffer<T>) {
    let work = cost.work::<T>(y.len());
    null.record(Launch {
        name: cost.name.to_owned(),
        bytes_read: work.bytes_read,
        bytes_written: work.bytes_written,
        flops: work.flops,
    });
}

impl<T: Number> VectorOps<T> for Null {
    fn fill(&self, _: f64, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        note(self, loops::FILL, y);
        Ok(())
    }

    fn copy(&self, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of copy", x, y)?;
        note(self, loops::COPY, y);
        Ok(())
    }

    fn axpy(&self, _: f64, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of axpy", x, y)?;
        note(self, loops::AXPY, y);
        Ok(())
    }

    fn xpby(&self, x: &NullBuffer<T>, _: f64, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of xpby", x, y)?;
        note(self, loops::XPBY, y);
        Ok(())
    }

    fn multiply(&self, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of multiply", x, y)?;
        note(self, loops::MULTIPLY, y);
        Ok(())
    }

    fn divide(&self, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of divide", x, y)?;
        note(self, loops::DIVIDE, y);
        Ok(())
    }

    fn dot(&self, x: &NullBuffer<T>, y: &NullBuffer<T>) -> Result<f64, DeviceError> {
        same_len("x of dot", x, y)?;
        note(self, loops::DOT, y);
        Ok(0.0)
    }

    fn norm(&self, x: &NullBuffer<T>) -> Result<f64, DeviceError> {
        note(self, loops::NORM, x);
        Ok(0.0)
    }

    fn dot_into(
        &self,
        x: &NullBuffer<T>,
        y: &NullBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        sums.check(Sum::Before(slot))?;
        self.dot(x, y).map(|_| ())
    }

    fn precondition_dot(
        &self,
        d: &NullBuffer<T>,
        r: &NullBuffer<T>,
        z: &mut NullBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len("d of precondition_dot", d, z)?;
        same_len("r of precondition_dot", r, z)?;
        sums.check(Sum::Before(slot))?;
        note(self, loops::PRECONDITION_DOT, z);
        Ok(())
    }

    fn advance(
        &self,
        step: Advance<'_, NullBuffer<T>>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let cost = match step.d {
            None => loops::ADVANCE,
            Some(_) => loops::ADVANCE_SCALED,
        };
        note(self, cost, step.x);
        Ok(())
    }

    fn reduce(
        &self,
        step: Reduce<'_, NullBuffer<T>>,
        sums: &mut Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let cost = match step.scaled {
            None => loops::REDUCE,
            Some(_) => loops::REDUCE_SCALED,
        };
        note(self, cost, step.r);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::Device;

    #[test]
    fn operations_are_noted_with_their_work() {
        let null = Null::new();
        let x = null.zeros::<f64>(10).unwrap();
        let mut y = null.zeros::<f64>(10).unwrap();
        null.axpy(2.0, &x, &mut y).unwrap();
        assert_eq!(null.dot(&x, &y).unwrap(), 0.0);
        let wanted = [("axpy", 160, 80, 20), ("dot", 160, 0, 20)];
        let launches = null.launches();
        assert_eq!(launches.len(), wanted.len());
        for (launch, (name, read, written, flops)) in launches.iter().zip(wanted) {
            assert_eq!(launch.name, name);
            assert_eq!((launch.bytes_read, launch.bytes_written), (read, written));
            assert_eq!(launch.flops, flops);
        }
    }

    #[test]
    fn wrong_lengths_are_errors_and_not_noted() {
        let null = Null::new();
        let x = null.zeros::<f32>(4).unwrap();
        let mut y = null.zeros::<f32>(5).unwrap();
        assert!(null.axpy(2.0, &x, &mut y).is_err());
        assert!(null.launches().is_empty());
    }
}
