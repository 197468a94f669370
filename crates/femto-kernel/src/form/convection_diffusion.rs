//! The convection-diffusion form.

use super::{Coefficient, Form, Point};
use crate::scalar::Scalar;

/// ∫ φ (b·∇u) + ∇φ : κ ∇u: diffusion with κ and transport with velocity b. Not symmetric: solve it with
/// GMRES. Not stabilised: |b| h / (2 κ) should not be far above one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvectionDiffusion<const D: usize> {
    /// κ.
    pub kappa: Coefficient,
    /// b, `[axis]`: for a velocity given by fields,
    /// `[Coefficient::Auxiliary(0), Coefficient::Auxiliary(1), …]`.
    pub velocity: [Coefficient; D],
}

impl<const D: usize> Form<D> for ConvectionDiffusion<D> {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D>) -> [S; 1] {
        let [grad_u] = point.grad_u;
        let mut carried = point.constant(0.0);
        for (velocity, slope) in self.velocity.iter().zip(grad_u) {
            carried = velocity.at(point).mul_add(slope, carried);
        }
        [carried]
    }

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
