//! Loops over pieces of vectors: the work of a Krylov solver between two operator applications.
//!
//! Each function works on one piece, a few thousand numbers; cutting vectors into pieces and distributing
//! them over threads is done elsewhere. All slices of a call should have the same length; entries beyond
//! the shortest are left alone.
//!
//! Sums are taken in double precision in [`CHAINS`] interleaved chains, added in a fixed order:
//! the same piece gives the same bits on every instruction set. For that reason no multiply-add is
//! fused here; these loops wait for memory, not for arithmetic.
//!
//! [`source`] is the text of the same operations for devices that compile kernels; [`random`] generates
//! numbers for measurements there.

mod chebyshev;
pub mod element_inverse;
pub mod interpolation;
pub mod line_solve;
pub mod random;
pub mod source;
pub mod sparse;

pub use chebyshev::{
    CHEBYSHEV_RESTART, CHEBYSHEV_START, CHEBYSHEV_STEP, ChebyshevFactors, ChebyshevInput,
    chebyshev_step,
};

use crate::roofline::Work;
use crate::scalar::Real;
use crate::scalar::simd::{SimdLevel, SimdTask, dispatch};
use fearless_simd::Simd;

/// Number of partial sums of a reduction: entry `i` belongs to chain `i % CHAINS`.
pub const CHAINS: usize = 32;

/// Pieces of this length stay in the nearest cache between two loops over them.
const IN_CACHE: usize = 2048;

/// Where the component of a node is in an L-vector: `node * node_stride + component * component_stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Number of components.
    pub components: usize,
    /// From node to node.
    pub node: usize,
    /// From component to component.
    pub component: usize,
}

impl Strides {
    /// Of vectors of one component.
    pub const SCALAR: Self = Self {
        components: 1,
        node: 1,
        component: 0,
    };
}

/// The data moved and the operations done per entry.
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
    pub fn work<T: Real>(&self, len: usize) -> Work {
        let (len, bytes) = (len as u64, T::BYTES as u64);
        Work {
            bytes_read: self.reads * len * bytes,
            bytes_written: self.writes * len * bytes,
            flops: self.flops * len,
            ..Work::default()
        }
    }

    /// The work for this many entries of a list, including reading the list.
    pub fn listed_work<T: Real>(&self, count: usize) -> Work {
        let mut work = self.work::<T>(count);
        work.bytes_read += (count * size_of::<u32>()) as u64;
        work
    }
}

/// The cost of setting all entries to one value.
pub const FILL: Cost = Cost::new("fill", 0, 1, 0);
/// The cost of setting listed entries to one value.
pub const SET_ENTRIES: Cost = Cost::new("set_entries", 0, 1, 0);
/// The cost of copying listed entries.
pub const GATHER: Cost = Cost::new("gather", 1, 1, 0);
/// The cost of adding to listed entries.
pub const ADD_TO_ENTRIES: Cost = Cost::new("add_to_entries", 2, 1, 1);
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
/// The cost of [`update_direction`].
pub const UPDATE_DIRECTION: Cost = Cost::new("update_direction", 3, 2, 4);
/// The cost of [`update_direction`] with a diagonal.
pub const UPDATE_DIRECTION_SCALED: Cost = Cost::new("update_direction_scaled", 4, 2, 5);
/// The cost of [`update_residual`].
pub const UPDATE_RESIDUAL: Cost = Cost::new("update_residual", 2, 1, 4);
/// The cost of [`update_residual_scaled`].
pub const UPDATE_RESIDUAL_SCALED: Cost = Cost::new("update_residual_scaled", 3, 1, 7);
/// The cost of [`precondition_dot`].
pub const PRECONDITION_DOT: Cost = Cost::new("precondition_dot", 2, 1, 3);
/// The cost of [`multiply`].
pub const MULTIPLY: Cost = Cost::new("multiply", 2, 1, 1);
/// The cost of [`invert`].
pub const INVERT: Cost = Cost::new("invert", 1, 1, 1);

/// The work of projecting vectors of `components` numbers at `count` nodes of a list.
pub fn projection_work<T: Real>(components: u64, count: usize) -> Work {
    let square = components * components;
    let cost = Cost::new("project", square + components, components, 2 * square);
    cost.listed_work::<T>(count)
}

/// The work of [`convert`] from numbers of type `S` for `len` entries.
pub fn conversion_work<S: Real, T: Real>(len: usize) -> Work {
    let mut work = Cost::new("convert", 0, 1, 0).work::<T>(len);
    work.bytes_read = (len * S::BYTES) as u64;
    work
}

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

/// y = x, rounded if need be.
pub fn convert<S: Real, T: Real>(level: SimdLevel, x: &[S], y: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || {
            let entries = x.iter().zip(y);
            entries.for_each(|(&x, y)| *y = T::from_f64(x.to_f64()));
        },
    );
}

/// y = 1 / y, entry by entry; returns the number of entries that are not [`invertible`].
pub fn invert<T: Real>(level: SimdLevel, y: &mut [T]) -> f64 {
    vectorized(
        level,
        #[inline(always)]
        || {
            let mut bad = 0.0;
            for y in y {
                bad += f64::from(u8::from(!invertible(*y)));
                *y = T::from_f64(1.0) / *y;
            }
            bad
        },
    )
}

/// Whether a number and its inverse are positive and finite.
#[inline(always)]
pub fn invertible<T: Real>(number: T) -> bool {
    let positive = |number: T| number.to_f64() > 0.0 && number.to_f64().is_finite();
    positive(number) && positive(T::from_f64(1.0) / number)
}

/// Σ x y.
pub fn dot<T: Real>(level: SimdLevel, x: &[T], y: &[T]) -> f64 {
    terms(
        level,
        x,
        y,
        #[inline(always)]
        |x, y| x.to_f64() * y.to_f64(),
    )
}

/// The sum of one term per entry.
#[inline(always)]
fn terms<T: Real>(level: SimdLevel, x: &[T], y: &[T], term: impl Fn(T, T) -> f64) -> f64 {
    vectorized(
        level,
        #[inline(always)]
        || {
            let mut sums = [0.0; CHAINS];
            let mut groups = x.chunks_exact(CHAINS).zip(y.chunks_exact(CHAINS));
            for (x, y) in &mut groups {
                for i in 0..CHAINS {
                    sums[i] += term(x[i], y[i]);
                }
            }
            let done = x.len().min(y.len()) / CHAINS * CHAINS;
            for ((sum, &x), &y) in sums.iter_mut().zip(&x[done..]).zip(&y[done..]) {
                *sum += term(x, y);
            }
            total(sums)
        },
    )
}

/// x = x + α p, then p = z + β p. If α is zero, x is unchanged even if p is NaN; if β is zero, p is
/// overwritten even if it is NaN.
pub fn update_direction<T: Real>(
    level: SimdLevel,
    [alpha, beta]: [T; 2],
    z: &[T],
    (p, x): (&mut [T], &mut [T]),
) {
    let targets = p.chunks_mut(IN_CACHE).zip(x.chunks_mut(IN_CACHE));
    for (z, (p, x)) in z.chunks(IN_CACHE).zip(targets) {
        if alpha != T::default() {
            axpy(level, alpha, p, x);
        }
        if beta == T::default() {
            p.iter_mut().zip(z).for_each(|(p, &z)| *p = z);
        } else {
            xpby(level, z, beta, p);
        }
    }
}

/// [`update_direction`] with z = d r, entry by entry.
pub fn update_direction_scaled<T: Real>(
    level: SimdLevel,
    [alpha, beta]: [T; 2],
    (d, r): (&[T], &[T]),
    (p, x): (&mut [T], &mut [T]),
) {
    let inputs = d.chunks(IN_CACHE).zip(r.chunks(IN_CACHE));
    let targets = p.chunks_mut(IN_CACHE).zip(x.chunks_mut(IN_CACHE));
    for ((d, r), (p, x)) in inputs.zip(targets) {
        if alpha != T::default() {
            axpy(level, alpha, p, x);
        }
        if beta == T::default() {
            product(level, d, r, p);
        } else {
            scaled_xpby(level, (d, r), beta, p);
        }
    }
}

/// p = d r + β p.
fn scaled_xpby<T: Real>(level: SimdLevel, (d, r): (&[T], &[T]), beta: T, p: &mut [T]) {
    vectorized(
        level,
        #[inline(always)]
        || {
            let entries = d.iter().zip(r).zip(p);
            entries.for_each(|((&d, &r), p)| *p = d * r + beta * *p);
        },
    );
}

/// r = r - α ap; returns Σ r r of the new r. If α is zero, r is unchanged even if ap is NaN.
pub fn update_residual<T: Real>(level: SimdLevel, alpha: T, ap: &[T], r: &mut [T]) -> f64 {
    let pieces = ap.chunks(IN_CACHE).zip(r.chunks_mut(IN_CACHE));
    pieces.fold(0.0, |square, (ap, r)| {
        if alpha != T::default() {
            axpy(level, -alpha, ap, r);
        }
        square + dot(level, r, r)
    })
}

/// r = r - α ap; returns Σ r r and Σ r (d r) of the new r. If α is zero, r is unchanged even if ap is NaN.
pub fn update_residual_scaled<T: Real>(
    level: SimdLevel,
    alpha: T,
    (d, ap): (&[T], &[T]),
    r: &mut [T],
) -> [f64; 2] {
    let inputs = d.chunks(IN_CACHE).zip(ap.chunks(IN_CACHE));
    let pieces = inputs.zip(r.chunks_mut(IN_CACHE));
    pieces.fold([0.0; 2], |[square, product], ((d, ap), r)| {
        if alpha != T::default() {
            axpy(level, -alpha, ap, r);
        }
        let scaled = terms(
            level,
            d,
            r,
            #[inline(always)]
            |d, r| r.to_f64() * (d * r).to_f64(),
        );
        [square + dot(level, r, r), product + scaled]
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

/// Runs a loop compiled for `level`; the compiler vectorises it.
#[inline(always)]
pub fn vectorized<R>(level: SimdLevel, body: impl FnOnce() -> R) -> R {
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
mod tests;
