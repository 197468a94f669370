//! A prism, level by level of points.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes read like the formulas"
)]

use super::{HostKernel, Scratch};
use crate::family::batch::Batch;
use crate::family::fields::FieldKind;
use crate::form::{Form, Point};
use crate::scalar::Lanes;

/// The base of a prism, with the inverse of its map `[reference][x, y]`.
struct Base<L> {
    origin: [L; 2],
    edges: [[L; 2]; 2],
    inverse: [[L; 2]; 2],
    determinant: L,
    /// Coefficients of z.
    z: [L; 6],
}

/// The map at a point: slopes of the level, 1 / z_ζ.
struct At<L> {
    slopes: [L; 2],
    inverse_up: L,
}

impl<L: Lanes, F, const D: usize, const C: usize> HostKernel<L, F, D, C> {
    #[inline(always)]
    fn base(&self, geometry: &[L::Real]) -> Base<L> {
        let number = |n: usize| self.load(geometry, n);
        let edges = [[number(2), number(3)], [number(4), number(5)]];
        let [[xr, yr], [xs, ys]] = edges;
        let determinant = xr.mul_add(ys, -(xs * yr));
        let factor = determinant.constant(1.0) / determinant;
        Base {
            origin: [number(0), number(1)],
            edges,
            inverse: [[ys * factor, -(xs * factor)], [-(yr * factor), xr * factor]],
            determinant,
            z: [6, 7, 8, 9, 10, 11].map(number),
        }
    }

    /// Values and derivatives upwards at level `b`, over the nodes of the triangle.
    #[inline(always)]
    fn to_level(&self, b: usize, nodal: &[L], level: &mut [L]) {
        let [nt, nz] = self.nodes;
        let (interp, grad) = (
            &self.line.interp[b * nz..][..nz],
            &self.line.grad[b * nz..][..nz],
        );
        for (row, level) in nodal
            .chunks_exact(nt * nz)
            .zip(level.chunks_exact_mut(2 * nt))
        {
            for (t, places) in self.places.chunks_exact(nz).enumerate() {
                let (mut value, mut slope) = (self.zero(), self.zero());
                for ((&place, &v), &s) in places.iter().zip(interp).zip(grad) {
                    value = row[place].mul_add(self.splat(v), value);
                    slope = row[place].mul_add(self.splat(s), slope);
                }
                (level[t], level[nt + t]) = (value, slope);
            }
        }
    }

    /// The transpose of [`Self::to_level`], added.
    #[inline(always)]
    fn add_level(&self, b: usize, sums: &[L], out: &mut [L]) {
        let [nt, nz] = self.nodes;
        let (interp, grad) = (
            &self.line.interp[b * nz..][..nz],
            &self.line.grad[b * nz..][..nz],
        );
        for (sums, out) in sums.chunks_exact(2 * nt).zip(out.chunks_exact_mut(nt * nz)) {
            for (t, places) in self.places.chunks_exact(nz).enumerate() {
                for ((&place, &v), &s) in places.iter().zip(interp).zip(grad) {
                    let sum = sums[t].mul_add(self.splat(v), out[place]);
                    out[place] = sums[nt + t].mul_add(self.splat(s), sum);
                }
            }
        }
    }

    /// The value at point `q` of a level from values at the nodes of the triangle.
    #[inline(always)]
    fn value(&self, q: usize, values: &[L]) -> L {
        let nt = values.len();
        let mut sum = self.zero();
        for (&value, &entry) in values.iter().zip(&self.triangle.interp[q * nt..][..nt]) {
            sum = value.mul_add(self.splat(entry), sum);
        }
        sum
    }

    /// The gradient at point `q` from values and derivatives upwards, `[2][t]`.
    #[inline(always)]
    fn gradient(&self, q: usize, level: &[L], (base, at): (&Base<L>, &At<L>)) -> [L; D] {
        let (values, upwards) = level.split_at(level.len() / 2);
        let nt = values.len();
        let up = self.value(q, upwards) * at.inverse_up;
        let mut along = at.slopes.map(|slope| -(slope * up));
        let rows = self.triangle.grad[2 * q * nt..][..2 * nt].chunks_exact(2);
        for (&value, row) in values.iter().zip(rows) {
            for r in 0..2 {
                along[r] = value.mul_add(self.splat(row[r]), along[r]);
            }
        }
        let mut gradient = [up; D];
        for d in 0..2 {
            gradient[d] = along[0].mul_add(base.inverse[0][d], along[1] * base.inverse[1][d]);
        }
        gradient
    }
}

impl<L, F, const D: usize, const C: usize> HostKernel<L, F, D, C>
where
    L: Lanes,
    F: Form<D, C>,
{
    /// `out` = A `nodal`.
    #[inline(always)]
    pub(super) fn evaluate(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let zero = self.zero();
        scratch.out.fill(zero);
        for (own, &value) in scratch.parameters.iter_mut().zip(batch.context.parameters) {
            *own = zero.constant(value);
        }
        for (n, field) in self.fields.of(FieldKind::Cell).enumerate() {
            scratch.a[field] = self.load(batch.auxiliary, n);
        }
        let base = self.base(batch.geometry);
        for b in 0..self.line.weights.len() {
            self.to_level(b, &scratch.nodal, &mut scratch.level);
            scratch.sums.fill(zero);
            let zeta = self.splat(self.line.positions[b]);
            let slopes = [1, 2].map(|m| base.z[m + 3].mul_add(zeta, base.z[m]));
            for q in 0..self.triangle.weights.len() {
                self.at_point(batch, [b, q], (&base, slopes), scratch);
            }
            self.add_level(b, &scratch.sums, &mut scratch.out);
        }
    }

    /// Adds the contribution of a point to the sums of its level.
    #[inline(always)]
    fn at_point(
        &self,
        batch: &Batch<L::Real>,
        [b, q]: [usize; 2],
        (base, slopes): (&Base<L>, [L; 2]),
        scratch: &mut Scratch<L, D>,
    ) {
        let (zero, nt) = (self.zero(), self.nodes[0]);
        let [xi, eta] = [0, 1].map(|r| self.splat(self.triangle.positions[2 * q + r]));
        let z_up = eta.mul_add(base.z[5], xi.mul_add(base.z[4], base.z[3]));
        let at = At {
            slopes,
            inverse_up: z_up.constant(1.0) / z_up,
        };
        let (solution, of_fields) = scratch.level.split_at(C * 2 * nt);
        let (mut u, mut grad_u) = ([zero; C], [[zero; D]; C]);
        for (c, level) in solution.chunks_exact(2 * nt).enumerate() {
            u[c] = self.value(q, &level[..nt]);
            if self.reads_gradients {
                grad_u[c] = self.gradient(q, level, (base, &at));
            }
        }
        let nodal = self.fields.of(FieldKind::Nodal);
        for (field, level) in nodal.zip(of_fields.chunks_exact(2 * nt)) {
            scratch.a[field] = self.value(q, &level[..nt]);
            if self.field_gradients {
                scratch.grad_a[field] = self.gradient(q, level, (base, &at));
            }
        }
        let points = self.triangle.weights.len() * self.line.weights.len();
        for (n, field) in self.fields.of(FieldKind::Points).enumerate() {
            let point = n * points + b * self.triangle.weights.len() + q;
            scratch.a[field] = self.load(batch.points, point);
        }
        let zeta = self.splat(self.line.positions[b]);
        let level_z = eta.mul_add(base.z[2], xi.mul_add(base.z[1], base.z[0]));
        let mut x = [zeta.mul_add(z_up, level_z); D];
        for d in 0..2 {
            x[d] = eta.mul_add(
                base.edges[1][d],
                xi.mul_add(base.edges[0][d], base.origin[d]),
            );
        }
        let point = Point {
            u,
            grad_u,
            a: &scratch.a,
            grad_a: &scratch.grad_a,
            x,
            time: zero.constant(batch.context.time),
            parameters: &scratch.parameters,
        };
        let weight = self.splat(self.triangle.weights[q]) * self.splat(self.line.weights[b]);
        let scale = weight * base.determinant * z_up;
        let (interp, grad) = (
            &self.triangle.interp[q * nt..][..nt],
            &self.triangle.grad[2 * q * nt..][..2 * nt],
        );
        let f0 = if self.writes[0] {
            self.form.f0(&point)
        } else {
            [zero; C]
        };
        let f1 = if self.writes[1] {
            self.form.f1(&point)
        } else {
            [[zero; D]; C]
        };
        for (c, sums) in scratch.sums.chunks_exact_mut(2 * nt).enumerate() {
            let (values, upwards) = sums.split_at_mut(nt);
            let value = f0[c] * scale;
            let mut flux = slopes;
            for r in 0..2 {
                let [x, y] = base.inverse[r];
                flux[r] = x.mul_add(f1[c][0], y * f1[c][1]) * scale;
            }
            let across = slopes[0].mul_add(flux[0], slopes[1] * flux[1]);
            let up = (f1[c][D - 1] * scale - across) * at.inverse_up;
            for t in 0..nt {
                let [v, r, s] = [interp[t], grad[2 * t], grad[2 * t + 1]].map(|it| self.splat(it));
                let sum = value.mul_add(v, values[t]);
                values[t] = flux[1].mul_add(s, flux[0].mul_add(r, sum));
                upwards[t] = up.mul_add(v, upwards[t]);
            }
        }
    }
}
