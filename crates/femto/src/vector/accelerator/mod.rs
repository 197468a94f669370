//! Vectors on devices that compile kernels.
//!
//! The kernels of a precision are compiled when a device first needs one of them, and kept with the
//! device, together with the memory for sums.

mod loops;

use super::{Directions, Iterate, Ratio, Sum, Sums, VectorOps, same_len, same_len_of_update};
use crate::Number;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use loops::{Loop, number, ratio};

impl<T: Number> VectorOps<T> for Accelerator {
    fn fill(&self, alpha: f64, y: &mut AcceleratorBuffer<T>) -> Result<(), DeviceError> {
        let work = Loop::over(self, y)?;
        let arguments = [work.len(), Argument::F64(alpha), Argument::output(y)];
        work.run(&work.loops.fill, &arguments)
    }

    fn copy(
        &self,
        x: &AcceleratorBuffer<T>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of copy", x, y)?;
        Accelerator::copy(self, x, y)
    }

    fn axpy(
        &self,
        alpha: f64,
        x: &AcceleratorBuffer<T>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of axpy", x, y)?;
        let work = Loop::over(self, y)?;
        let (alpha, x) = (Argument::F64(alpha), Argument::input(x));
        work.run(
            &work.loops.axpy,
            &[work.len(), alpha, x, Argument::output(y)],
        )
    }

    fn xpby(
        &self,
        x: &AcceleratorBuffer<T>,
        beta: f64,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of xpby", x, y)?;
        let work = Loop::over(self, y)?;
        let memory = work.loops.memory();
        work.direct(number(beta, &memory.sums), x, y)
    }

    fn multiply(
        &self,
        x: &AcceleratorBuffer<T>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of multiply", x, y)?;
        let work = Loop::over(self, y)?;
        let arguments = [work.len(), Argument::input(x), Argument::output(y)];
        work.run(&work.loops.multiply, &arguments)
    }

    fn divide(
        &self,
        x: &AcceleratorBuffer<T>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of divide", x, y)?;
        let work = Loop::over(self, y)?;
        let arguments = [work.len(), Argument::input(x), Argument::output(y)];
        work.run(&work.loops.divide, &arguments)
    }

    fn dot(&self, x: &AcceleratorBuffer<T>, y: &AcceleratorBuffer<T>) -> Result<f64, DeviceError> {
        same_len("x of dot", x, y)?;
        let work = Loop::over(self, y)?;
        let mut memory = work.loops.memory();
        work.dot(x, y, &mut memory.partial)?;
        work.wait(&mut memory)
    }

    fn norm(&self, x: &AcceleratorBuffer<T>) -> Result<f64, DeviceError> {
        let work = Loop::over(self, x)?;
        let mut memory = work.loops.memory();
        let partial = Argument::output(&mut memory.partial);
        work.run(
            &work.loops.square,
            &[work.len(), Argument::input(x), partial],
        )?;
        Ok(work.wait(&mut memory)?.sqrt())
    }

    fn dot_into(
        &self,
        x: &AcceleratorBuffer<T>,
        y: &AcceleratorBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len("x of dot", x, y)?;
        sums.check(Sum::Before(slot))?;
        let work = Loop::over(self, y)?;
        let mut memory = work.loops.memory();
        work.dot(x, y, &mut memory.partial)?;
        work.finish(&memory.partial, sums.values_mut(), slot)
    }

    fn precondition_dot(
        &self,
        d: &AcceleratorBuffer<T>,
        r: &AcceleratorBuffer<T>,
        z: &mut AcceleratorBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len("d of precondition_dot", d, z)?;
        same_len("r of precondition_dot", r, z)?;
        sums.check(Sum::Before(slot))?;
        let work = Loop::over(self, z)?;
        let mut memory = work.loops.memory();
        let arguments = [
            work.len(),
            Argument::input(d),
            Argument::input(r),
            Argument::output(z),
            Argument::output(&mut memory.partial),
        ];
        work.run(&work.loops.precondition_dot, &arguments)?;
        work.finish(&memory.partial, sums.values_mut(), slot)
    }

    fn direct(
        &self,
        beta: Ratio,
        x: &AcceleratorBuffer<T>,
        y: &mut AcceleratorBuffer<T>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        same_len("x of direct", x, y)?;
        sums.check_ratio(beta)?;
        Loop::over(self, y)?.direct(ratio(beta, sums.values()), x, y)
    }

    fn update(
        &self,
        alpha: Ratio,
        directions: Directions<'_, AcceleratorBuffer<T>>,
        iterate: Iterate<'_, AcceleratorBuffer<T>>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len_of_update(&directions, &iterate)?;
        sums.check_ratio(alpha)?;
        sums.check(Sum::Before(slot))?;
        let work = Loop::over(self, iterate.r)?;
        let mut memory = work.loops.memory();
        let [value, from, above, below] = ratio(alpha, sums.values());
        let arguments = [
            work.len(),
            value,
            from,
            above,
            below,
            Argument::input(directions.p),
            Argument::input(directions.ap),
            Argument::output(iterate.x),
            Argument::output(iterate.r),
            Argument::output(&mut memory.partial),
        ];
        work.run(&work.loops.update, &arguments)?;
        work.finish(&memory.partial, sums.values_mut(), slot)
    }
}
