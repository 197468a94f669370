//! Host loops: SIMD over prisms, levels of points one after the other.
//!
//! The map of a prism is stored as 12 numbers: x and y of vertex 0 and of two edges of the base, then the coefficients
//! of z by 1, ξ, η, ζ, ξ ζ, η ζ.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes read like the formulas"
)]

use super::tables::Tables;
use crate::family::ElementOperator;
use crate::family::batch::{Batch, ElementKernel, Places, Workspace, gather_any, scatter_any};
use crate::family::fields::{FieldKind, Fields};
use crate::form::{Form, MAX_FIELDS, Point};
use crate::scalar::{Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;
use std::sync::Arc;

/// Numbers of a prism's map.
pub(super) const MAP_NUMBERS: usize = 12;

/// Packs a map, the coefficients c_m of ξ^a η^b ζ^c, m = a + 2b + 4c.
pub(super) fn pack(map: &[[f64; 3]; 8], out: &mut [f64]) {
    let base = [map[0], map[1], map[2]].map(|c| [c[0], c[1]]);
    let heights = [0, 1, 2, 4, 5, 6].map(|m: usize| map[m][2]);
    let numbers = base.into_iter().flatten().chain(heights);
    out.iter_mut()
        .zip(numbers)
        .for_each(|(out, number)| *out = number);
}

/// The kernel for a form in precision `T`.
pub(super) fn build<T, F, const D: usize, const C: usize>(
    tables: &Tables,
    operator: &ElementOperator,
    form: &F,
    level: SimdLevel,
) -> Box<dyn ElementKernel<T>>
where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    let task = Build::<T, F, D, C> {
        tables,
        operator,
        form,
        precision: PhantomData,
    };
    dispatch(level, task)
}

/// Builds the kernel once the instruction set is chosen.
struct Build<'a, T, F, const D: usize, const C: usize> {
    tables: &'a Tables,
    operator: &'a ElementOperator,
    form: &'a F,
    precision: PhantomData<T>,
}

impl<T, F, const D: usize, const C: usize> SimdTask for Build<'_, T, F, D, C>
where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let Tables {
            triangle: [nt, qt],
            line: [nz, qz],
            ..
        } = *self.tables;
        let mut rest = &self.tables.numbers[..];
        let mut take = |count: usize| -> Vec<T> {
            let (head, tail) = rest.split_at(count);
            rest = tail;
            head.iter().map(|&number| T::from_f64(number)).collect()
        };
        let of = &self.operator.inspection;
        let fields = self.operator.fields;
        let mut nodal = fields.of(FieldKind::Nodal);
        Box::new(HostKernel::<T::Lanes<S>, F, D, C> {
            token,
            identity: Arc::new(()),
            form: self.form.clone(),
            fields,
            nodal_fields: fields.count(FieldKind::Nodal),
            reads_gradients: of.reads_gradients,
            field_gradients: nodal.any(|field| of.reads_field_gradient(field)),
            writes: [of.writes_values, of.writes_gradients],
            triangle: Factor {
                interp: take(qt * nt),
                grad: take(2 * qt * nt),
                weights: take(qt),
                positions: take(2 * qt),
            },
            line: Factor {
                interp: take(qz * nz),
                grad: take(qz * nz),
                weights: take(qz),
                positions: take(qz),
            },
            places: self.tables.places.clone(),
            nodes: [nt, nz],
        })
    }
}

/// A basis at the points of its rule.
struct Factor<R> {
    /// `[point][node]`
    interp: Vec<R>,
    /// `[point][node][axis]`
    grad: Vec<R>,
    /// `[point]`
    weights: Vec<R>,
    /// `[point][axis]`
    positions: Vec<R>,
}

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes, F, const D: usize, const C: usize> {
    token: L::Token,
    /// Identifies this kernel among all others.
    identity: Arc<()>,
    form: F,
    fields: Fields,
    nodal_fields: usize,
    reads_gradients: bool,
    field_gradients: bool,
    /// Whether f0 and f1 are not zero.
    writes: [bool; 2],
    triangle: Factor<L::Real>,
    line: Factor<L::Real>,
    /// The place in the prism of each node, `[t][k]`.
    places: Vec<usize>,
    /// Nodes of the triangle and of the line.
    nodes: [usize; 2],
}

/// Scratch arrays of lanes.
struct Scratch<L, const D: usize> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// At a level of points, over the nodes of the triangle: values and derivatives upwards,
    /// `[component or field][2][t]`.
    level: Vec<L>,
    /// What is tested with values and with derivatives upwards there, `[component][2][t]`.
    sums: Vec<L>,
    /// Of a form, kept, as zeroing them takes long: `[field]`, `[field][axis]`, `[parameter]`.
    a: [L; MAX_FIELDS],
    grad_a: [[L; D]; MAX_FIELDS],
    parameters: [L; MAX_FIELDS],
    /// The identity of the kernel that the scratch was made for.
    owner: Arc<()>,
}

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
    fn splat(&self, value: L::Real) -> L {
        L::splat(self.token, value)
    }

    #[inline(always)]
    fn zero(&self) -> L {
        self.splat(L::Real::from_f64(0.0))
    }

    #[inline(always)]
    fn load(&self, packed: &[L::Real], number: usize) -> L {
        L::load(self.token, &packed[number * L::WIDTH..][..L::WIDTH])
    }

    fn count(&self) -> usize {
        self.places.len()
    }

    #[cold]
    #[inline(never)]
    fn scratch(&self) -> Scratch<L, D> {
        let (zero, rows) = (self.zero(), C + self.nodal_fields);
        Scratch {
            nodal: vec![zero; rows * self.count()],
            out: vec![zero; C * self.count()],
            level: vec![zero; rows * 2 * self.nodes[0]],
            sums: vec![zero; C * 2 * self.nodes[0]],
            a: [zero; MAX_FIELDS],
            grad_a: [[zero; D]; MAX_FIELDS],
            parameters: [zero; MAX_FIELDS],
            owner: Arc::clone(&self.identity),
        }
    }

    /// The scratch arrays inside a workspace, replaced if it belongs to another kernel.
    fn scratch_of<'a>(&self, workspace: &'a mut Workspace) -> &'a mut Scratch<L, D> {
        let is_own = |it: &Scratch<L, D>| Arc::ptr_eq(&it.owner, &self.identity);
        if !workspace.downcast_ref().is_some_and(is_own) {
            *workspace = Box::new(self.scratch());
        }
        workspace
            .downcast_mut()
            .expect("the lines above made it of this type")
    }

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
    fn evaluate(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
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

    fn places<'a>(&self, batch: &Batch<'a, L::Real>, components: usize) -> Places<'a> {
        Places {
            nodes: batch.nodes,
            elements: batch.elements,
            nodes_per_element: self.count(),
            components,
        }
    }

    /// Reads the fields in the solution's space, after the components.
    fn gather_fields(&self, batch: &Batch<L::Real>, nodal: &mut [L]) {
        if self.nodal_fields > 0 {
            let places = self.places(batch, self.nodal_fields);
            let fields = &mut nodal[C * self.count()..];
            gather_any(self.token, places, batch.nodal, fields);
        }
    }
}

impl<L, F, const D: usize, const C: usize> ElementKernel<L::Real> for HostKernel<L, F, D, C>
where
    L: Lanes,
    F: Form<D, C> + 'static,
{
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        MAP_NUMBERS * L::WIDTH
    }

    fn workspace(&self) -> Workspace {
        Box::new(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: &[L::Real],
        target: &mut [L::Real],
        workspace: &mut Workspace,
    ) {
        let scratch = self.scratch_of(workspace);
        let places = self.places(batch, C);
        gather_any(
            self.token,
            places,
            source,
            &mut scratch.nodal[..C * self.count()],
        );
        self.gather_fields(batch, &mut scratch.nodal);
        self.token.vectorize(
            #[inline(always)]
            || self.evaluate(batch, scratch),
        );
        scatter_any(self.token, places, &scratch.out, target);
    }

    /// Applies the matrices to one unit vector after the other.
    fn diagonal(&self, batch: &Batch<L::Real>, target: &mut [L::Real], workspace: &mut Workspace) {
        let scratch = self.scratch_of(workspace);
        self.gather_fields(batch, &mut scratch.nodal);
        let zero = self.zero();
        let unknowns = C * self.count();
        let mut diagonal = vec![zero; unknowns];
        scratch.nodal[..unknowns].fill(zero);
        for (n, entry) in diagonal.iter_mut().enumerate() {
            scratch.nodal[n] = zero.constant(1.0);
            self.token.vectorize(
                #[inline(always)]
                || self.evaluate(batch, scratch),
            );
            scratch.nodal[n] = zero;
            *entry = scratch.out[n];
        }
        scatter_any(self.token, self.places(batch, C), &diagonal, target);
    }
}
