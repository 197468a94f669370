//! The screened Poisson form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ λ φ·u + ∇φ : ∇u, the operator of Świrydowicz et al. 2019 (eq. 1), also called Helmholtz.
#[derive(Clone, Copy, Debug)]
pub struct ScreenedPoisson<const D: usize = 3> {
    /// λ if it is constant; `None` reads auxiliary field 0, given to the operator per element.
    pub lambda: Option<f64>,
}

impl<const D: usize> Form<D> for ScreenedPoisson<D> {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D>) -> [S; 1] {
        match self.lambda {
            Some(lambda) => point.u.map(|u| u * lambda),
            None => point.u.map(|u| u * point.a[0]),
        }
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D>) -> [[S; D]; 1] {
        point.grad_u
    }
}
