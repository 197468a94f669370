//! The optimised Chebyshev iteration of the fourth kind, preconditioned by the diagonal, by lines of
//! nodes (`lines`) or by elements (`schwarz.rs`).
//!
//! ```text
//! r = b - A x;  d = 4/(3 λ) M⁻¹ r;  x = x + β₁ d
//! for i = 1, 2, …: r = r - A d
//!                  d = (2i - 1)/(2i + 3) d + (8i + 4)/((2i + 3) λ) M⁻¹ r
//!                  x = x + β_{i+1} d
//! ```
//! with an upper bound λ of the eigenvalues of M⁻¹A; a lower one is not needed (Lottes, Optimal polynomial
//! smoothers for multigrid V-cycles, Numerical Linear Algebra with Applications 30, 2023, algorithm 3; Phillips
//! and Fischer, Optimal Chebyshev smoothers and one-sided V-cycles, arXiv:2210.03179). It is a polynomial of
//! M⁻¹A, so that a cycle with the same one before and after is symmetric if A is.

use super::MultigridError;
use super::cycle::{LevelMethod, LevelVectors};
use super::lanczos::largest_eigenvalue;
use super::lines::LineInverse;
use super::schwarz::Schwarz;
use crate::Number;
use crate::solve::{Jacobi, LinearOperator, OperatorError};
use crate::vector::{ChebyshevFactors, ChebyshevInput, ChebyshevStep, VectorOps};
use femto_platform::device::{Buffer, Device, DeviceError};

/// The factors β of each order, from 1 on: those that make the largest λ p²/(1 - p²) of the error polynomial
/// p on (0, 1] least (Lottes, table 1); all of its maxima are then equal.
const WEIGHTS: [&[f64]; 6] = [
    &[1.125],
    &[1.02387287570313, 1.26408905371085],
    &[1.00842544782028, 1.08867839208730, 1.33753125909618],
    &[
        1.00391310427285,
        1.04035811188593,
        1.14863498546254,
        1.38268869241000,
    ],
    &[
        1.00212930146164,
        1.02173711549260,
        1.07872433192603,
        1.19810065292663,
        1.41322542791682,
    ],
    &[
        1.00128517255940,
        1.01304293035233,
        1.04678215124113,
        1.11616489419675,
        1.23829020218444,
        1.43524297106744,
    ],
];

/// Highest order.
pub const MAX_ORDER: usize = WEIGHTS.len();

/// M⁻¹, the matrix that makes A easier to smooth.
pub(super) enum Inverse<T: Number, D: Device> {
    /// Of the diagonal.
    Diagonal(Jacobi<T, D>),
    /// Of a model on each element.
    Elements(Schwarz<T, D>),
    /// Of what couples nodes along lines.
    Lines(LineInverse<T, D>),
}

impl<T: Number, D: VectorOps<T>> Inverse<T, D> {
    /// z = M⁻¹ r; `elements` is an E-vector, or rows of lines.
    fn apply(
        &self,
        device: &D,
        (r, elements): (&D::Buffer<T>, &mut D::Buffer<T>),
        z: &mut D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        match self {
            Self::Diagonal(jacobi) => {
                device.copy(r, z)?;
                device.multiply(&jacobi.inverse, z)
            }
            Self::Elements(schwarz) => schwarz.apply(r, elements, z),
            Self::Lines(lines) => lines.apply(r, elements, z),
        }
    }

    /// Length of the vector of elements or rows of lines.
    fn scratch(&self) -> usize {
        match self {
            Self::Diagonal(_) => 0,
            Self::Elements(schwarz) => schwarz.scratch(),
            Self::Lines(lines) => lines.scratch(),
        }
    }

    /// The largest eigenvalue of M⁻¹A, from below.
    fn largest_eigenvalue(
        &self,
        device: &D,
        operator: &dyn LinearOperator<T, D>,
    ) -> Result<f64, MultigridError> {
        let mut elements = device.zeros(self.scratch())?;
        largest_eigenvalue(device, operator, |r, z| {
            self.apply(device, (r, &mut elements), z)
        })
    }
}

/// A smoother of one matrix.
pub(super) struct Smoother<T: Number, D: Device> {
    device: D,
    inverse: Inverse<T, D>,
    /// Upper bound of the eigenvalues of M⁻¹A.
    pub(super) bound: f64,
    weights: &'static [f64],
}

/// What a step starts from.
#[derive(Clone, Copy)]
enum Origin {
    /// x = 0.
    Zero,
    /// x, with the product A x.
    Guess,
    /// The step before, with the product A d.
    Step,
}

impl<T: Number, D: VectorOps<T>> Smoother<T, D> {
    /// Of this order, 1 to [`MAX_ORDER`]; the bound is an estimate times `safety`.
    pub(super) fn new(
        device: &D,
        operator: &dyn LinearOperator<T, D>,
        inverse: Inverse<T, D>,
        (order, safety): (usize, f64),
    ) -> Result<Self, MultigridError> {
        let weights = WEIGHTS.get(order.wrapping_sub(1));
        let weights = weights.ok_or(MultigridError::Order { found: order })?;
        Ok(Self {
            bound: safety * inverse.largest_eigenvalue(device, operator)?,
            device: device.clone(),
            inverse,
            weights,
        })
    }

    pub(super) fn device(&self) -> &D {
        &self.device
    }

    /// The name of M.
    pub(super) fn method(&self) -> LevelMethod {
        match &self.inverse {
            Inverse::Diagonal(_) => LevelMethod::Diagonal,
            Inverse::Elements(_) => LevelMethod::Schwarz,
            Inverse::Lines(_) => LevelMethod::Lines,
        }
    }

    /// Number of rows of its lines.
    pub(super) fn rows(&self) -> usize {
        match &self.inverse {
            Inverse::Lines(lines) => lines.scratch(),
            _ => 0,
        }
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.inverse {
            Inverse::Diagonal(jacobi) => jacobi.inverse.len() * T::BYTES,
            Inverse::Elements(schwarz) => schwarz.bytes(),
            Inverse::Lines(lines) => lines.bytes(),
        }
    }

    /// x = S b, from an initial guess of zero.
    pub(super) fn start(
        &self,
        operator: &dyn LinearOperator<T, D>,
        vectors: &mut LevelVectors<T, D>,
    ) -> Result<(), OperatorError> {
        self.step(0, Origin::Zero, vectors)?;
        self.steps(operator, vectors)
    }

    /// x = x + S (b - A x).
    pub(super) fn improve(
        &self,
        operator: &dyn LinearOperator<T, D>,
        vectors: &mut LevelVectors<T, D>,
    ) -> Result<(), OperatorError> {
        operator.apply(&vectors.x, &mut vectors.product)?;
        self.step(0, Origin::Guess, vectors)?;
        self.steps(operator, vectors)
    }

    /// All steps but the first.
    fn steps(
        &self,
        operator: &dyn LinearOperator<T, D>,
        vectors: &mut LevelVectors<T, D>,
    ) -> Result<(), OperatorError> {
        for i in 1..self.weights.len() {
            operator.apply(&vectors.d, &mut vectors.product)?;
            self.step(i, Origin::Step, vectors)?;
        }
        Ok(())
    }

    /// Step i, counted from 0.
    fn step(
        &self,
        i: usize,
        from: Origin,
        vectors: &mut LevelVectors<T, D>,
    ) -> Result<(), DeviceError> {
        match &self.inverse {
            Inverse::Diagonal(jacobi) => self.device.chebyshev_step(ChebyshevStep {
                factors: self.factors(i),
                inverse: &jacobi.inverse,
                input: match from {
                    Origin::Zero => ChebyshevInput::Start(&vectors.b),
                    Origin::Guess => ChebyshevInput::Restart(&vectors.b, &vectors.product),
                    Origin::Step => ChebyshevInput::Step(&vectors.product),
                },
                r: &mut vectors.r,
                d: &mut vectors.d,
                x: &mut vectors.x,
            }),
            inverse => self.step_by(inverse, (i, from), vectors),
        }
    }

    /// Step i with d divided by the gain, so that each change is one pass.
    fn step_by(
        &self,
        inverse: &Inverse<T, D>,
        (i, from): (usize, Origin),
        vectors: &mut LevelVectors<T, D>,
    ) -> Result<(), DeviceError> {
        let device = &self.device;
        let LevelVectors {
            b,
            x,
            r,
            d,
            product,
            elements: [_, elements],
            rows,
        } = vectors;
        let scratch = match inverse {
            Inverse::Lines(_) => rows,
            _ => elements,
        };
        let factors = self.factors(i);
        match from {
            Origin::Zero => {
                device.copy(b, r)?;
                device.fill(0.0, x)?;
            }
            Origin::Guess => {
                device.copy(b, r)?;
                device.axpy(-1.0, product, r)?;
            }
            Origin::Step => device.axpy(-self.factors(i - 1).gain, product, r)?,
        }
        match from {
            Origin::Zero | Origin::Guess => inverse.apply(device, (r, scratch), d)?,
            Origin::Step => {
                inverse.apply(device, (r, scratch), product)?;
                let before = self.factors(i - 1).gain / factors.gain;
                device.xpby(product, factors.momentum * before, d)?;
            }
        }
        device.axpy(factors.weight * factors.gain, d, x)
    }

    fn factors(&self, i: usize) -> ChebyshevFactors {
        factors(i, self.weights[i], self.bound)
    }
}

/// The factors of step i, counted from 0, for the eigenvalue bound λ.
fn factors(i: usize, weight: f64, bound: f64) -> ChebyshevFactors {
    let i = i as f64;
    ChebyshevFactors {
        momentum: (2.0 * i - 1.0) / (2.0 * i + 3.0),
        gain: (8.0 * i + 4.0) / ((2.0 * i + 3.0) * bound),
        weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// λ p²/(1 - p²) of the error polynomial p of an order.
    fn contraction(eigenvalue: f64, weights: &[f64]) -> f64 {
        let (mut r, mut d, mut x) = (1.0, 0.0, 0.0);
        for (i, &weight) in weights.iter().enumerate() {
            let factors = factors(i, weight, 1.0);
            if i > 0 {
                r -= eigenvalue * d;
            }
            d = factors.gain * r + if i > 0 { factors.momentum * d } else { 0.0 };
            x += factors.weight * d;
        }
        let p: f64 = 1.0 - eigenvalue * x;
        eigenvalue * p * p / (1.0 - p * p)
    }

    /// The optimum has as many equal maxima as the order, at 1 and inside; at 0 it has the same value.
    #[test]
    fn all_maxima_of_the_contraction_are_equal() {
        for weights in WEIGHTS {
            let points: Vec<f64> = (1..=20_000).map(|n| f64::from(n) / 20_000.0).collect();
            let values: Vec<f64> = points.iter().map(|&at| contraction(at, weights)).collect();
            let peaks = values.windows(3).filter(|v| v[1] >= v[0] && v[1] >= v[2]);
            let peaks: Vec<f64> = peaks.map(|v| v[1]).chain([values[19_999]]).collect();
            assert_eq!(peaks.len(), weights.len());
            let at_zero = contraction(1e-8, weights);
            assert!(peaks.iter().all(|peak| (peak / at_zero - 1.0).abs() < 1e-5));
        }
    }
}
