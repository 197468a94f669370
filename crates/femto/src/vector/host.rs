//! Vectors on the host.

use super::cut::{each, sum};
use super::{VectorOps, same_len};
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

    fn update(
        &self,
        alpha: f64,
        p: &HostBuffer<T>,
        ap: &HostBuffer<T>,
        x: &mut HostBuffer<T>,
        r: &mut HostBuffer<T>,
    ) -> Result<f64, DeviceError> {
        same_len("p of update", p, r)?;
        same_len("ap of update", ap, r)?;
        same_len("x of update", x, r)?;
        let (level, alpha) = (SimdLevel::detect(), T::from_f64(alpha));
        let slices = ((&**p, &**ap), (&mut **x, &mut **r));
        Ok(sum(self, slices, &|(from, to): Pairs<'_, T>| {
            loops::update(level, alpha, from, to)
        }))
    }

    fn precondition_dot(
        &self,
        d: &HostBuffer<T>,
        r: &HostBuffer<T>,
        z: &mut HostBuffer<T>,
    ) -> Result<f64, DeviceError> {
        same_len("d of precondition_dot", d, z)?;
        same_len("r of precondition_dot", r, z)?;
        let level = SimdLevel::detect();
        let slices = ((&**d, &**r), &mut **z);
        Ok(sum(self, slices, &|((d, r), z): (
            (&[T], &[T]),
            &mut [T],
        )| {
            loops::precondition_dot(level, d, r, z)
        }))
    }
}

/// Two slices to read and two to change.
type Pairs<'a, T> = ((&'a [T], &'a [T]), (&'a mut [T], &'a mut [T]));

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::{Buffer, Device};

    const LENGTHS: [usize; 6] = [0, 1, 8191, 8192, 8193, 100_003];

    fn vector<T: Number>(host: &Host, len: usize, seed: f64) -> HostBuffer<T> {
        let values: Vec<T> = (0..len)
            .map(|i| T::from_f64((i as f64 * 0.37 + seed).sin() + 1.5))
            .collect();
        host.upload(&values).unwrap()
    }

    /// Everything the trait can do, once; returns all numbers that came out.
    fn battery<T: Number>(host: &Host, len: usize) -> Vec<u64> {
        let [x, d] = [0.1, 0.2].map(|seed| vector::<T>(host, len, seed));
        let [mut y, mut z] = [0.3, 0.4].map(|seed| vector::<T>(host, len, seed));
        let mut out = Vec::new();
        host.axpy(0.3, &x, &mut y).unwrap();
        host.xpby(&d, -0.7, &mut y).unwrap();
        host.multiply(&x, &mut y).unwrap();
        host.divide(&d, &mut y).unwrap();
        out.push(host.dot(&x, &y).unwrap());
        out.push(host.norm(&y).unwrap());
        out.push(host.update(0.01, &x, &d, &mut y, &mut z).unwrap());
        host.copy(&z, &mut y).unwrap();
        out.push(host.precondition_dot(&d, &y, &mut z).unwrap());
        out.extend(y.iter().chain(z.iter()).map(|value| value.to_f64()));
        host.fill(2.5, &mut z).unwrap();
        out.extend(z.iter().map(|value| value.to_f64()));
        out.into_iter().map(f64::to_bits).collect()
    }

    fn threads_do_not_matter<T: Number>() {
        let one = Host::with_threads(1).unwrap();
        for len in LENGTHS {
            let wanted = battery::<T>(&one, len);
            for threads in [2, 3] {
                let host = Host::with_threads(threads).unwrap();
                assert!(battery::<T>(&host, len) == wanted, "{len} entries");
            }
        }
    }

    #[test]
    fn results_have_the_same_bits_for_any_number_of_threads() {
        threads_do_not_matter::<f64>();
        threads_do_not_matter::<f32>();
    }

    #[test]
    fn formulas_hold_across_blocks() {
        let host = Host::with_threads(2).unwrap();
        for len in LENGTHS {
            let [p, ap] = [1.0, 2.0].map(|seed| vector::<f64>(&host, len, seed));
            let [mut x, mut r] = [3.0, 4.0].map(|seed| vector::<f64>(&host, len, seed));
            let before: Vec<_> = x.iter().zip(r.iter()).map(|(&x, &r)| (x, r)).collect();
            let square = host.update(0.5, &p, &ap, &mut x, &mut r).unwrap();
            for (i, &(old_x, old_r)) in before.iter().enumerate() {
                assert_eq!(x[i], old_x + 0.5 * p[i]);
                assert_eq!(r[i], old_r - 0.5 * ap[i]);
            }
            let wanted: f64 = r.iter().map(|r| r * r).sum();
            assert!((square - wanted).abs() <= 1e-12 * wanted);
            assert!((host.norm(&r).unwrap() - wanted.sqrt()).abs() <= 1e-12 * wanted);
            let dot = host.dot(&p, &r).unwrap();
            let wanted: f64 = p.iter().zip(r.iter()).map(|(p, r)| p * r).sum();
            assert!((dot - wanted).abs() <= 1e-12 * wanted.abs());
            assert_eq!(host.precondition_dot(&p, &r, &mut x).unwrap(), {
                assert!((0..len).all(|i| x[i] == p[i] * r[i]));
                host.dot(&r, &x).unwrap()
            });
        }
    }

    #[test]
    fn every_wrong_length_is_an_error() {
        let host = Host::with_threads(1).unwrap();
        let [short, mut long] = [4, 5].map(|len| host.zeros::<f32>(len).unwrap());
        let [mut a, mut b] = [5, 5].map(|len| host.zeros::<f32>(len).unwrap());
        let mut wrong = host.zeros::<f32>(4).unwrap();
        let errors = [
            host.copy(&short, &mut long).unwrap_err(),
            host.axpy(1.0, &short, &mut long).unwrap_err(),
            host.xpby(&short, 1.0, &mut long).unwrap_err(),
            host.multiply(&short, &mut long).unwrap_err(),
            host.divide(&short, &mut long).unwrap_err(),
            host.dot(&short, &long).unwrap_err(),
            host.update(1.0, &short, &long, &mut a, &mut b).unwrap_err(),
            host.update(1.0, &long, &short, &mut a, &mut b).unwrap_err(),
            host.update(1.0, &long, &long, &mut wrong, &mut b)
                .unwrap_err(),
            host.precondition_dot(&short, &long, &mut a).unwrap_err(),
            host.precondition_dot(&long, &short, &mut a).unwrap_err(),
        ];
        for error in errors {
            let lengths = match error {
                DeviceError::LengthMismatch {
                    found, expected, ..
                } => (found, expected),
                other => panic!("{other}"),
            };
            assert_eq!(lengths, (4, 5));
        }
        assert_eq!(Buffer::len(&wrong), 4);
    }
}
