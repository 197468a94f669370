//! The exact diagonal from 1-D factors, without element matrices.
//!
//! With φ₀ = φ and φ₁..φ₃ its reference derivatives, a linear form is at each point a 4 × 4 matrix D (per
//! component), and A_ii = Σ_q Σ_ab D_ab(q) φ_a,i(q) φ_b,i(q). Each pair (a, b) is a product of three 1-D
//! factors, so the sum over q is three contractions with entrywise products of the 1-D matrices. D is found
//! by running the stage on unit inputs. On quadrilaterals D is 3 × 3, and there are two factors.

use super::stage::{BatchData, Layers, Strided};
use super::sweep::Sweeps;
use super::{HostKernel, Layers1d, Scratch};
use crate::family::batch::Workspace;
use crate::family::sum_factorization::contraction::{Contraction, products};
use crate::scalar::{Lanes, Real};
use femto_element::tables::TensorTables;

/// Entrywise products of the 1-D matrices, transposed: points to nodes; by the number of derivatives.
pub(super) struct Products<T>([Contraction<T>; 3]);

impl<T: Real> Products<T> {
    pub(super) fn new(basis: &TensorTables) -> Self {
        let (q, g) = (basis.nodes_1d, basis.points_1d);
        let transposed = |entries: Vec<f64>| Contraction::transposed(&entries, q, g);
        Self(products(basis).map(transposed))
    }

    /// The factor along `axis` of the pair (a, b).
    fn along(&self, (a, b): (usize, usize), axis: usize) -> &Contraction<T> {
        &self.0[usize::from(a == axis + 1) + usize::from(b == axis + 1)]
    }
}

impl<L: Lanes> HostKernel<L> {
    /// Writes the diagonals of a batch's element matrices into `scratch.nodal`, `[component][node]`, after
    /// reading its auxiliary fields.
    pub(super) fn element_diagonals(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        let (nodes, points) = (self.basis.nodes(), self.basis.points());
        let components = self.stage.components();
        let used = |a: &usize| match a {
            0 => self.stage.has_values(),
            _ => self.stage.has_gradients(),
        };
        let inputs = self.inputs();
        let numbers = 1 + self.basis.cell.dim();
        scratch.responses.resize(numbers * inputs * points, zero);
        self.fields_at_points(scratch);
        let Scratch {
            nodal,
            partial,
            along,
            responses,
            stage,
            ..
        } = scratch;
        let nodal = &mut nodal[..components * nodes];
        nodal.fill(zero);
        for (component, out) in nodal.chunks_exact_mut(nodes).enumerate() {
            for a in (0..numbers).filter(used) {
                self.respond(data, (component, a), responses, stage);
                for b in (0..numbers).filter(used) {
                    let response = &responses[(b * inputs + component) * points..][..points];
                    self.contract_pair((a, b), response, (partial, along), out);
                }
            }
        }
    }

    /// Values and reference gradients of the auxiliary fields at the nodes, put in `scratch.responses` for
    /// the stages.
    fn fields_at_points(&self, scratch: &mut Scratch<L>) {
        let (points, inputs) = (self.basis.points(), self.inputs());
        let (nodes, plane) = (self.basis.nodes(), self.basis.points_1d.pow(2));
        if inputs > self.stage.components() && !self.basis.collocated {
            self.interpolate(scratch);
        }
        let Scratch {
            nodal,
            values,
            responses,
            ..
        } = scratch;
        for input in self.stage.components()..inputs {
            let values = if self.basis.collocated {
                &nodal[input * nodes..][..nodes]
            } else {
                &values[input * points..][..points]
            };
            let place = |a: usize| (a * inputs + input) * points;
            responses[place(0)..][..points].copy_from_slice(values);
            if self.differentiates(input) {
                let axes = [1, self.basis.points_1d, plane].into_iter().enumerate();
                for (axis, inner) in axes.take(self.basis.cell.dim()) {
                    let out = &mut responses[place(axis + 1)..][..points];
                    (self.sweeps.grad)(self.token, &self.grad, inner, values, out);
                }
            }
        }
    }

    /// The stage's response to input `a` of `component` being one at every point and all others zero:
    /// `[output][component][point]`.
    fn respond(
        &self,
        data: &BatchData<L::Real>,
        (component, a): (usize, usize),
        out: &mut [L],
        workspace: &mut Workspace,
    ) {
        let points = self.basis.points();
        let one = L::splat(self.token, L::Real::from_f64(1.0));
        let (components, inputs) = (self.stage.components(), self.inputs());
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        for array in out.chunks_exact_mut(inputs * points) {
            array[..components * points].fill(zero);
        }
        out[(a * inputs + component) * points..][..points].fill(one);
        let mut arrays = out.chunks_exact_mut(inputs * points);
        let mut array = || Strided {
            data: arrays.next().unwrap_or_default(),
            stride: points,
            offset: 0,
        };
        let (values, gradients) = (array(), [array(), array(), array()]);
        let layers = Layers {
            first: 0,
            count: self.layers.points,
            values,
            gradients,
        };
        self.stage
            .run(self.token, &self.rule, data, layers, workspace);
    }

    /// Adds Σ_q D_ab(q) φ_a(q) φ_b(q) at every node.
    fn contract_pair(
        &self,
        pair: (usize, usize),
        response: &[L],
        (x, y): (&mut [L], &mut [L]),
        out: &mut [L],
    ) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let Layers1d { points: layers, .. } = self.layers;
        let (x, y) = (&mut x[..layers * g * q], &mut y[..layers * q * q]);
        let factor = |axis| self.products.along(pair, axis);
        let plain = Sweeps::<L>::plain();
        (plain.grad)(self.token, factor(0), 1, response, x);
        if !self.is_solid() {
            (plain.grad_add)(self.token, factor(1), q, x, out);
            return;
        }
        (plain.grad)(self.token, factor(1), q, x, y);
        (plain.grad_add)(self.token, factor(2), q * q, y, out);
    }
}
