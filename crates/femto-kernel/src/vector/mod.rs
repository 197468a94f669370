//! Loops over pieces of vectors: what a Krylov solver does between two applications of its operator.
//!
//! Each function works on one piece, a few thousand numbers; how a vector is cut into pieces, and
//! on how many threads, is decided elsewhere. All slices of one call have the same length; what
//! goes beyond the shortest is left alone.
//!
//! Sums are taken in double precision in [`CHAINS`] interleaved chains, added in a fixed order:
//! the same piece gives the same bits on every instruction set. For that reason no multiply-add is
//! fused here; these loops wait for memory, not for arithmetic.
//!
//! [`source`] is the text of the same operations for devices that compile kernels.

pub mod source;

use crate::roofline::Work;
use crate::scalar::Real;
use crate::scalar::simd::{SimdLevel, SimdTask, dispatch};
use fearless_simd::Simd;

/// How many partial sums a reduction has: entry `i` belongs to chain `i % CHAINS`.
pub const CHAINS: usize = 32;

/// Pieces of this many numbers stay in the nearest cache between two loops over them.
const IN_CACHE: usize = 2048;

/// What an operation moves and computes per entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The name in reports.
    pub name: &'static str,
    /// Numbers read.
    pub reads: u64,
    /// Numbers written.
    pub writes: u64,
    /// Floating-point operations.
    pub flops: u64,
}

impl Cost {
    const fn new(name: &'static str, reads: u64, writes: u64, flops: u64) -> Self {
        Self {
            name,
            reads,
            writes,
            flops,
        }
    }

    /// The work for `len` entries of type `T`.
    pub const fn work<T: Real>(&self, len: usize) -> Work {
        let (len, bytes) = (len as u64, T::BYTES as u64);
        Work {
            bytes_read: self.reads * len * bytes,
            bytes_written: self.writes * len * bytes,
            flops: self.flops * len,
            shared_bytes: 0,
        }
    }
}

/// The cost of setting all entries to one value.
pub const FILL: Cost = Cost::new("fill", 0, 1, 0);
/// The cost of a copy.
pub const COPY: Cost = Cost::new("copy", 1, 1, 0);
/// The cost of [`axpy`].
pub const AXPY: Cost = Cost::new("axpy", 2, 1, 2);
/// The cost of [`xpby`].
pub const XPBY: Cost = Cost::new("xpby", 2, 1, 2);
/// The cost of [`dot`] of two vectors.
pub const DOT: Cost = Cost::new("dot", 2, 0, 2);
/// The cost of a norm: [`dot`] of a vector with itself.
pub const NORM: Cost = Cost::new("norm", 1, 0, 2);
/// The cost of [`update`].
pub const UPDATE: Cost = Cost::new("update", 4, 2, 6);
/// The cost of [`precondition_dot`].
pub const PRECONDITION_DOT: Cost = Cost::new("precondition_dot", 2, 1, 3);
/// The cost of [`multiply`].
pub const MULTIPLY: Cost = Cost::new("multiply", 2, 1, 1);
/// The cost of [`divide`].
pub const DIVIDE: Cost = Cost::new("divide", 2, 1, 1);

/// y = y + α x.
pub fn axpy<T: Real>(level: SimdLevel, alpha: T, x: &[T], y: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || x.iter().zip(y).for_each(|(&x, y)| *y += alpha * x),
    );
}

/// y = x + β y.
pub fn xpby<T: Real>(level: SimdLevel, x: &[T], beta: T, y: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || x.iter().zip(y).for_each(|(&x, y)| *y = x + beta * *y),
    );
}

/// y = x y, entry by entry.
pub fn multiply<T: Real>(level: SimdLevel, x: &[T], y: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || x.iter().zip(y).for_each(|(&x, y)| *y *= x),
    );
}

/// y = y / x, entry by entry.
pub fn divide<T: Real>(level: SimdLevel, x: &[T], y: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || x.iter().zip(y).for_each(|(&x, y)| *y = *y / x),
    );
}

/// Σ x y.
pub fn dot<T: Real>(level: SimdLevel, x: &[T], y: &[T]) -> f64 {
    vectorized(
        level,
        #[inline(always)]
        || {
            let mut sums = [0.0; CHAINS];
            let mut groups = x.chunks_exact(CHAINS).zip(y.chunks_exact(CHAINS));
            for (x, y) in &mut groups {
                for i in 0..CHAINS {
                    sums[i] += x[i].to_f64() * y[i].to_f64();
                }
            }
            let done = x.len().min(y.len()) / CHAINS * CHAINS;
            for ((sum, &x), &y) in sums.iter_mut().zip(&x[done..]).zip(&y[done..]) {
                *sum += x.to_f64() * y.to_f64();
            }
            total(sums)
        },
    )
}

/// x = x + α p and r = r - α ap; returns Σ r r of the new r.
pub fn update<T: Real>(
    level: SimdLevel,
    alpha: T,
    (p, ap): (&[T], &[T]),
    (x, r): (&mut [T], &mut [T]),
) -> f64 {
    axpy(level, alpha, p, x);
    let pieces = ap.chunks(IN_CACHE).zip(r.chunks_mut(IN_CACHE));
    pieces.fold(0.0, |sum, (ap, r)| {
        axpy(level, -alpha, ap, r);
        sum + dot(level, r, r)
    })
}

/// z = d r, entry by entry; returns Σ r z.
pub fn precondition_dot<T: Real>(level: SimdLevel, d: &[T], r: &[T], z: &mut [T]) -> f64 {
    let inputs = d.chunks(IN_CACHE).zip(r.chunks(IN_CACHE));
    let pieces = inputs.zip(z.chunks_mut(IN_CACHE));
    pieces.fold(0.0, |sum, ((d, r), z)| {
        product(level, d, r, z);
        sum + dot(level, r, z)
    })
}

/// z = x y, entry by entry.
fn product<T: Real>(level: SimdLevel, x: &[T], y: &[T], z: &mut [T]) {
    let entries = x.iter().zip(y).zip(z);
    vectorized(
        level,
        #[inline(always)]
        || entries.for_each(|((&x, &y), z)| *z = x * y),
    );
}

/// Adds the chains, neighbours at distance 16 first, then 8, 4, 2, 1.
#[inline(always)]
fn total(mut sums: [f64; CHAINS]) -> f64 {
    let mut half = CHAINS / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

/// Runs a loop compiled for `level`; the compiler does the vectorising.
#[inline(always)]
fn vectorized<R>(level: SimdLevel, body: impl FnOnce() -> R) -> R {
    struct Body<F>(F);
    impl<R, F: FnOnce() -> R> SimdTask for Body<F> {
        type Output = R;
        #[inline(always)]
        fn run<S: Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    dispatch(level, Body(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 8] = [0, 1, 31, 32, 33, 100, 2048, 5000];

    /// Numbers whose sums and products are exact in both precisions.
    fn numbers<T: Real>(len: usize, seed: usize) -> Vec<T> {
        let number = |i: usize| ((i * 37 + seed * 11) % 17) as f64 / 4.0 - 2.0;
        (0..len).map(|i| T::from_f64(number(i))).collect()
    }

    fn levels_and_lengths(mut test: impl FnMut(SimdLevel, usize)) {
        for &level in SimdLevel::available() {
            LENGTHS.iter().for_each(|&len| test(level, len));
        }
    }

    fn entries<T: Real>(len: usize, entry: impl Fn(usize) -> T) -> Vec<T> {
        (0..len).map(entry).collect()
    }

    fn exact_dot<T: Real>(x: &[T], y: &[T]) -> f64 {
        x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
    }

    fn loops_do_what_their_formulas_say<T: Real>() {
        let two = T::from_f64(2.0);
        levels_and_lengths(|level, len| {
            let (x, y) = (numbers::<T>(len, 1), numbers::<T>(len, 2));
            let after = |run: &dyn Fn(&mut [T])| {
                let mut target = y.clone();
                run(&mut target);
                target
            };
            let axpy = after(&|y| axpy(level, two, &x, y));
            assert_eq!(axpy, entries(len, |i| y[i] + two * x[i]));
            let xpby = after(&|y| xpby(level, &x, two, y));
            assert_eq!(xpby, entries(len, |i| x[i] + two * y[i]));
            let multiply = after(&|y| multiply(level, &x, y));
            assert_eq!(multiply, entries(len, |i| x[i] * y[i]));
            let halves = vec![T::from_f64(0.5); len];
            let divide = after(&|y| divide(level, &halves, y));
            assert_eq!(divide, entries(len, |i| y[i] * two));
            assert_eq!(dot(level, &x, &y), exact_dot(&x, &y));
        });
    }

    fn fused_loops_do_what_their_formulas_say<T: Real>() {
        let two = T::from_f64(2.0);
        levels_and_lengths(|level, len| {
            let [p, ap, x, r] = [1, 2, 3, 4].map(|seed| numbers::<T>(len, seed));
            let (mut new_x, mut new_r) = (x.clone(), r.clone());
            let square = update(level, two, (&p, &ap), (&mut new_x, &mut new_r));
            assert_eq!(new_x, entries(len, |i| x[i] + two * p[i]));
            assert_eq!(new_r, entries(len, |i| r[i] - two * ap[i]));
            assert_eq!(square, exact_dot(&new_r, &new_r));

            let mut z = vec![T::default(); len];
            let product = precondition_dot(level, &p, &r, &mut z);
            assert_eq!(z, entries(len, |i| p[i] * r[i]));
            assert_eq!(product, exact_dot(&r, &z));
        });
    }

    #[test]
    fn loops_in_double_precision() {
        loops_do_what_their_formulas_say::<f64>();
        fused_loops_do_what_their_formulas_say::<f64>();
    }

    #[test]
    fn loops_in_single_precision() {
        loops_do_what_their_formulas_say::<f32>();
        fused_loops_do_what_their_formulas_say::<f32>();
    }

    #[test]
    fn a_dot_product_has_the_same_bits_on_every_instruction_set() {
        let x: Vec<f64> = (0..4999).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let y: Vec<f64> = (0..4999).map(|i| (f64::from(i) * 1.3).cos()).collect();
        let wanted = dot(SimdLevel::Baseline, &x, &y);
        for &level in SimdLevel::available() {
            assert_eq!(dot(level, &x, &y).to_bits(), wanted.to_bits());
        }
    }

    #[test]
    fn single_precision_sums_in_double() {
        let ones = vec![1.0_f32; 1 << 25];
        assert_eq!(dot(SimdLevel::detect(), &ones, &ones), f64::from(1 << 25));
    }

    #[test]
    fn costs_are_per_entry_and_precision() {
        let work = UPDATE.work::<f32>(10);
        assert_eq!((work.bytes_read, work.bytes_written), (160, 80));
        assert_eq!(work.flops, 60);
        assert_eq!(DOT.work::<f64>(3).bytes_read, 48);
    }
}
