//! A number that remembers its origin.

use super::MAX_FIELDS;
use crate::scalar::Scalar;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// Inputs that a value depends on, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Inputs(u32);

impl Inputs {
    pub(super) const U: Self = Self(1);
    pub(super) const GRAD_U: Self = Self(2);
    pub(super) const POSITION: Self = Self(4);
    pub(super) const TIME: Self = Self(8);
    pub(super) const AUXILIARY: Self = Self(0xff << 8);
    pub(super) const PARAMETER: Self = Self(0xff << 16);

    /// Bit `index` of a set of [`MAX_FIELDS`].
    pub(super) fn field(set: Self, index: usize) -> Self {
        Self(1 << (set.0.trailing_zeros() as usize + index))
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// How many of a set's fields must exist for these inputs to.
    pub(super) fn fields(self, set: Self) -> usize {
        (0..MAX_FIELDS)
            .rev()
            .find(|&i| self.has(Self::field(set, i)))
            .map_or(0, |i| i + 1)
    }

    /// Whether the value depends on the solution.
    pub(super) fn solution(self) -> bool {
        self.has(Self::U) || self.has(Self::GRAD_U)
    }
}

/// A number that remembers its origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    pub(super) inputs: Inputs,
    /// Exactly zero, whatever the inputs.
    pub(super) zero: bool,
    /// Homogeneous of degree one in the solution (or independent of it).
    pub(super) linear: bool,
}

impl Trail {
    pub(super) const fn input(inputs: Inputs) -> Self {
        Self {
            inputs,
            zero: false,
            linear: true,
        }
    }

    fn of_constant(value: f64) -> Self {
        Self {
            inputs: Inputs(0),
            zero: value == 0.0,
            linear: true,
        }
    }

    /// A function that is not linear.
    fn bent(self, other: Self) -> Self {
        let inputs = self.inputs.or(other.inputs);
        Self {
            inputs,
            zero: false,
            linear: !inputs.solution(),
        }
    }

    fn sum(self, other: Self) -> Self {
        if self.zero {
            return other;
        }
        if other.zero {
            return self;
        }
        // A sum of a term with and a term without the solution is affine, not linear.
        let linear =
            self.linear && other.linear && self.inputs.solution() == other.inputs.solution();
        Self {
            inputs: self.inputs.or(other.inputs),
            zero: false,
            linear,
        }
    }

    fn product(self, other: Self) -> Self {
        let linear =
            self.linear && other.linear && !(self.inputs.solution() && other.inputs.solution());
        Self {
            inputs: self.inputs.or(other.inputs),
            zero: self.zero || other.zero,
            linear,
        }
    }
}

impl Add for Trail {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.sum(other)
    }
}
impl Sub for Trail {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.sum(other)
    }
}
impl Mul for Trail {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.product(other)
    }
}
impl Div for Trail {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        if other.inputs.solution() {
            return self.bent(other);
        }
        Self {
            zero: self.zero,
            ..self.product(other)
        }
    }
}
impl Neg for Trail {
    type Output = Self;
    fn neg(self) -> Self {
        self
    }
}
impl Add<f64> for Trail {
    type Output = Self;
    fn add(self, constant: f64) -> Self {
        self.sum(Self::of_constant(constant))
    }
}
impl Sub<f64> for Trail {
    type Output = Self;
    fn sub(self, constant: f64) -> Self {
        self.sum(Self::of_constant(constant))
    }
}
impl Mul<f64> for Trail {
    type Output = Self;
    fn mul(self, constant: f64) -> Self {
        self.product(Self::of_constant(constant))
    }
}
impl Div<f64> for Trail {
    type Output = Self;
    fn div(self, constant: f64) -> Self {
        let _ = constant;
        self
    }
}

impl Scalar for Trail {
    /// What both sides of the comparison depend on.
    type Mask = Trail;

    fn constant(self, value: f64) -> Self {
        Self::of_constant(value)
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    fn sqrt(self) -> Self {
        self.bent(self)
    }
    fn abs(self) -> Self {
        self.bent(self)
    }
    fn exp(self) -> Self {
        self.bent(self)
    }
    fn ln(self) -> Self {
        self.bent(self)
    }
    fn sin(self) -> Self {
        self.bent(self)
    }
    fn cos(self) -> Self {
        self.bent(self)
    }
    fn tan(self) -> Self {
        self.bent(self)
    }
    fn sinh(self) -> Self {
        self.bent(self)
    }
    fn cosh(self) -> Self {
        self.bent(self)
    }
    fn tanh(self) -> Self {
        self.bent(self)
    }
    fn powi(self, exponent: i32) -> Self {
        if exponent == 1 { self } else { self.bent(self) }
    }
    fn powf(self, exponent: Self) -> Self {
        self.bent(exponent)
    }
    fn min(self, other: Self) -> Self {
        self.bent(other)
    }
    fn max(self, other: Self) -> Self {
        self.bent(other)
    }
    fn less(self, other: Self) -> Trail {
        self.bent(other)
    }
    fn select(mask: Trail, yes: Self, no: Self) -> Self {
        let both = Self {
            zero: yes.zero && no.zero,
            ..yes.sum(no)
        };
        let linear = both.linear && !mask.inputs.solution();
        Self {
            inputs: both.inputs.or(mask.inputs),
            linear,
            ..both
        }
    }
}
