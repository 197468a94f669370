//! The exact diagonal of the element matrices, without forming them.
//!
//! With φ₀ = φ and φ₁..φ₃ its reference derivatives, a linear form is at each point a 4 × 4 matrix D
//! (per component), and A_ii = Σ_q Σ_ab D_ab(q) φ_a,i(q) φ_b,i(q). Each pair (a, b) is a product
//! of three 1-D factors, so the sum over q is three contractions with entrywise products of the 1-D
//! matrices. D comes from running the stage on unit inputs.

use super::contraction::Contraction;
use super::stage::{BatchData, Layers, Strided};
use super::sweep::Sweeps;
use super::{Kernel, Scratch};
use crate::scalar::{Lanes, Real};

/// Entrywise products of the 1-D matrices, transposed: points to nodes.
struct Products<T> {
    interp_interp: Contraction<T>,
    interp_grad: Contraction<T>,
    grad_grad: Contraction<T>,
}

impl<L: Lanes> Kernel<L> {
    /// Diagonals of a batch's element matrices into `scratch.nodal`, `[component][node]`.
    pub(super) fn element_diagonals(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        let (nodes, points) = (self.basis.nodes(), self.basis.points());
        let inputs: Vec<usize> = (0..4)
            .filter(|&a| {
                if a == 0 {
                    self.stage.has_values()
                } else {
                    self.stage.has_gradients()
                }
            })
            .collect();
        let products = self.products();
        let mut responses = vec![zero; 4 * self.stage.components() * points];
        for component in 0..self.stage.components() {
            let diagonal = component * nodes..(component + 1) * nodes;
            scratch.nodal[diagonal.clone()].fill(zero);
            for &a in &inputs {
                self.respond(data, (component, a), &mut responses);
                for &b in &inputs {
                    let block = (b * self.stage.components() + component) * points;
                    let response = &responses[block..block + points];
                    let out = &mut scratch.nodal[diagonal.clone()];
                    self.contract_pair(&products, (a, b), response, out);
                }
            }
        }
    }

    /// The stage's answer to input `a` of `component` being one at every point, all else zero:
    /// `[output][component][point]`.
    fn respond(&self, data: &BatchData<L::Real>, (component, a): (usize, usize), out: &mut [L]) {
        let (n, points) = (self.basis.points_1d, self.basis.points());
        let one = L::splat(self.token, L::Real::from_f64(1.0));
        out.fill(L::splat(self.token, L::Real::from_f64(0.0)));
        let components = self.stage.components();
        out[(a * components + component) * points..][..points].fill(one);
        let mut arrays = out.chunks_exact_mut(components * points);
        let mut array = || Strided {
            data: arrays.next().unwrap_or_default(),
            stride: points,
            offset: 0,
        };
        let (values, gradients) = (array(), [array(), array(), array()]);
        let layers = Layers {
            first: 0,
            count: n,
            values,
            gradients,
        };
        self.stage.run(self.token, &self.rule, data, layers);
    }

    /// Adds Σ_q D_ab(q) φ_a(q) φ_b(q) at every node.
    fn contract_pair(
        &self,
        products: &Products<L::Real>,
        (a, b): (usize, usize),
        response: &[L],
        out: &mut [L],
    ) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        let along = |axis: usize| match usize::from(a == axis + 1) + usize::from(b == axis + 1) {
            0 => &products.interp_interp,
            1 => &products.interp_grad,
            _ => &products.grad_grad,
        };
        let Sweeps {
            interp: set,
            grad_add: add,
            ..
        } = Sweeps::<L>::plain();
        let (mut x, mut y) = (vec![zero; g * g * q], vec![zero; g * q * q]);
        set(self.token, along(0), 1, response, &mut x);
        set(self.token, along(1), q, &x, &mut y);
        add(self.token, along(2), q * q, &y, out);
    }

    fn products(&self) -> Products<L::Real> {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let (interp, grad) = (&self.basis.interp_1d, self.basis.grad_1d());
        let product = |a: &[f64], b: &[f64]| {
            let entries: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b).collect();
            Contraction::transposed(&entries, q, g)
        };
        Products {
            interp_interp: product(interp, interp),
            interp_grad: product(interp, &grad),
            grad_grad: product(&grad, &grad),
        }
    }
}
