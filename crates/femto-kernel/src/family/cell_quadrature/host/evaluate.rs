//! Evaluation of one batch: values to points, the form, points to values.

use super::inputs::{Inputs, differences, physical};
use super::map::Map;
use super::{HostKernel, Scratch};
use crate::family::batch::Batch;
use crate::form::{Form, Point};
use crate::scalar::Lanes;

/// The solution at a point.
pub(super) struct Jet<L, const D: usize, const C: usize> {
    pub(super) u: [L; C],
    pub(super) grad_u: [[L; D]; C],
}

impl<L, F, const D: usize, const C: usize> HostKernel<L, F, D, C>
where
    L: Lanes,
    F: Form<D, C>,
{
    /// Any element, any map.
    #[inline(always)]
    pub(super) fn evaluate(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let Scratch {
            nodal, out, inputs, ..
        } = scratch;
        let nodes = self.shape.nodes;
        out.fill(self.zero());
        self.inputs_of(batch, inputs);
        let constant = self.shape.map_is_constant();
        let mut map = self.maps.any(batch, 0);
        for q in 0..self.shape.points {
            if !constant && q > 0 {
                map = self.maps.any(batch, q);
            }
            self.inputs_at(batch, (nodal, nodes), &map, q, inputs);
            let mut jet = self.values(nodal, nodes, q);
            if self.shape.reads_gradients {
                let (components, _) = nodal.split_at(C * nodes);
                for (c, values) in components.chunks_exact(nodes).enumerate() {
                    jet.grad_u[c] = physical(&self.reference_gradient(values, q), &map);
                }
            }
            let scale = map.determinant * self.splat(self.weights[q]);
            self.test(&jet, inputs, (&map, scale), q, out);
        }
    }

    /// Degree 1 on affine cells: gradients are constant in the cell, and fluxes are summed before they are
    /// tested. All loops except that over points have lengths known at compile time.
    #[inline(always)]
    pub(super) fn evaluate_linear(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let Scratch {
            nodal, out, inputs, ..
        } = scratch;
        let (zero, nodes) = (self.zero(), D + 1);
        let (solution, out) = (&nodal[..C * nodes], &mut out[..C * nodes]);
        self.inputs_of(batch, inputs);
        if self.shape.writes_values || !self.shape.writes_gradients {
            out.fill(zero);
        }
        let map = self.maps.constant(batch);
        let mut grad_u = [[zero; D]; C];
        if self.shape.reads_gradients {
            for c in 0..C {
                grad_u[c] = physical(&differences(&solution[c * nodes..][..nodes]), &map);
            }
        }
        let mut flux = [[zero; D]; C];
        for q in 0..self.shape.points {
            self.inputs_at(batch, (nodal, nodes), &map, q, inputs);
            let mut jet = self.values(solution, nodes, q);
            jet.grad_u = grad_u;
            let scale = map.determinant * self.splat(self.weights[q]);
            let point = point(&jet, inputs);
            if self.shape.writes_values {
                self.test_values(&self.form.f0(&point), scale, q, out);
            }
            if self.shape.writes_gradients {
                let f1 = self.form.f1(&point);
                for c in 0..C {
                    for d in 0..D {
                        flux[c][d] = f1[c][d].mul_add(scale, flux[c][d]);
                    }
                }
            }
        }
        if self.shape.writes_gradients {
            for c in 0..C {
                let out = &mut out[c * nodes..][..nodes];
                let mut sums = [zero; D];
                for r in 0..D {
                    sums[r] = along(&flux[c], &map, r);
                }
                self.put_differences(&sums, out);
            }
        }
    }

    /// Tests the coefficients of the reference derivatives at degree 1: adds if values were tested before,
    /// otherwise writes.
    #[inline(always)]
    fn put_differences(&self, along: &[L; D], out: &mut [L]) {
        let adds = self.shape.writes_values;
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

    /// The values of the solution at point `q`, if they are read; gradients are zero.
    #[inline(always)]
    fn values(&self, solution: &[L], nodes: usize, q: usize) -> Jet<L, D, C> {
        let zero = self.zero();
        let mut jet = Jet {
            u: [zero; C],
            grad_u: [[zero; D]; C],
        };
        if self.shape.reads_values {
            for c in 0..C {
                jet.u[c] = self.value(&solution[c * nodes..][..nodes], q);
            }
        }
        jet
    }

    /// Adds the contribution of a point to the nodes.
    #[inline(always)]
    fn test(
        &self,
        jet: &Jet<L, D, C>,
        inputs: &Inputs<L, D>,
        (map, scale): (&Map<L, D>, L),
        q: usize,
        out: &mut [L],
    ) {
        let nodes = self.shape.nodes;
        let point = point(jet, inputs);
        if self.shape.writes_values {
            self.test_values(&self.form.f0(&point), scale, q, out);
        }
        if self.shape.writes_gradients {
            let f1 = self.form.f1(&point);
            let (rows, _) = self.grad[q * nodes * D..][..nodes * D].as_chunks::<D>();
            for (f1, out) in f1.iter().zip(out.chunks_exact_mut(nodes)) {
                let mut flux = *f1;
                for r in 0..D {
                    flux[r] = along(f1, map, r) * scale;
                }
                for (out, row) in out.iter_mut().zip(rows) {
                    for r in 0..D {
                        *out = flux[r].mul_add(self.splat(row[r]), *out);
                    }
                }
            }
        }
    }

    /// Adds `f0` at point `q`, times `scale`, tested with the basis functions.
    #[inline(always)]
    fn test_values(&self, f0: &[L; C], scale: L, q: usize, out: &mut [L]) {
        let nodes = out.len() / C;
        let row = &self.interp[q * nodes..][..nodes];
        for c in 0..C {
            let f0 = f0[c] * scale;
            for (out, &entry) in out[c * nodes..][..nodes].iter_mut().zip(row) {
                *out = f0.mul_add(self.splat(entry), *out);
            }
        }
    }
}

/// The inputs of a form at a point.
#[inline(always)]
pub(super) fn point<'a, L: Lanes, const D: usize, const C: usize>(
    jet: &Jet<L, D, C>,
    inputs: &'a Inputs<L, D>,
) -> Point<'a, L, D, C> {
    Point {
        u: jet.u,
        grad_u: jet.grad_u,
        a: &inputs.a,
        grad_a: &inputs.grad_a,
        x: inputs.x,
        time: inputs.time,
        parameters: &inputs.parameters,
    }
}

/// The coefficient of reference derivative `r` of a test function in a flux.
#[inline(always)]
pub(super) fn along<L: Lanes, const D: usize>(flux: &[L; D], map: &Map<L, D>, r: usize) -> L {
    let mut sum = flux[0] * map.inverse[r][0];
    for d in 1..D {
        sum = flux[d].mul_add(map.inverse[r][d], sum);
    }
    sum
}
