//! Vectors on devices that compile kernels.
//!
//! The kernels of a precision are compiled when a device first needs one of them, and kept with the
//! device, together with the memory for sums.

mod elements;
mod loops;

use super::{
    ChebyshevFactors, ChebyshevInput, ChebyshevStep, ElementInterpolation, ElementInverse, Entries,
    LineSolve, RandomVectors, SlantedNodes, SparseMatrix, Sum, Sums, UpdateDirection,
    UpdateResidual, VectorOps, same_len,
};
use crate::Number;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument, Kernel};
use femto_platform::device::{Buffer, DeviceError};
use loops::{Loop, Loops, ratio};

/// Runs a kernel from x to y over listed entries.
fn run_listed<T: Number>(
    device: &Accelerator,
    kernel: impl Fn(&Loops<T>) -> &Kernel,
    x: &AcceleratorBuffer<T>,
    entries: &Entries<Accelerator>,
    y: &mut AcceleratorBuffer<T>,
) -> Result<(), DeviceError> {
    if entries.is_empty() {
        return Ok(());
    }
    let work = Loop::<T>::of(device, entries.len())?;
    let (x, list) = (Argument::input(x), Argument::input(&entries.list));
    work.run_listed(
        kernel(&work.loops),
        &[work.len(), x, list, Argument::output(y)],
    )
}

impl<T: Number> VectorOps<T> for Accelerator {
    fn fill(&self, alpha: f64, y: &mut AcceleratorBuffer<T>) -> Result<(), DeviceError> {
        let work = Loop::over(self, y)?;
        let arguments = [work.len(), Argument::F64(alpha), Argument::output(y)];
        work.run(&work.loops.fill, &arguments)
    }

    fn set_entries(
        &self,
        entries: &Entries<Self>,
        alpha: f64,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check("y of set_entries", y.len())?;
        if entries.is_empty() {
            return Ok(());
        }
        let work = Loop::<T>::of(self, entries.len())?;
        let arguments = [
            work.len(),
            Argument::F64(alpha),
            Argument::input(&entries.list),
            Argument::output(y),
        ];
        work.run_listed(&work.loops.set_entries, &arguments)
    }

    fn project(
        &self,
        nodes: &SlantedNodes<T, Self>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        nodes.entries.check("y of project", y.len())?;
        if nodes.len() == 0 {
            return Ok(());
        }
        let work = Loop::<T>::of(self, nodes.len())?;
        let arguments = [
            work.len(),
            Argument::U32(nodes.components as u32),
            Argument::input(&nodes.nodes),
            Argument::input(&nodes.projectors),
            Argument::output(y),
        ];
        work.run_listed(&work.loops.project, &arguments)
    }

    fn gather(
        &self,
        x: &AcceleratorBuffer<T>,
        entries: &Entries<Self>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check_both(("x of gather", x.len()), ("y of gather", y.len()))?;
        run_listed(self, |loops| &loops.gather, x, entries, y)
    }

    fn add_to_entries(
        &self,
        x: &AcceleratorBuffer<T>,
        entries: &Entries<Self>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        let (whole, listed) = ("y of add_to_entries", "x of add_to_entries");
        entries.check_both((whole, y.len()), (listed, x.len()))?;
        run_listed(self, |loops| &loops.add_to_entries, x, entries, y)
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
        let (x, beta) = (Argument::input(x), Argument::F64(beta));
        work.run(
            &work.loops.xpby,
            &[work.len(), x, beta, Argument::output(y)],
        )
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

    fn randomise(&self, seed: u32, y: &mut AcceleratorBuffer<T>) -> Result<(), DeviceError> {
        RandomVectors::new(self)?.write(seed, y)
    }

    fn convert<S: Number>(
        &self,
        x: &AcceleratorBuffer<S>,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of convert", x, y)?;
        let work = Loop::over(self, y)?;
        let arguments = [work.len(), Argument::input(x), Argument::output(y)];
        let kernel = match S::PRECISION {
            Precision::Fp64 => &work.loops.convert,
            Precision::Fp32 => &work.loops.convert_single,
        };
        work.run(kernel, &arguments)
    }

    fn invert(&self, y: &mut AcceleratorBuffer<T>) -> Result<f64, DeviceError> {
        let work = Loop::over(self, y)?;
        let mut memory = work.loops.memory();
        let partial = Argument::output(&mut memory.partial);
        let arguments = [work.len(), Argument::output(y), partial];
        work.sum(&work.loops.invert, &arguments)?;
        work.wait(&mut memory)
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
        let arguments = [work.len(), Argument::input(x), partial];
        work.sum(&work.loops.square, &arguments)?;
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
        work.finish(&memory.partial, sums.values_mut(), (slot, None))
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
        work.sum(&work.loops.precondition_dot, &arguments)?;
        work.finish(&memory.partial, sums.values_mut(), (slot, None))
    }

    fn update_direction(
        &self,
        step: UpdateDirection<'_, AcceleratorBuffer<T>>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let work = Loop::over(self, step.x)?;
        let [a_above, a_below] = ratio(step.alpha);
        let [b_above, b_below] = ratio(step.beta);
        let arguments = [
            work.len(),
            Argument::input(sums.values()),
            a_above,
            a_below,
            b_above,
            b_below,
            Argument::I32(step.d.is_some().into()),
            Argument::input(step.d.unwrap_or(step.z)),
            Argument::input(step.z),
            Argument::output(step.p),
            Argument::output(step.x),
        ];
        work.run(&work.loops.update_direction, &arguments)
    }

    fn update_residual(
        &self,
        step: UpdateResidual<'_, AcceleratorBuffer<T>>,
        sums: &mut Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let work = Loop::over(self, step.r)?;
        let mut memory = work.loops.memory();
        let [above, below] = ratio(step.alpha);
        let arguments = [
            work.len(),
            Argument::input(sums.values()),
            above,
            below,
            Argument::I32(step.scaled.is_some().into()),
            Argument::input(step.scaled.map_or(step.ap, |(d, _)| d)),
            Argument::input(step.ap),
            Argument::output(step.r),
            Argument::output(&mut memory.partial),
        ];
        work.sum(&work.loops.update_residual, &arguments)?;
        let product = step.scaled.map(|(_, slot)| slot);
        work.finish(&memory.partial, sums.values_mut(), (step.square, product))
    }

    fn chebyshev_step(
        &self,
        step: ChebyshevStep<'_, AcceleratorBuffer<T>>,
    ) -> Result<(), DeviceError> {
        step.check()?;
        let work = Loop::over(self, step.x)?;
        let (is_first, b, product) = match step.input {
            ChebyshevInput::Start(b) => (1, b, None),
            ChebyshevInput::Restart(b, ax) => (1, b, Some(ax)),
            ChebyshevInput::Step(ad) => (0, ad, Some(ad)),
        };
        let ChebyshevFactors {
            momentum,
            gain,
            weight,
        } = step.factors;
        let arguments = [
            work.len(),
            Argument::I32(is_first),
            Argument::I32(product.is_some().into()),
            Argument::F64(momentum),
            Argument::F64(gain),
            Argument::F64(weight),
            Argument::input(step.inverse),
            Argument::input(b),
            Argument::input(product.unwrap_or(b)),
            Argument::output(step.r),
            Argument::output(step.d),
            Argument::output(step.x),
        ];
        work.run(&work.loops.chebyshev_step, &arguments)
    }

    fn multiply_sparse(
        &self,
        matrix: &SparseMatrix<T, Self>,
        x: &AcceleratorBuffer<T>,
        add: bool,
        y: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        matrix.check(x, y)?;
        let work = Loop::<T>::of(self, matrix.rows)?;
        let offsets = Argument::input(&matrix.offsets);
        let places = Argument::input(&matrix.places);
        let in_order = Argument::I32(matrix.order.is_none().into());
        // Neither order nor values are read if there are none.
        let order = matrix.order.as_ref().map_or(offsets, Argument::input);
        let values = matrix.values.as_ref();
        let has_values = Argument::I32(values.is_some().into());
        let values = values.map_or(places, Argument::input);
        let (x, y) = (Argument::input(x), Argument::output(y));
        let (rows, add) = (work.len(), Argument::I32(add.into()));
        let strides = matrix.strides;
        let [_, width] = matrix.block;
        if width > 1 {
            let width = Argument::U32(width as u32);
            let arguments = [
                rows, add, width, in_order, order, offsets, places, values, x, y,
            ];
            return work.run_listed(&work.loops.multiply_sparse_blocks, &arguments);
        }
        if strides.components == 1 {
            let arguments = [
                rows, add, has_values, in_order, order, offsets, places, values, x, y,
            ];
            return work.run_listed(&work.loops.multiply_sparse, &arguments);
        }
        let strides = [strides.components, strides.node, strides.component];
        let [components, node, component] = strides.map(|it| Argument::U32(it as u32));
        let arguments = [
            rows, add, components, node, component, in_order, order, offsets, places, values, x, y,
        ];
        work.run_listed(&work.loops.multiply_sparse_components, &arguments)
    }

    fn interpolate(
        &self,
        with: &ElementInterpolation<T, Self>,
        x: &AcceleratorBuffer<T>,
        e: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::interpolate(self, with, x, e)
    }

    fn invert_elements(
        &self,
        with: &ElementInverse<T, Self>,
        x: &AcceleratorBuffer<T>,
        e: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::invert_elements(self, with, x, e)
    }

    fn solve_lines(
        &self,
        with: &LineSolve<T, Self>,
        x: &AcceleratorBuffer<T>,
        e: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::solve_lines(self, with, x, e)
    }
}
