//! Linear elasticity.

use super::{Coefficient, Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : σ with σ = λ tr(ε) I + 2 μ ε and ε = ½(∇u + ∇uᵀ): small deformations of an isotropic body
/// with Lamé's parameters. In two dimensions plane strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearElasticity<const D: usize = 3> {
    /// λ, a stress.
    pub lambda: Coefficient,
    /// μ, the shear modulus, a stress.
    pub mu: Coefficient,
}

impl<const D: usize> LinearElasticity<D> {
    /// From Young's modulus E and Poisson's ratio ν: λ = E ν / ((1 + ν)(1 − 2ν)), μ = E / (2 (1 + ν)).
    /// E > 0 and −1 < ν < ½ make the form positive.
    pub fn from_young(young: f64, poisson: f64) -> Self {
        let [lambda, mu] = lame(young, poisson).map(Coefficient::Constant);
        Self { lambda, mu }
    }
}

/// Lamé's λ and μ from Young's modulus and Poisson's ratio.
pub(super) fn lame(young: f64, poisson: f64) -> [f64; 2] {
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    [lambda, young / (2.0 * (1.0 + poisson))]
}

impl<const D: usize> Form<D, D> for LinearElasticity<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, D>) -> [[S; D]; D] {
        let (lambda, mu) = (self.lambda.at(point), self.mu.at(point));
        let grad_u = point.grad_u;
        let mut trace = point.constant(0.0);
        for axis in 0..D {
            trace = trace + grad_u[axis][axis];
        }
        let pressure = lambda * trace;
        let mut stress = grad_u;
        for i in 0..D {
            for j in 0..D {
                stress[i][j] = mu * (grad_u[i][j] + grad_u[j][i]);
            }
            stress[i][i] = stress[i][i] + pressure;
        }
        stress
    }
}

/// ∫ ∇φ : ½(∇u + ∇uᵀ): the elasticity of Knepley, Rupp, Terrel 2016 (listing of `f1_elasticity`), which is
/// [`LinearElasticity`] with λ = 0 and μ = ½.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymmetricGradient<const D: usize = 3>;

impl<const D: usize> Form<D, D> for SymmetricGradient<D> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, D>) -> [[S; D]; D] {
        let mut strain = point.grad_u;
        for i in 0..D {
            for j in 0..D {
                strain[i][j] = (point.grad_u[i][j] + point.grad_u[j][i]) * 0.5;
            }
        }
        strain
    }
}
