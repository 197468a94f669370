//! The p-Laplacian form.

use super::{Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : (ε² + |∇u|²)^((p−2)/2) ∇u, the derivative of the energy ∫ (ε² + |∇u|²)^(p/2) / p, which is
/// convex for p > 1; so the Jacobian is symmetric and positive definite.
///
/// Where ε = 0 and ∇u = 0, f1 or its derivative does not exist for p < 2, and the Jacobian vanishes for p >
/// 2: hence ε, in the units of ∇u, small compared with the relevant gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PLaplacian<const D: usize = 3> {
    /// p.
    pub p: f64,
    /// ε.
    pub epsilon: f64,
}

impl<const D: usize> Form<D> for PLaplacian<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D>) -> [[S; D]; 1] {
        let [mut flux] = point.grad_u;
        let mut square = point.constant(self.epsilon * self.epsilon);
        for slope in flux {
            square = slope.mul_add(slope, square);
        }
        let kappa = power(square, (self.p - 2.0) / 2.0);
        for flux in &mut flux {
            *flux = *flux * kappa;
        }
        [flux]
    }
}

/// A power: by multiplications if the exponent is a small integer, which is faster.
#[inline(always)]
fn power<S: Scalar>(base: S, exponent: f64) -> S {
    let integer = exponent as i32;
    if f64::from(integer) == exponent && integer.abs() <= 8 {
        base.powi(integer)
    } else {
        base.powf(base.constant(exponent))
    }
}
