//! Loops that measure the ceilings of a host. Pure: the caller holds the clock.

use crate::scalar::Scalar;
use crate::scalar::simd::{Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::hint::black_box;
use fearless_simd::Simd;

/// Number of independent chains of multiply-adds: more than latency times units of any processor so far (4
/// cycles by 2 units), and few enough for the 16 registers of AVX2.
const CHAINS: usize = 12;

/// Runs `rounds` fused multiply-adds in each of the chains and lanes; returns the number of flops and a
/// value that depends on all of them.
pub fn fma<T: Vectorizable>(level: SimdLevel, rounds: u64) -> (u64, f64) {
    dispatch(
        level,
        Fma::<T> {
            rounds,
            factor: black_box(T::from_f64(0.999)),
            addend: black_box(T::from_f64(0.001)),
        },
    )
}

struct Fma<T> {
    rounds: u64,
    factor: T,
    addend: T,
}

impl<T: Vectorizable> SimdTask for Fma<T> {
    type Output = (u64, f64);

    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> (u64, f64) {
        let factor = T::Lanes::<S>::splat(token, self.factor);
        let addend = T::Lanes::<S>::splat(token, self.addend);
        let mut chains: [T::Lanes<S>; CHAINS] =
            core::array::from_fn(|i| T::Lanes::<S>::splat(token, T::from_f64(i as f64)));
        for _ in 0..self.rounds {
            for chain in &mut chains {
                *chain = chain.mul_add(factor, addend);
            }
        }
        let lanes = chains.iter().flat_map(|chain| chain.lanes());
        let value = lanes.map(|lane| lane.to_f64()).sum();
        let flops_per_round = 2 * CHAINS * T::Lanes::<S>::WIDTH;
        (self.rounds * flops_per_round as u64, value)
    }
}

/// Reads all of `source`, limited only by memory.
///
/// The sum uses this set's own chains, so it is deterministic only for a given instruction set.
pub fn read(level: SimdLevel, source: &[f64]) -> f64 {
    dispatch(level, Read { source })
}

struct Read<'a> {
    source: &'a [f64],
}

impl SimdTask for Read<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> f64 {
        type L<S> = <f64 as Vectorizable>::Lanes<S>;
        let width = L::<S>::WIDTH;
        let mut chains = [L::<S>::splat(token, 0.0); 8];
        let mut groups = self.source.chunks_exact(8 * width);
        for group in &mut groups {
            for (chain, numbers) in chains.iter_mut().zip(group.chunks_exact(width)) {
                *chain += L::<S>::load(token, numbers);
            }
        }
        let rest: f64 = groups.remainder().iter().sum();
        let lanes = chains.iter().flat_map(|chain| chain.lanes());
        lanes.fold(rest, |sum, &lane| sum + lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flops_are_those_of_the_rounds() {
        for &level in SimdLevel::available() {
            let (flops, value) = fma::<f64>(level, 100);
            assert_eq!(flops % (100 * 2 * CHAINS as u64), 0);
            assert!(value.is_finite());
            // Starting from 0, 1, .. 11, all chains tend to 1; after one round the sum is known.
            let (flops, value) = fma::<f32>(level, 1);
            let lanes = flops / (2 * CHAINS as u64);
            let wanted = lanes as f64 * (66.0 * 0.999 + 12.0 * 0.001);
            assert!((value - wanted).abs() < 1e-5 * wanted, "{value} {wanted}");
        }
    }

    #[test]
    fn every_number_is_read_once() {
        for len in [0, 1, 63, 64, 1000, 1003] {
            let source: Vec<f64> = (0..len).map(f64::from).collect();
            for &level in SimdLevel::available() {
                assert_eq!(read(level, &source), f64::from(len * (len - 1) / 2));
            }
        }
    }
}
