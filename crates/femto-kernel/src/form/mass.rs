//! The mass form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ φ·u: the mass operator of BP1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mass<const D: usize = 3>;

impl<const D: usize> Form<D> for Mass<D> {
    const VALUES_ONLY: bool = true;

    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D>) -> [S; 1] {
        point.u
    }
}
