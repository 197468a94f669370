//! Vectors on the host.

use super::cut::{each, sum};
use super::{Directions, Iterate, Ratio, Sum, Sums, VectorOps, same_len, same_len_of_update};
use crate::Number;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector as loops;
use femto_platform::device::DeviceError;
use femto_platform::device::host::{Host, HostBuffer};

impl<T: Number> VectorOps<T> for Host {
    fn fill(&self, alpha: f64, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        let alpha = T::from_f64(alpha);
        each(self, &mut **y, &|y: &mut [T]| y.fill(alpha));
        Ok(())
    }

    fn copy(&self, x: &HostBuffer<T>, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of copy", x, y)?;
        each(self, (&**x, &mut **y), &|(x, y): (&[T], &mut [T])| {
            y.copy_from_slice(x);
        });
        Ok(())
    }

    fn axpy(
        &self,
        alpha: f64,
        x: &HostBuffer<T>,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of axpy", x, y)?;
        let (level, alpha) = (SimdLevel::detect(), T::from_f64(alpha));
        each(self, (&**x, &mut **y), &|(x, y): (&[T], &mut [T])| {
            loops::axpy(level, alpha, x, y);
        });
        Ok(())
    }

    fn xpby(&self, x: &HostBuffer<T>, beta: f64, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of xpby", x, y)?;
        let (level, beta) = (SimdLevel::detect(), T::from_f64(beta));
        each(self, (&**x, &mut **y), &|(x, y): (&[T], &mut [T])| {
            loops::xpby(level, x, beta, y);
        });
        Ok(())
    }

    fn multiply(&self, x: &HostBuffer<T>, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of multiply", x, y)?;
        let level = SimdLevel::detect();
        each(self, (&**x, &mut **y), &|(x, y): (&[T], &mut [T])| {
            loops::multiply(level, x, y);
        });
        Ok(())
    }

    fn divide(&self, x: &HostBuffer<T>, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        same_len("x of divide", x, y)?;
        let level = SimdLevel::detect();
        each(self, (&**x, &mut **y), &|(x, y): (&[T], &mut [T])| {
            loops::divide(level, x, y);
        });
        Ok(())
    }

    fn dot(&self, x: &HostBuffer<T>, y: &HostBuffer<T>) -> Result<f64, DeviceError> {
        same_len("x of dot", x, y)?;
        let level = SimdLevel::detect();
        Ok(sum(self, (&**x, &**y), &|(x, y): (&[T], &[T])| {
            loops::dot(level, x, y)
        }))
    }

    fn norm(&self, x: &HostBuffer<T>) -> Result<f64, DeviceError> {
        let level = SimdLevel::detect();
        let square = sum(self, &**x, &|x: &[T]| loops::dot(level, x, x));
        Ok(square.sqrt())
    }

    fn dot_into(
        &self,
        x: &HostBuffer<T>,
        y: &HostBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        sums.check(Sum::Before(slot))?;
        let sum = self.dot(x, y)?;
        put(sums, slot, sum);
        Ok(())
    }

    fn precondition_dot(
        &self,
        d: &HostBuffer<T>,
        r: &HostBuffer<T>,
        z: &mut HostBuffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len("d of precondition_dot", d, z)?;
        same_len("r of precondition_dot", r, z)?;
        sums.check(Sum::Before(slot))?;
        let level = SimdLevel::detect();
        let slices = ((&**d, &**r), &mut **z);
        let product = sum(self, slices, &|((d, r), z): ((&[T], &[T]), &mut [T])| {
            loops::precondition_dot(level, d, r, z)
        });
        put(sums, slot, product);
        Ok(())
    }

    fn direct(
        &self,
        beta: Ratio,
        x: &HostBuffer<T>,
        y: &mut HostBuffer<T>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        same_len("x of direct", x, y)?;
        sums.check_ratio(beta)?;
        match ratio(sums, beta) {
            0.0 => self.copy(x, y),
            beta => self.xpby(x, beta, y),
        }
    }

    fn update(
        &self,
        alpha: Ratio,
        directions: Directions<'_, HostBuffer<T>>,
        iterate: Iterate<'_, HostBuffer<T>>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError> {
        same_len_of_update(&directions, &iterate)?;
        sums.check_ratio(alpha)?;
        sums.check(Sum::Before(slot))?;
        let (level, alpha) = (SimdLevel::detect(), T::from_f64(ratio(sums, alpha)));
        let (Directions { p, ap }, Iterate { x, r }) = (directions, iterate);
        let square = if alpha == T::default() {
            sum(self, &**r, &|r: &[T]| loops::dot(level, r, r))
        } else {
            let slices = ((&**p, &**ap), (&mut **x, &mut **r));
            sum(self, slices, &|(from, to): Pairs<'_, T>| {
                loops::update(level, alpha, from, to)
            })
        };
        put(sums, slot, square);
        Ok(())
    }
}

/// Puts a sum into a slot that exists.
fn put(sums: &mut Sums<Host>, slot: usize, sum: f64) {
    let (last, before) = (Sum::Last(slot).index(), Sum::Before(slot).index());
    let values = sums.values_mut();
    values[before] = values[last];
    values[last] = sum;
}

/// A ratio of slots that exist.
fn ratio(sums: &Sums<Host>, ratio: Ratio) -> f64 {
    let values = sums.values();
    let above = values[ratio.numerator.index()];
    let below = values[ratio.denominator.index()];
    if above > 0.0 && below > 0.0 {
        above / below
    } else {
        0.0
    }
}

/// Two slices to read and two to change.
type Pairs<'a, T> = ((&'a [T], &'a [T]), (&'a mut [T], &'a mut [T]));
