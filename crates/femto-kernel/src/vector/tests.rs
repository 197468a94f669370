//! Every loop, on every instruction set of this machine.

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
        assert_eq!(dot(level, &x, &y), exact_dot(&x, &y));
    });
}

fn fused_loops_do_what_their_formulas_say<T: Real>() {
    let two = T::from_f64(2.0);
    levels_and_lengths(|level, len| {
        let [p, ap, x, r] = [1, 2, 3, 4].map(|seed| numbers::<T>(len, seed));
        let d = numbers::<T>(len, 5);
        let (mut new_r, mut scaled_r) = (r.clone(), r.clone());
        let square = update_residual(level, two, &ap, &mut new_r);
        let scaled = update_residual_scaled(level, two, (&d, &ap), &mut scaled_r);
        assert_eq!(new_r, entries(len, |i| r[i] - two * ap[i]));
        assert_eq!(new_r, scaled_r);
        let z = entries(len, |i| d[i] * new_r[i]);
        assert_eq!(square, exact_dot(&new_r, &new_r));
        assert_eq!(scaled, [square, exact_dot(&new_r, &z)]);

        for factors in [[2.0, 0.5], [0.0, 0.5], [2.0, 0.0]] {
            let [alpha, beta] = factors.map(T::from_f64);
            let new_x = entries(len, |i| x[i] + alpha * p[i]);
            let (mut found_p, mut found_x) = (p.clone(), x.clone());
            update_direction(level, [alpha, beta], &r, (&mut found_p, &mut found_x));
            assert_eq!(found_p, entries(len, |i| r[i] + beta * p[i]));
            assert_eq!(found_x, new_x);
            let (mut found_p, mut found_x) = (p.clone(), x.clone());
            let targets = (&mut *found_p, &mut *found_x);
            update_direction_scaled(level, [alpha, beta], (&d, &r), targets);
            assert_eq!(found_p, entries(len, |i| d[i] * r[i] + beta * p[i]));
            assert_eq!(found_x, new_x);
        }

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
    let work = UPDATE_DIRECTION_SCALED.work::<f32>(10);
    assert_eq!((work.bytes_read, work.bytes_written), (160, 80));
    assert_eq!(work.flops, 50);
    assert_eq!(DOT.work::<f64>(3).bytes_read, 48);
    let work = SET_ENTRIES.listed_work::<f32>(10);
    assert_eq!((work.bytes_read, work.bytes_written), (40, 40));
}
