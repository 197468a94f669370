//! Steps of a Chebyshev iteration, fused.

use super::{Cost, vectorized};
use crate::scalar::{Real, SimdLevel};

/// The cost of [`chebyshev_step`] from an initial guess of zero.
pub const CHEBYSHEV_START: Cost = Cost::new("chebyshev_start", 2, 3, 3);
/// The cost of the first [`chebyshev_step`] from another initial guess.
pub const CHEBYSHEV_RESTART: Cost = Cost::new("chebyshev_restart", 4, 3, 5);
/// The cost of the other ones.
pub const CHEBYSHEV_STEP: Cost = Cost::new("chebyshev_step", 5, 3, 7);

/// Factors of a [`chebyshev_step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChebyshevFactors {
    /// Of the last direction.
    pub momentum: f64,
    /// Of the scaled residual.
    pub gain: f64,
    /// Of the direction in x.
    pub weight: f64,
}

/// The input of a [`chebyshev_step`] that changes from step to step.
#[derive(Clone, Copy, Debug)]
pub enum ChebyshevInput<V> {
    /// The first step, from x = 0: the right-hand side b.
    Start(V),
    /// The first step, from another x: b and A x.
    Restart(V, V),
    /// A further step: A d of the last direction d.
    Step(V),
}

/// A step of the Chebyshev iteration, with the inverse diagonal c:
///
/// ```text
/// r = b, or b - A x, or r - A d
/// d = gain c r + momentum d, where the first step has no d
/// x = x + weight d, from x = 0 at the start
/// ```
pub fn chebyshev_step<T: Real>(
    level: SimdLevel,
    factors: ChebyshevFactors,
    (c, input): (&[T], ChebyshevInput<&[T]>),
    (r, (d, x)): (&mut [T], (&mut [T], &mut [T])),
) {
    let ChebyshevFactors {
        momentum,
        gain,
        weight,
    } = factors;
    let [momentum, gain, weight] = [momentum, gain, weight].map(T::from_f64);
    let targets = r.iter_mut().zip(d.iter_mut().zip(x.iter_mut()));
    vectorized(
        level,
        #[inline(always)]
        || match input {
            ChebyshevInput::Start(b) => {
                for ((&c, &b), (r, (d, x))) in c.iter().zip(b).zip(targets) {
                    (*r, *d) = (b, gain * (c * b));
                    *x = weight * *d;
                }
            }
            ChebyshevInput::Restart(b, ax) => {
                for ((&c, (&b, &ax)), (r, (d, x))) in c.iter().zip(b.iter().zip(ax)).zip(targets) {
                    *r = b - ax;
                    *d = gain * (c * *r);
                    *x += weight * *d;
                }
            }
            ChebyshevInput::Step(ad) => {
                for ((&c, &ad), (r, (d, x))) in c.iter().zip(ad).zip(targets) {
                    *r -= ad;
                    *d = gain * (c * *r) + momentum * *d;
                    *x += weight * *d;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_do_what_their_formulas_say() {
        let factors = ChebyshevFactors {
            momentum: 0.5,
            gain: 2.0,
            weight: 3.0,
        };
        let [c, b, q] = [0.5, 4.0, 1.0].map(|value| [value; 37]);
        for &level in SimdLevel::available() {
            let run = |input, [r, d, x]: [f64; 3]| {
                let (mut r, mut d, mut x) = ([r; 37], [d; 37], [x; 37]);
                chebyshev_step(level, factors, (&c, input), (&mut r, (&mut d, &mut x)));
                [r, d, x]
            };
            let nan = f64::NAN;
            let start = run(ChebyshevInput::Start(&b[..]), [nan; 3]);
            assert_eq!(start, [[4.0; 37], [4.0; 37], [12.0; 37]]);
            let restart = run(ChebyshevInput::Restart(&b[..], &q[..]), [nan, nan, 1.0]);
            assert_eq!(restart, [[3.0; 37], [3.0; 37], [10.0; 37]]);
            let step = run(ChebyshevInput::Step(&q[..]), [3.0, 2.0, 1.0]);
            assert_eq!(step, [[2.0; 37], [3.0; 37], [10.0; 37]]);
        }
    }
}
