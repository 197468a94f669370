//! Double-double numbers: an unevaluated sum of two f64, about 32 digits.
//!
//! T. J. Dekker, "A floating-point technique for extending the available precision", Numerische
//! Mathematik 18 (1971); the operations are those of Y. Hida, X. S. Li and D. H. Bailey,
//! "Algorithms for quad-double precision floating point arithmetic" (ARITH 2001).

use std::ops::{Add, Div, Mul, Sub};

/// The number `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// The nearest f64.
    pub(super) fn round(self) -> f64 {
        self.high
    }

    /// `a + b` as a double-double, for `|a| >= |b|`.
    fn quick_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self {
            high,
            low: b - (high - a),
        }
    }

    /// `a + b` without error (Knuth's two-sum).
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_rounded = high - a;
        let low = (a - (high - b_rounded)) + (b - b_rounded);
        Self { high, low }
    }

    /// `a b` without error.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self {
            high,
            low: a.mul_add(b, -high),
        }
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let partial = Self::quick_sum(high.high, high.low + low.high);
        Self::quick_sum(partial.high, partial.low + low.low)
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self {
            high: -other.high,
            low: -other.low,
        }
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let low = product.low + (self.high * other.low + self.low * other.high);
        Self::quick_sum(product.high, low)
    }
}

impl Div for Double {
    type Output = Self;
    /// Long division with three partial quotients.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let remainder = self - other * Self::from(first);
        let second = remainder.high / other.high;
        let remainder = remainder - other * Self::from(second);
        let third = remainder.high / other.high;
        Self::quick_sum(first, second) + Self::from(third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_add_up_to_one_beyond_f64() {
        let third = Double::from(1.0) / Double::from(3.0);
        assert!(third.low != 0.0);
        let defect = third + third + third - Double::from(1.0);
        assert!(defect.round().abs() < 1e-31, "{defect:?}");
        let defect = third * Double::from(3.0) - Double::from(1.0);
        assert!(defect.round().abs() < 1e-31, "{defect:?}");
    }

    #[test]
    fn cancellation_keeps_the_low_part() {
        let tiny = Double::from(1e-25);
        let sum = Double::from(1.0) + tiny;
        assert_eq!((sum - Double::from(1.0)).round(), 1e-25);
    }
}
