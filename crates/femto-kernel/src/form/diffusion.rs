//! Poisson forms with a coefficient.

use super::{Coefficient, Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : κ ∇u: Poisson's equation with a coefficient. If κ is constant, or constant per element, it is
/// folded into stored factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diffusion<const D: usize = 3> {
    /// κ: `Coefficient::Auxiliary(0)` is the variable coefficient of Knepley, Rupp, Terrel 2016.
    pub kappa: Coefficient,
}

impl<const D: usize> Form<D> for Diffusion<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D>) -> [[S; D]; 1] {
        let kappa = self.kappa.at(point);
        let [mut flux] = point.grad_u;
        for flux in &mut flux {
            *flux = *flux * kappa;
        }
        [flux]
    }
}

/// ∫ ∇φ : κ(u) ∇u with κ(u) = κ₀ + κ₁ u + κ₂ u²: heat conduction with a temperature-dependent coefficient.
/// The Jacobian is not symmetric, because κ'(u) w ∇u is not. By default κ = 1 + u².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonlinearDiffusion<const D: usize = 3> {
    /// `[κ₀, κ₁, κ₂]`.
    pub kappa: [f64; 3],
}

impl<const D: usize> Default for NonlinearDiffusion<D> {
    fn default() -> Self {
        Self {
            kappa: [1.0, 0.0, 1.0],
        }
    }
}

impl<const D: usize> Form<D> for NonlinearDiffusion<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D>) -> [[S; D]; 1] {
        let [u] = point.u;
        let [constant, linear, square] = self.kappa;
        let kappa = (u * square + linear) * u + constant;
        let [mut flux] = point.grad_u;
        for flux in &mut flux {
            *flux = *flux * kappa;
        }
        [flux]
    }
}
