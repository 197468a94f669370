//! Hyperelasticity: a neo-Hookean body.

use super::elasticity::lame;
use super::{Coefficient, Form, Point};
use crate::scalar::Scalar;

/// ∫ ∇φ : P with F = I + ∇u, J = det F and P = μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ: large deformations of a
/// compressible neo-Hookean body. u and x refer to the undeformed body; in two dimensions plane strain.
///
/// P = ∂W/∂F for the energy W = μ/2 (|F|² − D − 2 ln J) + λ/2 (ln J)² (Simo and Pister 1984; Bonet and
/// Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, 2nd edition, eqs. 6.27 and 6.28), so
/// the Jacobian is symmetric; near F = I it is that of [`LinearElasticity`](super::LinearElasticity).
///
/// If J ≤ 0, that is if an element is turned inside out, P is not finite: Newton's line search then takes a
/// shorter step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeoHookean<const D: usize = 3> {
    /// λ, a stress.
    pub lambda: Coefficient,
    /// μ, the shear modulus, a stress.
    pub mu: Coefficient,
}

impl<const D: usize> NeoHookean<D> {
    /// From Young's modulus E and Poisson's ratio ν of small deformations, as
    /// [`LinearElasticity::from_young`](super::LinearElasticity::from_young).
    pub fn from_young(young: f64, poisson: f64) -> Self {
        let [lambda, mu] = lame(young, poisson).map(Coefficient::Constant);
        Self { lambda, mu }
    }

    /// P = μ F + (λ ln J − μ)/J cof F, because F⁻ᵀ = cof F / J.
    #[inline(always)]
    fn stress<S: Scalar>(
        &self,
        point: &Point<S, D, D>,
        f: &[[S; D]; D],
        cofactor: &[[S; D]; D],
    ) -> [[S; D]; D] {
        let (lambda, mu) = (self.lambda.at(point), self.mu.at(point));
        let mut j = f[0][0] * cofactor[0][0];
        for axis in 1..D {
            j = f[0][axis].mul_add(cofactor[0][axis], j);
        }
        let pressure = (lambda * j.ln() - mu) / j;
        let mut stress = *f;
        for row in 0..D {
            for axis in 0..D {
                stress[row][axis] = mu.mul_add(f[row][axis], pressure * cofactor[row][axis]);
            }
        }
        stress
    }
}

impl Form<2, 2> for NeoHookean<2> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, 2, 2>) -> [[S; 2]; 2] {
        let f = deformation(&point.grad_u);
        let cofactor = [[f[1][1], -f[1][0]], [-f[0][1], f[0][0]]];
        self.stress(point, &f, &cofactor)
    }
}

impl Form<3, 3> for NeoHookean<3> {
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, 3, 3>) -> [[S; 3]; 3] {
        let f = deformation(&point.grad_u);
        let cofactor = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])];
        self.stress(point, &f, &cofactor)
    }
}

/// F = I + ∇u.
#[inline(always)]
fn deformation<S: Scalar, const D: usize>(grad_u: &[[S; D]; D]) -> [[S; D]; D] {
    let mut f = *grad_u;
    for (axis, row) in f.iter_mut().enumerate() {
        row[axis] = row[axis] + 1.0;
    }
    f
}

/// a × b.
#[inline(always)]
fn cross<S: Scalar>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
