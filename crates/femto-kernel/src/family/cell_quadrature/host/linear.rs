//! Affine simplices of degree 1, where the form is the inner loop: compiled for each form as a whole.
//!
//! Gradients are constant in the cell, and fluxes are summed before they are tested. All loops except that over points
//! have lengths known at compile time.

use super::{HostKernel, Scratch};
use crate::family::batch::{Batch, gather, scatter};
use crate::family::cell_quadrature::FieldKind;
use crate::form::{Form, Point, physical, reference};
use crate::scalar::Lanes;
use fearless_simd::Simd;

/// A form on affine simplices of degree 1.
pub(super) trait LinearForm<L: Lanes, const D: usize>: Send + Sync {
    /// As [`ElementKernel::apply`](crate::family::batch::ElementKernel::apply).
    fn apply(
        &self,
        kernel: &HostKernel<L, D>,
        batch: &Batch<L::Real>,
        vectors: (&[L::Real], &mut [L::Real]),
        scratch: &mut Scratch<L, D>,
    );
}

/// A form of `C` components.
pub(super) struct Linear<F, const C: usize>(pub(super) F);

impl<L, F, const D: usize, const C: usize> LinearForm<L, D> for Linear<F, C>
where
    L: Lanes,
    F: Form<D, C>,
{
    fn apply(
        &self,
        kernel: &HostKernel<L, D>,
        batch: &Batch<L::Real>,
        (source, target): (&[L::Real], &mut [L::Real]),
        scratch: &mut Scratch<L, D>,
    ) {
        kernel.token.vectorize(
            #[inline(always)]
            || {
                let places = batch.places(D + 1, C);
                let solution = &mut scratch.nodal[..C * (D + 1)];
                gather(kernel.token, places, source, solution);
                kernel.gather_fields(batch, scratch);
                self.cells(kernel, batch, scratch);
                scatter(places, &scratch.out, target);
            },
        );
    }
}

impl<F, const C: usize> Linear<F, C> {
    /// From `nodal` to `out` of the scratch arrays.
    #[inline(always)]
    fn cells<L: Lanes, const D: usize>(
        &self,
        kernel: &HostKernel<L, D>,
        batch: &Batch<L::Real>,
        scratch: &mut Scratch<L, D>,
    ) where
        F: Form<D, C>,
    {
        let (zero, shape, nodes) = (kernel.zero(), &kernel.shape, D + 1);
        let map = kernel.maps.constant(batch);
        let Scratch {
            nodal, out, points, ..
        } = &mut *scratch;
        let (nodal, of_fields) = nodal.split_at(C * nodes);
        let out = &mut out[..C * nodes];
        points.set_context(batch.context.time, batch.context.parameters);
        for (n, field) in shape.fields.of(FieldKind::Cell).enumerate() {
            points.own.0[field] = kernel.maps.load(batch.auxiliary, n);
        }
        if shape.field_gradients {
            let values = of_fields.chunks_exact(nodes);
            for (field, values) in shape.fields.of(FieldKind::Nodal).zip(values) {
                points.own.1[field] = physical(differences(values), &map.inverse);
            }
        }
        if shape.writes_values || !shape.writes_gradients {
            out.fill(zero);
        }
        let mut grad_u = [[zero; D]; C];
        if shape.reads_gradients {
            for c in 0..C {
                grad_u[c] = physical(differences(&nodal[c * nodes..][..nodes]), &map.inverse);
            }
        }
        let mut flux = [[zero; D]; C];
        for (q, &weight) in kernel.weights.iter().enumerate() {
            let interp = &kernel.interp[q * nodes..][..nodes];
            if !shape.fields.is_empty() {
                let values = of_fields.chunks_exact(nodes);
                for (field, values) in shape.fields.of(FieldKind::Nodal).zip(values) {
                    points.own.0[field] = kernel.value(interp, values);
                }
                for (n, field) in shape.fields.of(FieldKind::Points).enumerate() {
                    let place = n * shape.points + q;
                    points.own.0[field] = kernel.maps.load(batch.points, place);
                }
            }
            let mut x = [zero; D];
            if shape.position {
                x = kernel.maps.position(batch, &map, q);
            }
            let mut u = [zero; C];
            if shape.reads_values {
                for c in 0..C {
                    u[c] = kernel.value(interp, &nodal[c * nodes..][..nodes]);
                }
            }
            let point = Point {
                u,
                grad_u,
                a: &points.own.0,
                grad_a: &points.own.1,
                x,
                time: points.time,
                parameters: &points.parameters,
            };
            let scale = map.determinant * kernel.splat(weight);
            if shape.writes_values {
                let f0 = self.0.f0(&point);
                for c in 0..C {
                    let f0 = f0[c] * scale;
                    for n in 0..nodes {
                        let out = &mut out[c * nodes + n];
                        *out = f0.mul_add(kernel.splat(interp[n]), *out);
                    }
                }
            }
            if shape.writes_gradients {
                let f1 = self.0.f1(&point);
                for c in 0..C {
                    for d in 0..D {
                        flux[c][d] = f1[c][d].mul_add(scale, flux[c][d]);
                    }
                }
            }
        }
        if shape.writes_gradients {
            for c in 0..C {
                let out = &mut out[c * nodes..][..nodes];
                put_differences(&reference(flux[c], &map.inverse), shape.writes_values, out);
            }
        }
    }
}

impl<L: Lanes, const D: usize> HostKernel<L, D> {
    /// The value at a point from those at the vertices.
    #[inline(always)]
    fn value(&self, interp: &[L::Real], values: &[L]) -> L {
        let mut sum = self.zero();
        for n in 0..D + 1 {
            sum = values[n].mul_add(self.splat(interp[n]), sum);
        }
        sum
    }
}

/// Reference derivatives.
#[inline(always)]
fn differences<L: Lanes, const D: usize>(values: &[L]) -> [L; D] {
    let mut differences = [values[0]; D];
    for r in 0..D {
        differences[r] = values[r + 1] - values[0];
    }
    differences
}

/// Tests the coefficients of the reference derivatives: adds if values were tested before, otherwise writes.
#[inline(always)]
fn put_differences<L: Lanes, const D: usize>(along: &[L; D], adds: bool, out: &mut [L]) {
    let mut first = along[0];
    for r in 0..D {
        if r > 0 {
            first += along[r];
        }
        out[r + 1] = if adds {
            out[r + 1] + along[r]
        } else {
            along[r]
        };
    }
    out[0] = if adds { out[0] - first } else { -first };
}
