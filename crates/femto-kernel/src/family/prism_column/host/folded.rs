//! λ u, κ ∇u with coefficients that are constant in each prism: they go with the map.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over nodes read like the formulas"
)]

use super::evaluate::Base;
use super::{Folded, HostKernel, Scratch};
use crate::form::Points;
use crate::scalar::Lanes;

/// What of the metric and of the coefficients is the same everywhere in a prism.
pub(super) struct Metric<L> {
    /// Coefficients of z.
    pub(super) z: [L; 6],
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
            z: base.z,
            mass: mass * base.determinant,
            upwards,
            in_plane: [
                upwards * xr.mul_add(xr, yr * yr),
                upwards * xs.mul_add(xs, ys * ys),
                upwards * xr.mul_add(xs, yr * ys),
            ],
        };
        match (&folded.matrices, self.nodes) {
            // Of degree 1 with loops of known lengths.
            (Some(matrices), [3, 2]) => self.products(matrices, [3, 2], &metric, scratch),
            (Some(matrices), nodes) => self.products(matrices, nodes, &metric, scratch),
            (None, _) => self.linear(&metric, scratch),
        }
    }

    /// Degree 1, at points, level by level.
    #[inline(always)]
    fn linear(&self, metric: &Metric<L>, scratch: &mut Scratch<L>) {
        let zero = self.zero();
        let places: &[usize; 6] = self.places.as_slice().try_into().expect("six nodes");
        scratch.out.fill(zero);
        for number in 0..self.line.weights.len() {
            let zeta = self.splat(self.line.positions[number]);
            let slopes = [
                metric.z[4].mul_add(zeta, metric.z[1]),
                metric.z[5].mul_add(zeta, metric.z[2]),
            ];
            for (q, numbers) in scratch.scales.chunks_exact_mut(2).enumerate() {
                let [xi, eta] = self.in_triangle(q);
                let z_up = eta.mul_add(metric.z[5], xi.mul_add(metric.z[4], metric.z[3]));
                let weight = self.splat(self.line.weights[number] * self.weights[q]);
                (numbers[0], numbers[1]) = (z_up * weight, z_up.constant(1.0) / z_up);
            }
            let (interp, grad) = (
                &self.line.interp[2 * number..],
                &self.line.grad[2 * number..],
            );
            let interp = [self.splat(interp[0]), self.splat(interp[1])];
            let grad = [self.splat(grad[0]), self.splat(grad[1])];
            let rows = scratch
                .nodal
                .chunks_exact(6)
                .zip(scratch.out.chunks_exact_mut(6));
            for (row, out) in rows {
                let (mut u, mut w) = ([zero; 3], [zero; 3]);
                for t in 0..3 {
                    let (low, high) = (row[places[2 * t]], row[places[2 * t + 1]]);
                    u[t] = high.mul_add(interp[1], low * interp[0]);
                    w[t] = high.mul_add(grad[1], low * grad[0]);
                }
                let (tested, upwards) = self.linear_level(metric, slopes, (u, w), &scratch.scales);
                for t in 0..3 {
                    for k in 0..2 {
                        let place = places[2 * t + k];
                        let sum = tested[t].mul_add(interp[k], out[place]);
                        out[place] = upwards[t].mul_add(grad[k], sum);
                    }
                }
            }
        }
    }

    /// What is tested with values and with derivatives upwards over the vertices of the triangle, from values and derivatives
    /// upwards there. Derivatives along the triangle are the same everywhere on the level, the others linear:
    /// a_r = ∂u/∂ξ_r - z_r u_z, u_z = (∂u/∂ζ) / z_ζ; f_r = w z_ζ κ D Σ ∇ξ_r·∇ξ_s a_s, f_z = (w z_ζ κ D u_z - Σ z_r f_r) / z_ζ.
    #[inline(always)]
    fn linear_level(
        &self,
        metric: &Metric<L>,
        [z_xi, z_eta]: [L; 2],
        (u, w): ([L; 3], [L; 3]),
        scales: &[L],
    ) -> ([L; 3], [L; 3]) {
        let zero = self.zero();
        let [values, gradients] = self.wanted;
        let [of_xi, of_eta, mixed] = metric.in_plane;
        let (u_xi, u_eta) = (u[1] - u[0], u[2] - u[0]);
        let (w_xi, w_eta) = (w[1] - w[0], w[2] - w[0]);
        // Tested with 1, ξ, η; with derivatives along ξ and η.
        let (mut tested, mut upwards, mut along) = ([zero; 3], [zero; 3], [zero; 2]);
        for (q, numbers) in scales.chunks_exact(2).enumerate() {
            let [xi, eta] = self.in_triangle(q);
            let (scale, inverse) = (numbers[0], numbers[1]);
            if gradients {
                let up = inverse * eta.mul_add(w_eta, xi.mul_add(w_xi, w[0]));
                let a_xi = u_xi - z_xi * up;
                let a_eta = u_eta - z_eta * up;
                let f_xi = scale * of_xi.mul_add(a_xi, mixed * a_eta);
                let f_eta = scale * mixed.mul_add(a_xi, of_eta * a_eta);
                let slopes = z_xi.mul_add(f_xi, z_eta * f_eta);
                let up = inverse * (scale * metric.upwards).mul_add(up, -slopes);
                along = [along[0] + f_xi, along[1] + f_eta];
                upwards = [
                    upwards[0] + up,
                    up.mul_add(xi, upwards[1]),
                    up.mul_add(eta, upwards[2]),
                ];
            }
            if values {
                let value = eta.mul_add(u_eta, xi.mul_add(u_xi, u[0]));
                let value = scale * metric.mass * value;
                tested = [
                    tested[0] + value,
                    value.mul_add(xi, tested[1]),
                    value.mul_add(eta, tested[2]),
                ];
            }
        }
        let [all, xi, eta] = [tested[0], tested[1] + along[0], tested[2] + along[1]];
        let tested = [all - xi - eta, xi, eta];
        let [all, xi, eta] = upwards;
        (tested, [all - xi - eta, xi, eta])
    }

    /// ξ and η of a point of the triangle's rule.
    #[inline(always)]
    fn in_triangle(&self, q: usize) -> [L; 2] {
        [
            self.splat(self.positions[2 * q]),
            self.splat(self.positions[2 * q + 1]),
        ]
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
