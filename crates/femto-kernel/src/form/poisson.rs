//! The Poisson form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : ∇u: the stiffness operator of BP3 and BP5.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson<const D: usize = 3>;

impl<const D: usize> Form<D> for Poisson<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D>) -> [[S; D]; 1] {
        point.grad_u
    }
}
