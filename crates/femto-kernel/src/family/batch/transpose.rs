//! Transposition between rows of numbers, one for each lane, and lanes.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::MAX_LANES;
use crate::scalar::{Lanes, Real};

/// Transposes `[lane][number]` to `[number][lane]`.
#[inline(always)]
pub(crate) fn to_lanes<L: Lanes, const R: usize>(
    token: L::Token,
    row: impl Fn(usize) -> [L::Real; R],
) -> [L; R] {
    let zero = L::Real::from_f64(0.0);
    let mut halves = [L::splat(token, zero); R];
    for k in 0..R {
        // Whole rows, or a part of one: vectors are loaded, not single numbers.
        let mut numbers = [zero; MAX_LANES];
        if R <= L::WIDTH {
            for n in 0..L::WIDTH / R {
                numbers[n * R..][..R].copy_from_slice(&row(k * (L::WIDTH / R) + n));
            }
        } else {
            let first = k * L::WIDTH;
            numbers[..L::WIDTH].copy_from_slice(&row(first / R)[first % R..][..L::WIDTH]);
        }
        halves[k] = L::load(token, &numbers[..L::WIDTH]);
    }
    deinterleave(halves)
}

/// As [`to_lanes`], of rows one after the other.
#[inline(always)]
pub(super) fn deinterleave<L: Lanes, const R: usize>(mut halves: [L; R]) -> [L; R] {
    // Even numbers to the first half, odd ones to the second, then recursively within each half.
    let mut len = R;
    while len > 1 {
        let before = halves;
        for n in 0..R / 2 {
            let (first, n) = (n / (len / 2) * len, n % (len / 2));
            let (even, odd) = before[first + 2 * n].deinterleave(before[first + 2 * n + 1]);
            halves[first + n] = even;
            halves[first + len / 2 + n] = odd;
        }
        len /= 2;
    }
    reverse(&mut halves);
    halves
}

/// Adds one lane's numbers from `[lane][number]`.
#[inline(always)]
pub(super) fn add<L: Lanes, const R: usize>(values: &[L; R], lane: usize, row: &mut [L::Real; R]) {
    for c in 0..R {
        let n = lane * R + c;
        row[c] += values[n / L::WIDTH].lanes()[n % L::WIDTH];
    }
}

/// Transposes `[number][lane]` to `[lane][number]`, vector after vector.
#[inline(always)]
pub(super) fn to_rows<L: Lanes, const R: usize>(halves: &mut [L; R]) {
    reverse(halves);
    let mut len = 2;
    while len <= R {
        let before = *halves;
        for n in 0..R / 2 {
            let (first, n) = (n / (len / 2) * len, n % (len / 2));
            let (low, high) = before[first + n].interleave(before[first + len / 2 + n]);
            halves[first + 2 * n] = low;
            halves[first + 2 * n + 1] = high;
        }
        len *= 2;
    }
}

/// Permutes numbers, of which there are a power of two, by bit reversal.
#[inline(always)]
fn reverse<L: Copy, const R: usize>(numbers: &mut [L; R]) {
    for n in 0..R {
        let other = match R {
            1 => 0,
            _ => n.reverse_bits() >> (usize::BITS - R.trailing_zeros()),
        };
        if n < other {
            numbers.swap(n, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{SimdLevel, SimdTask, Vectorizable, dispatch};
    use core::marker::PhantomData;
    use fearless_simd::Simd;

    /// Distinct rows of R numbers, to lanes and back.
    struct Transposed<T, const R: usize>(PhantomData<T>);

    impl<T: Vectorizable, const R: usize> SimdTask for Transposed<T, R> {
        type Output = ();

        fn run<S: Simd>(self, token: S) {
            let row = |lane: usize| -> [T; R] {
                core::array::from_fn(|number| T::from_f64((lane * R + number + 1) as f64))
            };
            let mut lanes = to_lanes::<T::Lanes<S>, R>(token, row);
            for (number, lanes) in lanes.iter().enumerate() {
                for (lane, value) in lanes.lanes().iter().enumerate() {
                    assert_eq!(value.to_f64(), row(lane)[number].to_f64());
                }
            }
            to_rows(&mut lanes);
            let width = <T::Lanes<S> as Lanes>::WIDTH;
            for lane in 0..width {
                let mut sums = [T::from_f64(0.0); R];
                add(&lanes, lane, &mut sums);
                assert_eq!(sums.map(T::to_f64), row(lane).map(T::to_f64));
            }
        }
    }

    fn transpose<const R: usize>() {
        for &level in SimdLevel::available() {
            dispatch(level, Transposed::<f64, R>(PhantomData));
            dispatch(level, Transposed::<f32, R>(PhantomData));
        }
    }

    #[test]
    fn rows_become_lanes_and_rows_again() {
        transpose::<1>();
        transpose::<2>();
        transpose::<4>();
        transpose::<8>();
    }
}
