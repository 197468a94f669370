//! A prism, level by level of points.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes read like the formulas"
)]

use super::{HostKernel, Scratch, map_numbers};
use crate::family::batch::{Batch, Matrices, PointMatrix, chunks};
use crate::family::fields::FieldKind;
use crate::form::{AtPoints, MOST_POINTS, Points};
use crate::scalar::Lanes;
use core::ops::Range;
use fearless_simd::Simd;
use femto_element::Layering;

/// The base of a prism.
pub(super) struct Base<L> {
    /// Zero unless positions are read.
    origin: [L; 2],
    edges: [[L; 2]; 2],
    /// Of its map, `[reference][x, y]`; zero unless gradients are read or tested with.
    pub(super) inverse: [[L; 2]; 2],
    pub(super) determinant: L,
    /// Coefficients of z; zero where they are not stored.
    pub(super) z: [L; 6],
}

/// A level of points.
struct Level<L> {
    number: usize,
    zeta: L,
    /// −∂z/∂x and −∂z/∂y of the surface of equal ζ.
    rise: [L; 2],
    /// The weight times the determinant of the base.
    scale: L,
}

impl<L: Lanes> HostKernel<L> {
    #[inline(always)]
    fn base(&self, geometry: &[L::Real]) -> Base<L> {
        let number = |n: usize| self.load(geometry, n);
        let zero = self.zero();
        let edges = [[number(0), number(1)], [number(2), number(3)]];
        let [[xr, yr], [xs, ys]] = edges;
        let determinant = xr.mul_add(ys, -(xs * yr));
        let mut inverse = [[zero; 2]; 2];
        if self.gradients {
            let factor = determinant.constant(1.0) / determinant;
            inverse = [[ys * factor, -(xs * factor)], [-(yr * factor), xr * factor]];
        }
        let mut z = [zero, zero, zero, number(4), zero, zero];
        if self.layering != Layering::Level {
            (z[1], z[2]) = (number(5), number(6));
        }
        if !self.layering.is_parallel() {
            (z[4], z[5]) = (number(7), number(8));
        }
        let mut origin = [zero; 2];
        if self.position {
            let first = map_numbers(self.layering);
            origin = [number(first), number(first + 1)];
            z[0] = number(first + 2);
        }
        Base {
            origin,
            edges,
            inverse,
            determinant,
            z,
        }
    }

    /// Values and derivatives upwards at a level, over the nodes of the triangle.
    #[inline(always)]
    fn to_level(&self, number: usize, nodal: &[L], level: &mut [L]) {
        let [nt, nz] = self.nodes;
        let interp = &self.line.interp[number * nz..][..nz];
        let grad = &self.line.grad[number * nz..][..nz];
        let rows = nodal.chunks_exact(nt * nz);
        for (row, level) in rows.zip(level.chunks_exact_mut(2 * nt)) {
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
    fn add_level(&self, number: usize, sums: &[L], out: &mut [L]) {
        let [nt, nz] = self.nodes;
        let interp = &self.line.interp[number * nz..][..nz];
        let grad = &self.line.grad[number * nz..][..nz];
        for (sums, out) in sums.chunks_exact(2 * nt).zip(out.chunks_exact_mut(nt * nz)) {
            for (t, places) in self.places.chunks_exact(nz).enumerate() {
                for ((&place, &v), &s) in places.iter().zip(interp).zip(grad) {
                    let sum = sums[t].mul_add(self.splat(v), out[place]);
                    out[place] = sums[nt + t].mul_add(self.splat(s), sum);
                }
            }
        }
    }

    /// `out` = A `nodal`.
    pub(super) fn evaluate(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L>) {
        self.token.vectorize(
            #[inline(always)]
            || self.prisms(batch, scratch),
        );
    }

    #[inline(always)]
    fn prisms(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L>) {
        let zero = self.zero();
        let context = batch.context;
        scratch.points.set_context(context.time, context.parameters);
        for (n, field) in self.fields.of(FieldKind::Cell).enumerate() {
            scratch.points.a[field] = [self.load(batch.auxiliary, n); MOST_POINTS];
        }
        let base = self.base(batch.geometry);
        if let Some(folded) = &self.folded {
            return self.folded(folded, &base, scratch);
        }
        scratch.out.fill(zero);
        if let Some(matrices) = &self.whole {
            return self.whole_prisms(matrices, batch, &base, scratch);
        }
        for number in 0..self.line.weights.len() {
            let level = self.at_level(number, &base);
            self.to_level(number, &scratch.nodal, &mut scratch.level);
            scratch.sums.fill(zero);
            for chunk in chunks(self.weights.len()) {
                for (p, q) in chunk.clone().enumerate() {
                    self.set_point(batch, (&base, &level), (q, p), &mut scratch.points);
                }
                self.level(&chunk, scratch);
            }
            self.add_level(number, &scratch.sums, &mut scratch.out);
        }
    }

    #[inline(always)]
    fn at_level(&self, number: usize, base: &Base<L>) -> Level<L> {
        let zeta = self.splat(self.line.positions[number]);
        let slopes = match self.layering.is_parallel() {
            true => [base.z[1], base.z[2]],
            false => [1, 2].map(|n| base.z[n + 3].mul_add(zeta, base.z[n])),
        };
        let ([xr, yr], [xs, ys]) = (base.inverse[0], base.inverse[1]);
        Level {
            number,
            zeta,
            rise: [
                -slopes[0].mul_add(xr, slopes[1] * xs),
                -slopes[0].mul_add(yr, slopes[1] * ys),
            ],
            scale: base.determinant * self.splat(self.line.weights[number]),
        }
    }

    /// Sets the map at place `p`, for point `q` of a level, the position, and the fields at the points.
    #[inline(always)]
    fn set_point(
        &self,
        batch: &Batch<L::Real>,
        (base, level): (&Base<L>, &Level<L>),
        (q, p): (usize, usize),
        points: &mut Points<L, 3>,
    ) {
        let xi = self.splat(self.positions[2 * q]);
        let eta = self.splat(self.positions[2 * q + 1]);
        let z_up = match self.layering.is_parallel() {
            true => base.z[3],
            false => eta.mul_add(base.z[5], xi.mul_add(base.z[4], base.z[3])),
        };
        points.scales[p] = level.scale * self.splat(self.weights[q]) * z_up;
        if self.gradients && (p == 0 || !self.layering.is_parallel()) {
            // Rows of J⁻¹ are gradients of the reference coordinates.
            let up = z_up.constant(1.0) / z_up;
            for r in 0..2 {
                for d in 0..2 {
                    points.inverse[p][r][d] = base.inverse[r][d];
                }
                points.inverse[p][2][r] = level.rise[r] * up;
            }
            points.inverse[p][2][2] = up;
        }
        if self.position {
            let of_level = eta.mul_add(base.z[2], xi.mul_add(base.z[1], base.z[0]));
            points.x[2][p] = level.zeta.mul_add(z_up, of_level);
            for d in 0..2 {
                let along = xi.mul_add(base.edges[0][d], base.origin[d]);
                points.x[d][p] = eta.mul_add(base.edges[1][d], along);
            }
        }
        for (n, field) in self.fields.of(FieldKind::Points).enumerate() {
            let levels = self.line.weights.len();
            let place = (n * levels + level.number) * self.weights.len() + q;
            points.a[field][p] = self.load(batch.points, place);
        }
    }

    /// Few nodes: matrices of the whole prism.
    #[inline(always)]
    fn whole_prisms(
        &self,
        matrices: &Matrices<L::Real>,
        batch: &Batch<L::Real>,
        base: &Base<L>,
        scratch: &mut Scratch<L>,
    ) {
        let (mut number, mut q) = (0, 0);
        let mut level = self.at_level(number, base);
        for chunk in chunks(self.weights.len() * self.line.weights.len()) {
            let points = &mut scratch.points;
            for p in 0..chunk.len() {
                if q == self.weights.len() {
                    (number, q) = (number + 1, 0);
                    level = self.at_level(number, base);
                }
                self.set_point(batch, (base, &level), (q, p), points);
                q += 1;
            }
            let nodal = scratch.nodal.chunks_exact(self.count());
            let nodal = nodal.map(|values| (values, None));
            let all = (&*matrices.solution, &*matrices.fields);
            self.inputs(&chunk, all, nodal, points);
            self.form.evaluate(self.token, chunk.len(), points);
            for (c, out) in scratch.out.chunks_exact_mut(self.count()).enumerate() {
                let values = self.wanted[0].then_some(&points.u[c]);
                let coefficients = (values, &points.grad_u[c][..]);
                let test = &matrices.test;
                test.add_to_nodes(self.token, &chunk, coefficients, out, &mut []);
            }
        }
    }

    /// The points of a level: values and derivatives upwards at the nodes of the triangle, then in the plane.
    #[inline(always)]
    fn level(&self, chunk: &Range<usize>, scratch: &mut Scratch<L>) {
        let Scratch {
            points,
            level,
            sums,
            ..
        } = scratch;
        let nodal = level.chunks_exact(2 * self.nodes[0]);
        let nodal = nodal.map(|nodal| {
            let (values, slopes) = nodal.split_at(self.nodes[0]);
            (values, Some(slopes))
        });
        let all = (&*self.matrices.solution, &*self.matrices.fields);
        self.inputs(chunk, all, nodal, points);
        self.form.evaluate(self.token, chunk.len(), points);
        let own = points.u.iter().zip(&points.grad_u);
        for ((values, fluxes), sums) in own.zip(sums.chunks_exact_mut(2 * self.nodes[0])) {
            let (nodal, slopes) = sums.split_at_mut(self.nodes[0]);
            let (in_plane, upwards) = fluxes.split_at(2);
            let values = self.wanted[0].then_some(values);
            let test = &self.matrices.test;
            test.add_to_nodes(self.token, chunk, (values, in_plane), nodal, &mut []);
            if self.wanted[1] {
                let upwards = (upwards.first(), &[][..]);
                self.upwards
                    .add_to_nodes(self.token, chunk, upwards, slopes, &mut []);
            }
        }
    }

    /// Values and derivatives of the solution, and of fields in its space, at a chunk's points. `nodal` are values at the
    /// nodes of the prism, or values and derivatives upwards at those of the triangle.
    #[inline(always)]
    fn inputs<'a>(
        &self,
        chunk: &Range<usize>,
        (solution, of_fields): (&PointMatrix<L::Real>, &PointMatrix<L::Real>),
        mut nodal: impl Iterator<Item = (&'a [L], Option<&'a [L]>)>,
        points: &mut Points<L, 3>,
    ) {
        let own = points.u.iter_mut().zip(&mut points.grad_u);
        for (out, nodal) in own.zip(&mut nodal) {
            self.to_points(chunk, (solution, self.read), nodal, out);
        }
        for (field, nodal) in self.fields.of(FieldKind::Nodal).zip(nodal) {
            let out = (&mut points.a[field], &mut points.grad_a[field]);
            self.to_points(chunk, (of_fields, self.of_fields), nodal, out);
            if self.of_fields[1] {
                points.set_gradients(field, chunk.len());
            }
        }
    }

    #[inline(always)]
    fn to_points(
        &self,
        chunk: &Range<usize>,
        (matrix, read): (&PointMatrix<L::Real>, [bool; 2]),
        (nodal, slopes): (&[L], Option<&[L]>),
        (values, derivatives): (&mut AtPoints<L>, &mut [AtPoints<L>; 3]),
    ) {
        let values = read[0].then_some(values);
        let axes = if slopes.is_some() { 2 } else { 3 };
        matrix.to_points(
            self.token,
            chunk,
            nodal,
            values,
            &mut derivatives[..axes],
            &mut [],
        );
        if let Some(slopes) = slopes.filter(|_| read[1]) {
            let upwards = derivatives.last_mut();
            self.upwards
                .to_points(self.token, chunk, slopes, upwards, &mut [], &mut []);
        }
    }
}
