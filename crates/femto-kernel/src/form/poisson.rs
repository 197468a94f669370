//! The Poisson form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : ∇u: the stiffness operator of BP3 to BP6.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson;

impl<const D: usize, const C: usize> Form<D, C> for Poisson {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        point.grad_u
    }
}
