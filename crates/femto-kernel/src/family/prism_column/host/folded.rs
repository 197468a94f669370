//! λ u, κ ∇u with coefficients that are constant in each prism: they go with the map.

use super::evaluate::Base;
use super::{Folded, HostKernel, Parts, Scratch};
use crate::form::Points;
use crate::scalar::Lanes;
use femto_element::Layering;

/// What of the metric and of the coefficients is the same everywhere in a prism.
pub(super) struct Metric<'a, L> {
    /// Coefficients of z.
    pub(super) z: &'a [L; 6],
    /// With D the base's determinant: λ D and κ D.
    pub(super) mass: L,
    pub(super) upwards: L,
    /// κ D ∇ξ·∇ξ, κ D ∇η·∇η, κ D ∇ξ·∇η of the base.
    pub(super) in_plane: [L; 3],
}

impl<L: Lanes> HostKernel<L> {
    #[inline(always)]
    pub(super) fn folded(
        &self,
        folded: &Folded<L::Real>,
        base: &Base<L>,
        scratch: &mut Scratch<L>,
    ) {
        let (mass, stiffness) = match folded.constants {
            Some([mass, stiffness]) => (self.splat(mass), self.splat(stiffness)),
            None => self.coefficients(&mut scratch.points),
        };
        let upwards = stiffness * base.determinant;
        let [[xr, yr], [xs, ys]] = base.inverse;
        let metric = Metric {
            z: &base.z,
            mass: mass * base.determinant,
            upwards,
            in_plane: [
                upwards * xr.mul_add(xr, yr * yr),
                upwards * xs.mul_add(xs, ys * ys),
                upwards * xr.mul_add(xs, yr * ys),
            ],
        };
        match &folded.parts {
            Parts::Linear(sums) => match self.layering {
                Layering::Level => self.linear::<0>(sums, &metric, scratch),
                Layering::Parallel => self.linear::<1>(sums, &metric, scratch),
                Layering::Any => self.linear::<2>(sums, &metric, scratch),
            },
            Parts::Level(matrices) => self.products(matrices, &metric, scratch),
            Parts::Sloped(line) => self.sloped(line, &metric, scratch),
        }
    }

    /// λ and κ: the form at unit values and derivatives where the map is the identity.
    #[inline(always)]
    fn coefficients(&self, points: &mut Points<L, 3>) -> (L, L) {
        let (zero, one) = (self.zero(), self.zero().constant(1.0));
        points.scales[0] = one;
        for r in 0..3 {
            points.inverse[0][r] = [zero; 3];
            points.inverse[0][r][r] = one;
        }
        for (value, derivatives) in points.u.iter_mut().zip(&mut points.grad_u) {
            value[0] = one;
            for derivative in derivatives {
                derivative[0] = one;
            }
        }
        self.form.evaluate(self.token, 1, points);
        let (mass, stiffness) = (points.u[0][0], points.grad_u[0][0][0]);
        match self.wanted {
            [true, true] => (mass, stiffness),
            [true, false] => (mass, zero),
            [false, _] => (zero, stiffness),
        }
    }
}
