//! The mass form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ φ·u: the mass operator of BP1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mass;

impl<const D: usize> Form<D> for Mass {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D>) -> [S; 1] {
        point.u
    }
}
