//! `f64` and `f32` as scalars.

use super::Scalar;
use core::fmt::{Debug, Display, LowerExp};
use core::iter::Sum;
use core::ops::{AddAssign, MulAssign, SubAssign};

/// A precision: `f64` or `f32`.
///
/// `Real` is the type stored in vectors; forms are evaluated over a [`Scalar`].
pub trait Real:
    Copy
    + Debug
    + Default
    + Display
    + LowerExp
    + PartialOrd
    + Send
    + Sync
    + Sum
    + AddAssign
    + SubAssign
    + MulAssign
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + core::ops::Div<Output = Self>
    + core::ops::Neg<Output = Self>
    + 'static
{
    /// The name in reports: `fp64` or `fp32`.
    const NAME: &'static str;
    /// Bytes of one number.
    const BYTES: usize;
    /// The distance from 1 to the next larger number.
    const EPSILON: f64;
    /// Rounds to this precision.
    fn from_f64(value: f64) -> Self;
    /// Widens to double precision.
    fn to_f64(self) -> f64;
}

macro_rules! real {
    ($t:ty, $name:literal) => {
        impl Real for $t {
            const NAME: &'static str = $name;
            const BYTES: usize = core::mem::size_of::<$t>();
            const EPSILON: f64 = <$t>::EPSILON as f64;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

real!(f64, "fp64");
real!(f32, "fp32");

/// Functions that a plain number has itself.
macro_rules! own {
    ($($function:ident)*) => {
        $(#[inline(always)]
        fn $function(self) -> Self {
            f64::$function(self)
        })*
    };
}

impl Scalar for f64 {
    type Mask = bool;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        f64::mul_add(self, factor, addend)
    }
    own!(sqrt abs exp ln sin cos tan sinh cosh tanh);
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        f64::powi(self, exponent)
    }
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        f64::powf(self, exponent)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}
