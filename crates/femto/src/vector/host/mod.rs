//! Vectors on the host.

mod elements;

use super::cut::{each, sum};
use super::listed::{at_entries, project_nodes};
use super::products;
use super::{
    ChebyshevInput, ChebyshevStep, ElementInterpolation, ElementInverse, Entries, LineSolve, Ratio,
    SlantedNodes, SparseMatrix, Sum, Sums, UpdateDirection, UpdateResidual, VectorOps, same_len,
};
use crate::Number;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector as loops;
use femto_kernel::vector::random::entry;
use femto_platform::device::host::{Host, HostBuffer};
use femto_platform::device::{Buffer, DeviceError};
use std::ops::{Add, Range};

impl<T: Number> VectorOps<T> for Host {
    fn fill(&self, alpha: f64, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        let alpha = T::from_f64(alpha);
        each(self, &mut **y, &|y: &mut [T]| y.fill(alpha));
        Ok(())
    }

    fn set_entries(
        &self,
        entries: &Entries<Self>,
        alpha: f64,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check("y of set_entries", y.len())?;
        let alpha = T::from_f64(alpha);
        at_entries(self, &entries.ascending, (0, &mut **y), &|y, _| *y = alpha);
        Ok(())
    }

    fn project(
        &self,
        nodes: &SlantedNodes<T, Self>,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        nodes.entries.check("y of project", y.len())?;
        let count = nodes.components;
        if nodes.len() == 0 {
            return Ok(());
        }
        let of_each = (&nodes.nodes[..nodes.len()], &nodes.projectors[..]);
        project_nodes(self, count, of_each, (0, &mut **y));
        Ok(())
    }

    fn gather(
        &self,
        x: &HostBuffer<T>,
        entries: &Entries<Self>,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        entries.check_both(("x of gather", x.len()), ("y of gather", y.len()))?;
        let list = &entries.list[..entries.len()];
        each(self, (list, &mut **y), &|(list, y): (&[u32], &mut [T])| {
            for (y, &entry) in y.iter_mut().zip(list) {
                *y = x[entry as usize];
            }
        });
        Ok(())
    }

    fn add_to_entries(
        &self,
        x: &HostBuffer<T>,
        entries: &Entries<Self>,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        let (whole, listed) = ("y of add_to_entries", "x of add_to_entries");
        entries.check_both((whole, y.len()), (listed, x.len()))?;
        let add = |y: &mut T, place: usize| *y += x[place];
        at_entries(self, &entries.ascending, (0, &mut **y), &add);
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

    fn randomise(&self, seed: u32, y: &mut HostBuffer<T>) -> Result<(), DeviceError> {
        let all = (0..y.len(), &mut **y);
        each(self, all, &|(places, y): (Range<usize>, &mut [T])| {
            let entries = y.iter_mut().zip(places);
            entries.for_each(|(y, i)| *y = T::from_f64(entry(seed, i as u32)));
        });
        Ok(())
    }

    fn convert<S: Number>(
        &self,
        x: &HostBuffer<S>,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        same_len("x of convert", x, y)?;
        let level = SimdLevel::detect();
        each(self, (&**x, &mut **y), &|(x, y): (&[S], &mut [T])| {
            loops::convert(level, x, y);
        });
        Ok(())
    }

    fn invert(&self, y: &mut HostBuffer<T>) -> Result<f64, DeviceError> {
        let level = SimdLevel::detect();
        Ok(sum(self, &mut **y, &|y: &mut [T]| loops::invert(level, y)))
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

    fn update_direction(
        &self,
        step: UpdateDirection<'_, HostBuffer<T>>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let level = SimdLevel::detect();
        let factors = [step.alpha, step.beta].map(|factor| T::from_f64(ratio(sums, factor)));
        let targets = (&mut **step.p, &mut **step.x);
        match step.d {
            None => each(self, (&**step.z, targets), &|(z, to): One<'_, T>| {
                loops::update_direction(level, factors, z, to);
            }),
            Some(d) => {
                let slices = ((&**d, &**step.z), targets);
                each(self, slices, &|(from, to): Two<'_, T>| {
                    loops::update_direction_scaled(level, factors, from, to);
                });
            }
        }
        Ok(())
    }

    fn update_residual(
        &self,
        step: UpdateResidual<'_, HostBuffer<T>>,
        sums: &mut Sums<Self>,
    ) -> Result<(), DeviceError> {
        step.check(sums)?;
        let (level, alpha) = (SimdLevel::detect(), T::from_f64(ratio(sums, step.alpha)));
        let (ap, r) = (&**step.ap, &mut **step.r);
        match step.scaled {
            None => {
                let square = sum(self, (ap, r), &|(ap, r): (&[T], &mut [T])| {
                    loops::update_residual(level, alpha, ap, r)
                });
                put(sums, step.square, square);
            }
            Some((d, slot)) => {
                let slices = ((&**d, ap), r);
                let both = sum(self, slices, &|(from, r): ((&[T], &[T]), &mut [T])| {
                    Pair(loops::update_residual_scaled(level, alpha, from, r))
                });
                let Pair([square, product]) = both;
                put(sums, step.square, square);
                put(sums, slot, product);
            }
        }
        Ok(())
    }

    fn chebyshev_step(&self, step: ChebyshevStep<'_, HostBuffer<T>>) -> Result<(), DeviceError> {
        step.check()?;
        let level = SimdLevel::detect();
        let input = match step.input {
            ChebyshevInput::Start(b) => ChebyshevInput::Start(&**b),
            ChebyshevInput::Restart(b, ax) => ChebyshevInput::Restart(&**b, &**ax),
            ChebyshevInput::Step(ad) => ChebyshevInput::Step(&**ad),
        };
        let targets = (&mut **step.r, (&mut **step.d, &mut **step.x));
        let slices = ((&**step.inverse, input), targets);
        each(self, slices, &|(from, to): Chebyshev<'_, T>| {
            loops::chebyshev_step(level, step.factors, from, to);
        });
        Ok(())
    }

    fn multiply_sparse(
        &self,
        matrix: &SparseMatrix<T, Self>,
        x: &HostBuffer<T>,
        add: bool,
        y: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        matrix.check(x, y)?;
        products::multiply_sparse(self, matrix, x, (add, y));
        Ok(())
    }

    fn interpolate(
        &self,
        with: &ElementInterpolation<T, Self>,
        x: &HostBuffer<T>,
        e: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::interpolate(self, with, x, e);
        Ok(())
    }

    fn invert_elements(
        &self,
        with: &ElementInverse<T, Self>,
        x: &HostBuffer<T>,
        e: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::invert_elements(self, with, x, e);
        Ok(())
    }

    fn solve_lines(
        &self,
        with: &LineSolve<T, Self>,
        x: &HostBuffer<T>,
        e: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        with.check(x, e)?;
        elements::solve_lines(self, with, x, e);
        Ok(())
    }
}

/// Two sums taken at the same time.
struct Pair([f64; 2]);

impl Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}

/// One slice to read and two to change.
type One<'a, T> = (&'a [T], (&'a mut [T], &'a mut [T]));
/// Two slices to read and two to change.
type Two<'a, T> = ((&'a [T], &'a [T]), (&'a mut [T], &'a mut [T]));

/// Two slices to read and three to change.
type Chebyshev<'a, T> = (
    (&'a [T], ChebyshevInput<&'a [T]>),
    (&'a mut [T], (&'a mut [T], &'a mut [T])),
);

/// Stores a sum in an existing slot.
fn put(sums: &mut Sums<Host>, slot: usize, sum: f64) {
    let (last, before) = (Sum::Last(slot).index(), Sum::Before(slot).index());
    let values = sums.values_mut();
    values[before] = values[last];
    values[last] = sum;
}

/// The ratio of existing slots.
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
