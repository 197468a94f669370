//! Coefficients of ready-made forms: constants, auxiliary fields, parameters.

use super::Point;
use crate::scalar::Scalar;

/// A coefficient of a ready-made form (a conductivity, a modulus, a velocity), and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    /// A constant.
    Constant(f64),
    /// The auxiliary field with this index, below [`MAX_FIELDS`](super::MAX_FIELDS).
    Auxiliary(usize),
    /// The run-time parameter with this index, below [`MAX_FIELDS`](super::MAX_FIELDS).
    Parameter(usize),
}

impl Coefficient {
    /// The value at a point.
    #[inline(always)]
    pub fn at<S: Scalar, const D: usize, const C: usize>(self, point: &Point<S, D, C>) -> S {
        match self {
            Self::Constant(value) => point.constant(value),
            Self::Auxiliary(index) => point.a[index],
            Self::Parameter(index) => point.parameters[index],
        }
    }
}

impl From<f64> for Coefficient {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}
