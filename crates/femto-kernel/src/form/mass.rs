//! The mass form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ φ·u: the mass operator of BP1 and BP2.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mass;

impl<const D: usize, const C: usize> Form<D, C> for Mass {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        point.u
    }
}
