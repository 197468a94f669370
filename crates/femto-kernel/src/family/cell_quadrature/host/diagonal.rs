//! The exact diagonal from dense tables, without element matrices.
//!
//! At each point a linear form is a (1 + D) × (1 + D) matrix R for each component, found by applying the form to unit
//! inputs, with weights and in reference coordinates; A_bb = Σ_q (φ_b, ∂φ_b)ᵀ R (φ_b, ∂φ_b).

use super::{HostKernel, Scratch};
use crate::family::batch::{Batch, chunks};
use crate::form::MOST_POINTS;
use crate::scalar::Lanes;

/// The response of a component of a form to that component of the solution, what multiplies values and derivatives of
/// test functions: to a unit value, and to a unit derivative along each axis.
#[derive(Clone, Copy)]
struct Response<L, const D: usize> {
    to_value: (L, [L; D]),
    to_gradient: [(L, [L; D]); D],
}

impl<L: Lanes, const D: usize> HostKernel<L, D> {
    /// The diagonals of a batch; nodal values are read for the fields only.
    #[inline(always)]
    pub(super) fn element_diagonals(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let zero = self.zero();
        let nodes = self.shape.nodes;
        scratch.out.fill(zero);
        self.set_constants(batch, scratch);
        let nothing = (zero, [zero; D]);
        let mut responses = [Response {
            to_value: nothing,
            to_gradient: [nothing; D],
        }; MOST_POINTS];
        for chunk in chunks(self.shape.points) {
            self.set_inputs(batch, &chunk, scratch);
            for c in 0..self.shape.components {
                self.respond(c, chunk.len(), scratch, &mut responses);
                for (q, response) in chunk.clone().zip(&responses) {
                    let out = &mut scratch.out[c * nodes..][..nodes];
                    for (b, out) in out.iter_mut().enumerate() {
                        *out += self.entry(response, (q, b));
                    }
                }
            }
        }
    }

    /// The responses at the first `count` points to unit inputs of component `c`.
    #[inline(always)]
    fn respond(
        &self,
        c: usize,
        count: usize,
        scratch: &mut Scratch<L, D>,
        responses: &mut [Response<L, D>],
    ) {
        let points = &mut scratch.points;
        let (zero, one) = (self.zero(), self.zero().constant(1.0));
        for axis in core::iter::once(None).chain((0..D).map(Some)) {
            points.u.fill([zero; MOST_POINTS]);
            points.grad_u.fill([[zero; MOST_POINTS]; D]);
            let unit = match axis {
                None => &mut points.u[c],
                Some(axis) => &mut points.grad_u[c][axis],
            };
            unit.fill(one);
            self.form.evaluate(self.token, count, points);
            for (p, response) in responses.iter_mut().enumerate().take(count) {
                let mut answer = (zero, [zero; D]);
                if self.shape.writes_values {
                    answer.0 = points.u[c][p];
                }
                if self.shape.writes_gradients {
                    for (own, all) in answer.1.iter_mut().zip(&points.grad_u[c]) {
                        *own = all[p];
                    }
                }
                match axis {
                    None => response.to_value = answer,
                    Some(axis) => response.to_gradient[axis] = answer,
                }
            }
        }
    }

    /// The contribution of point `q` to the entry of node `b`.
    #[inline(always)]
    fn entry(&self, response: &Response<L, D>, (q, b): (usize, usize)) -> L {
        let value = self.zero().constant(self.element.value(q, b));
        let mut derivatives = [0.0; 3];
        derivatives[..D].copy_from_slice(self.element.gradient(q, b));
        if let Some(classes) = &self.classes {
            derivatives = classes.derivatives(derivatives);
        }
        let mut gradient = [value; D];
        for (own, derivative) in gradient.iter_mut().zip(derivatives) {
            *own = value.constant(derivative);
        }
        let (mut f0, mut f1) = response.to_value;
        f0 = f0 * value;
        for f1 in &mut f1 {
            *f1 = *f1 * value;
        }
        for d in 0..D {
            let (g0, g1) = response.to_gradient[d];
            f0 = gradient[d].mul_add(g0, f0);
            for e in 0..D {
                f1[e] = gradient[d].mul_add(g1[e], f1[e]);
            }
        }
        let mut sum = f0 * value;
        for d in 0..D {
            sum = gradient[d].mul_add(f1[d], sum);
        }
        sum
    }
}
