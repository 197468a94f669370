//! Number types for forms.
//!
//! A form is one generic function; the number type decides what running it does: evaluate one point (`f64`,
//! `f32`), evaluate several elements at once (SIMD lanes), differentiate exactly ([`Dual`] over any of the
//! others), or record a graph ([`Traced`]).

mod dual;
mod precision;
mod real;
pub mod simd;
mod traced;

pub use dual::Dual;
pub use precision::Precision;
pub use real::Real;
pub(crate) use simd::{AnyLanes, ForLanes};
pub use simd::{Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
pub use traced::Traced;

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A number of a weak form.
///
/// Constants enter as `f64` on the right of an operator (`u * 2.0`) or through [`Scalar::constant`], which
/// makes a constant of the same kind as an existing value. Numbers cannot be made from nothing, because a
/// SIMD lane needs the proof that the processor supports it, and a traced symbol needs its graph.
///
/// Branches are written with a comparison and [`Scalar::select`].
pub trait Scalar:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The result of a comparison.
    type Mask: Copy;

    /// The constant `value` as a number of the same kind as `self`.
    fn constant(self, value: f64) -> Self;
    /// `self * factor + addend`, fused if the hardware supports it.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Square root; NaN below zero.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm; NaN below zero, negative infinity at zero.
    fn ln(self) -> Self;
    /// Sine of an angle in radians.
    fn sin(self) -> Self;
    /// Cosine of an angle in radians.
    fn cos(self) -> Self;
    /// Tangent of an angle in radians.
    fn tan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `self` to an integer power.
    fn powi(self, exponent: i32) -> Self;
    /// `self` to a real power; NaN for a negative base and a fractional exponent.
    fn powf(self, exponent: Self) -> Self;
    /// The smaller value; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger value; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// Whether `self < other`; false if either is NaN.
    fn less(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, otherwise `no`; both are evaluated.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}
