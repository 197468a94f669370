//! Dual numbers: a value and its derivative along one direction.

use super::Scalar;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// `value + ε slope` with ε² = 0, so that functions of it carry their exact directional derivative: a form
/// evaluated at `u + ε w` gives the action of its Jacobian on w.
///
/// At kinks the derivative is one-sided: `abs` at 0 has that of its right side, `min` and `max` of equal
/// numbers that of the second. `Dual<Dual<S>>` has second derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Dual<S> {
    /// The value.
    pub value: S,
    /// Its derivative.
    pub slope: S,
}

impl<S: Scalar> Dual<S> {
    /// A number that does not vary along the direction.
    #[inline(always)]
    pub fn fixed(value: S) -> Self {
        let slope = value.constant(0.0);
        Self { value, slope }
    }

    /// A function with value `value` and derivative `factor` at this number.
    #[inline(always)]
    fn chain(self, value: S, factor: S) -> Self {
        let slope = factor * self.slope;
        Self { value, slope }
    }

    /// This slope where the mask holds or `other` is NaN, and that of `other` elsewhere.
    #[inline(always)]
    fn slope_if(self, mask: S::Mask, other: Self) -> S {
        let slope = S::select(mask, self.slope, other.slope);
        let [zero, one] = [0.0, 1.0].map(|c| other.value.constant(c));
        // A number is less than one or greater than zero.
        let from_one = S::select(zero.less(other.value), slope, self.slope);
        S::select(other.value.less(one), slope, from_one)
    }
}

impl<S: Scalar> Add for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            slope: self.slope + other.slope,
        }
    }
}

impl<S: Scalar> Sub for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            slope: self.slope - other.slope,
        }
    }
}

impl<S: Scalar> Mul for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            slope: self.slope * other.value + self.value * other.slope,
        }
    }
}

impl<S: Scalar> Div for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self {
            value,
            slope: (self.slope - value * other.slope) / other.value,
        }
    }
}

impl<S: Scalar> Neg for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            slope: -self.slope,
        }
    }
}

macro_rules! with_constant {
    ($trait:ident, $method:ident, $op:tt, $slope:expr) => {
        impl<S: Scalar> $trait<f64> for Dual<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, constant: f64) -> Self {
                let slope: fn(S, f64) -> S = $slope;
                Self {
                    value: self.value $op constant,
                    slope: slope(self.slope, constant),
                }
            }
        }
    };
}
with_constant!(Add, add, +, |slope, _| slope);
with_constant!(Sub, sub, -, |slope, _| slope);
with_constant!(Mul, mul, *, |slope, constant| slope * constant);
with_constant!(Div, div, /, |slope, constant| slope / constant);

impl<S: Scalar> Scalar for Dual<S> {
    type Mask = S::Mask;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        Self::fixed(self.value.constant(value))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self {
            value: self.value.mul_add(factor.value, addend.value),
            slope: self
                .slope
                .mul_add(factor.value, self.value.mul_add(factor.slope, addend.slope)),
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        Self {
            value,
            slope: self.slope / (value * 2.0),
        }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let below = self.value.less(self.value.constant(0.0));
        Self {
            value: self.value.abs(),
            slope: S::select(below, -self.slope, self.slope),
        }
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let value = self.value.exp();
        self.chain(value, value)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        Self {
            value: self.value.ln(),
            slope: self.slope / self.value,
        }
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    #[inline(always)]
    fn tan(self) -> Self {
        let value = self.value.tan();
        self.chain(value, value * value + 1.0)
    }
    #[inline(always)]
    fn sinh(self) -> Self {
        self.chain(self.value.sinh(), self.value.cosh())
    }
    #[inline(always)]
    fn cosh(self) -> Self {
        self.chain(self.value.cosh(), self.value.sinh())
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let value = self.value.tanh();
        self.chain(value, -(value * value) + 1.0)
    }
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        if exponent == 0 {
            return self.constant(1.0);
        }
        let factor = self.value.powi(exponent - 1) * f64::from(exponent);
        self.chain(self.value.powi(exponent), factor)
    }
    /// The exponent's part is left out for a base ≤ 0, which has no logarithm: it is zero for a constant exponent, and for
    /// any positive one of the base 0.
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        let value = self.value.powf(exponent.value);
        let of_base = exponent.value * self.value.powf(exponent.value - 1.0) * self.slope;
        let zero = exponent.slope.constant(0.0);
        let has_logarithm = zero.less(self.value);
        let of_exponent = value * self.value.ln() * exponent.slope;
        Self {
            value,
            slope: of_base + S::select(has_logarithm, of_exponent, zero),
        }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        let is_less = self.value.less(other.value);
        Self {
            value: self.value.min(other.value),
            slope: self.slope_if(is_less, other),
        }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let is_larger = other.value.less(self.value);
        Self {
            value: self.value.max(other.value),
            slope: self.slope_if(is_larger, other),
        }
    }
    #[inline(always)]
    fn less(self, other: Self) -> S::Mask {
        self.value.less(other.value)
    }
    #[inline(always)]
    fn select(mask: S::Mask, yes: Self, no: Self) -> Self {
        Self {
            value: S::select(mask, yes.value, no.value),
            slope: S::select(mask, yes.slope, no.slope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives of every function against central differences.
    #[test]
    fn slopes_are_derivatives() {
        type Function = (&'static str, fn(Dual<f64>) -> Dual<f64>);
        let functions: [Function; 19] = [
            ("sqrt", |x| x.sqrt()),
            ("abs", |x| (-x).abs()),
            ("exp", |x| x.exp()),
            ("ln", |x| x.ln()),
            ("sin", |x| x.sin()),
            ("cos", |x| x.cos()),
            ("tan", |x| x.tan()),
            ("sinh", |x| x.sinh()),
            ("cosh", |x| x.cosh()),
            ("tanh", |x| x.tanh()),
            ("powi", |x| x.powi(5) + x.powi(-2) + x.powi(0)),
            ("powf", |x| x.powf(x)),
            ("powf of a constant", |x| (-x).powf(x.constant(2.0))),
            ("arithmetic", |x| (x * x - 1.0) / (x + 2.0) * 3.0 / 4.0 - x),
            ("min", |x| (x * x).min(x)),
            ("max", |x| (x * x).max(x)),
            ("mul_add", |x| x.mul_add(x.sin(), x.exp())),
            ("select", |x| {
                Dual::select(x.less(x.constant(1.0)), x * x, -x)
            }),
            ("constant", |x| x.constant(3.0)),
        ];
        let h = 1e-6;
        for (name, function) in functions {
            for x in [0.31, 0.77, 1.4] {
                let at = |value| function(Dual { value, slope: 0.7 }).value;
                let difference = (at(x + h) - at(x - h)) / (2.0 * h) * 0.7;
                let slope = function(Dual {
                    value: x,
                    slope: 0.7,
                })
                .slope;
                let error = (slope - difference).abs();
                assert!(
                    error < 1e-8 * (1.0 + difference.abs()),
                    "{name} at {x}: {slope}"
                );
            }
        }
    }

    /// As their values, the other one's.
    #[test]
    fn extrema_with_one_nan_have_a_slope() {
        let number = |value: f64, slope: f64| Dual { value, slope };
        let nan = number(f64::NAN, f64::NAN);
        for value in [-2.0, 0.0, 0.5, 3.0, f64::INFINITY, f64::NEG_INFINITY] {
            let a = number(value, 0.7);
            for found in [a.min(nan), a.max(nan), nan.min(a), nan.max(a)] {
                assert_eq!((found.value, found.slope), (value, 0.7));
            }
        }
    }

    #[test]
    fn nested_duals_have_second_derivatives() {
        let value = Dual {
            value: 0.6,
            slope: 1.0,
        };
        let x = Dual {
            value,
            slope: value.constant(1.0),
        };
        let second = (x.sin() * x).slope.slope;
        let expected = 2.0 * 0.6_f64.cos() - 0.6 * 0.6_f64.sin();
        assert!((second - expected).abs() < 1e-14);
    }
}
