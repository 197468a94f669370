//! Vectors on the null device: operations are counted with their exact work; sums are zero.

use super::{
    ChebyshevInput, ChebyshevStep, ElementInterpolation, ElementInverse, Entries, LineSolve,
    SlantedNodes, SparseMatrix, Sum, Sums, UpdateDirection, UpdateResidual, VectorOps, same_len,
};
use crate::Number;
use femto_kernel::roofline::Work;
use femto_kernel::vector::{self as loops, Cost};
use femto_platform::device::null::{Launch, Null, NullBuffer};
use femto_platform::device::{Buffer, DeviceError};

fn count<T: Number>(null: &Null, cost: Cost, y: &NullBuffer<T>) {
    record(null, cost.name, cost.work::<T>(y.len()));
}

fn count_listed<T: Number>(null: &Null, cost: Cost, entries: &Entries<Null>) {
    if !entries.is_empty() {
        record(null, cost.name, cost.listed_work::<T>(entries.len()));
    }
}

fn record(null: &Null, name: &str, work: Work) {
    null.record(Launch {
        name: name.to_owned(),
        bytes_read: work.bytes_read,
        bytes_written: work.bytes_written,
        flops: work.flops,
    });
}

impl<T: Number> VectorOps<T> for Null {
    fn fill(&self, _: f64, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        count(self, loops::FILL, y);
        Ok(())
    }

    fn set_entries(
        &self,
        entries: &Entries<Self>,
        _: f64,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check("y of set_entries", y.len())?;
        count_listed::<T>(self, loops::SET_ENTRIES, entries);
        Ok(())
    }

    fn project(
        &self,
        nodes: &SlantedNodes<T, Self>,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        nodes.entries.check("y of project", y.len())?;
        if nodes.len() > 0 {
            let work = loops::projection_work::<T>(nodes.components as u64, nodes.len());
            record(self, "project", work);
        }
        Ok(())
    }

    fn gather(
        &self,
        x: &NullBuffer<T>,
        entries: &Entries<Self>,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check_both(("x of gather", x.len()), ("y of gather", y.len()))?;
        count_listed::<T>(self, loops::GATHER, entries);
        Ok(())
    }

    fn add_to_entries(
        &self,
        x: &NullBuffer<T>,
        entries: &Entries<Self>,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        let (whole, listed) = ("y of add_to_entries", "x of add_to_entries");
        entries.check_both((whole, y.len()), (listed, x.len()))?;
        count_listed::<T>(self, loops::ADD_TO_ENTRIES, entries);
        Ok(())
    }

    fn copy(&self, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of copy", x, y)?;
        count(self, loops::COPY, y);
        Ok(())
    }

    fn axpy(&self, _: f64, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of axpy", x, y)?;
        count(self, loops::AXPY, y);
        Ok(())
    }

    fn xpby(&self, x: &NullBuffer<T>, _: f64, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of xpby", x, y)?;
        count(self, loops::XPBY, y);
        Ok(())
    }

    fn multiply(&self, x: &NullBuffer<T>, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of multiply", x, y)?;
        count(self, loops::MULTIPLY, y);
        Ok(())
    }

    fn randomise(&self, _: u32, y: &mut NullBuffer<T>) -> Result<(), DeviceError> {
        count(self, loops::FILL, y);
        Ok(())
    }

    fn convert<S: Number>(
        &self,
        x: &NullBuffer<S>,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of convert", x, y)?;
        record(self, "convert", loops::conversion_work::<S, T>(y.len()));
        Ok(())
    }

    fn invert(&self, y: &mut NullBuffer<T>) -> Result<f64, DeviceError> {
        count(self, loops::INVERT, y);
        Ok(0.0)
    }

    fn dot(&self, x: &NullBuffer<T>, y: &NullBuffer<T>) -> Result<f64, DeviceError> {
        same_len("x of dot", x, y)?;
        count(self, loops::DOT, y);
        Ok(0.0)
    }

    fn norm(&self, x: &NullBuffer<T>) -> Result<f64, DeviceError> {
        count(self, loops::NORM, x);
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
        count(self, loops::PRECONDITION_DOT, z);
        Ok(())
    }

    fn update_direction(
        &self,
        step: UpdateDirection<'_, NullBuffer<T>>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let cost = match step.d {
            None => loops::UPDATE_DIRECTION,
            Some(_) => loops::UPDATE_DIRECTION_SCALED,
        };
        count(self, cost, step.x);
        Ok(())
    }

    fn update_residual(
        &self,
        step: UpdateResidual<'_, NullBuffer<T>>,
        sums: &mut Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let cost = match step.scaled {
            None => loops::UPDATE_RESIDUAL,
            Some(_) => loops::UPDATE_RESIDUAL_SCALED,
        };
        count(self, cost, step.r);
        Ok(())
    }

    fn chebyshev_step(&self, step: ChebyshevStep<'_, NullBuffer<T>>) -> Result<(), DeviceError> {
        step.check()?;
        let cost = match step.input {
            ChebyshevInput::Start(_) => loops::CHEBYSHEV_START,
            ChebyshevInput::Restart(..) => loops::CHEBYSHEV_RESTART,
            ChebyshevInput::Step(_) => loops::CHEBYSHEV_STEP,
        };
        count(self, cost, step.x);
        Ok(())
    }

    fn multiply_sparse(
        &self,
        matrix: &SparseMatrix<T, Self>,
        x: &NullBuffer<T>,
        add: bool,
        y: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        matrix.check(x, y)?;
        record(self, "multiply_sparse", matrix.work(add));
        Ok(())
    }

    fn interpolate(
        &self,
        with: &ElementInterpolation<T, Self>,
        x: &NullBuffer<T>,
        e: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        record(self, "interpolate", with.work());
        Ok(())
    }

    fn invert_elements(
        &self,
        with: &ElementInverse<T, Self>,
        x: &NullBuffer<T>,
        e: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        record(self, "invert_elements", with.work());
        Ok(())
    }

    fn solve_lines(
        &self,
        with: &LineSolve<T, Self>,
        x: &NullBuffer<T>,
        e: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        record(self, "solve_lines", with.work());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::Device;

    #[test]
    fn operations_are_counted_with_their_work() {
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
    fn wrong_lengths_are_errors_and_not_counted() {
        let null = Null::new();
        let x = null.zeros::<f32>(4).unwrap();
        let mut y = null.zeros::<f32>(5).unwrap();
        assert!(null.axpy(2.0, &x, &mut y).is_err());
        assert!(null.launches().is_empty());
    }
}
