//! The exact diagonal from dense tables, without element matrices.
//!
//! At each point a linear form is a (1 + D) × (1 + D) matrix R for each component, found by applying the
//! form to unit inputs; A_bb = Σ_q w det J (φ_b, ∇φ_b)ᵀ R (φ_b, ∇φ_b).

use super::evaluate::{Jet, point};
use super::inputs::{Inputs, physical};
use super::map::Map;
use super::{HostKernel, Scratch};
use crate::family::batch::Batch;
use crate::form::Form;
use crate::scalar::Lanes;

/// The response of component c of a form to component c of the solution: to its value, and to each of its
/// derivatives.
struct Response<L, const D: usize> {
    to_value: (L, [L; D]),
    to_gradient: [(L, [L; D]); D],
}

impl<L, F, const D: usize, const C: usize> HostKernel<L, F, D, C>
where
    L: Lanes,
    F: Form<D, C>,
{
    /// The diagonals of a batch; nodal values are read for the fields only.
    #[inline(always)]
    pub(super) fn element_diagonals(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let Scratch {
            nodal, out, inputs, ..
        } = scratch;
        out.fill(self.zero());
        self.inputs_of(batch, inputs);
        for q in 0..self.shape.points {
            let map = self.maps.any(batch, q);
            self.inputs_at(batch, (nodal, self.shape.nodes), &map, q, inputs);
            let scale = map.determinant * self.splat(self.weights[q]);
            for (c, out) in out.chunks_exact_mut(self.shape.nodes).enumerate() {
                let response = self.response(inputs, c);
                for (b, out) in out.iter_mut().enumerate() {
                    *out += self.entry(&response, &map, (q, b)) * scale;
                }
            }
        }
    }

    /// Component `c` of f0 and f1 for unit inputs of that component.
    #[inline(always)]
    fn response(&self, inputs: &Inputs<L, D>, c: usize) -> Response<L, D> {
        let zero = self.zero();
        let one = zero.constant(1.0);
        let answer = |jet: &Jet<L, D, C>| {
            let point = point(jet, inputs);
            (self.form.f0(&point)[c], self.form.f1(&point)[c])
        };
        let nothing = || Jet {
            u: [zero; C],
            grad_u: [[zero; D]; C],
        };
        let mut jet = nothing();
        jet.u[c] = one;
        let to_value = answer(&jet);
        let mut to_gradient = [to_value; D];
        for d in 0..D {
            let mut jet = nothing();
            jet.grad_u[c][d] = one;
            to_gradient[d] = answer(&jet);
        }
        Response {
            to_value,
            to_gradient,
        }
    }

    /// The contribution of point `q` to the entry of node `b`, without weight and determinant.
    #[inline(always)]
    fn entry(&self, response: &Response<L, D>, map: &Map<L, D>, (q, b): (usize, usize)) -> L {
        let n = q * self.shape.nodes + b;
        let value = self.splat(self.interp[n]);
        let mut reference = [value; D];
        for r in 0..D {
            reference[r] = self.splat(self.grad[n * D + r]);
        }
        let gradient = physical(&reference, map);
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
