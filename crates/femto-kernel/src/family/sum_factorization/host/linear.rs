//! Elements of degree 1, where the form is the inner loop: compiled for each form as a whole.
//!
//! With u = Σ u_m ξ^a η^b ζ^c, a, b, c in {0, 1}, m = a + 2b + 4c, a row of points has two coefficients of u and of each
//! of its reference derivatives, so that a value and a derivative cost one operation a point, where contractions along the
//! axes pay for points between which nothing varies. What tests the monomials is summed likewise, by row, layer and
//! element.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::form_stage::FormStage;
use super::inputs::Inputs;
use super::metric::{Metric, each, load};
use super::stage::{BatchData, Rule};
use crate::form::Form;
use crate::scalar::{Lanes, Real};
use fearless_simd::Simd;

/// An operator on elements of degree 1.
pub(super) trait LinearStage<L: Lanes>: Send + Sync {
    /// Applies the element operators to `nodal` `[component][node]`, in place. Auxiliary fields at the nodes follow the
    /// components, and become coefficients of monomials.
    fn apply(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        nodal: &mut [L],
    );
}

/// Coefficients of the monomials ξ^a η^b ζ^c, `[a + 2b + 4c]`; of ξ^a η^b in the plane.
type Monomials<L> = [L; 8];

impl<L, F, M, const D: usize, const C: usize, const GRADIENTS: bool> LinearStage<L>
    for FormStage<F, M, D, C, GRADIENTS>
where
    L: Lanes,
    F: Form<D, C>,
    M: Metric<L, D>,
{
    #[inline(never)]
    fn apply(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        nodal: &mut [L],
    ) {
        token.vectorize(
            #[inline(always)]
            || self.elements(token, rule, data, nodal),
        );
    }
}

impl<F, M, const D: usize, const C: usize, const GRADIENTS: bool> FormStage<F, M, D, C, GRADIENTS> {
    #[inline(always)]
    fn elements<L: Lanes>(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        nodal: &mut [L],
    ) where
        F: Form<D, C>,
        M: Metric<L, D>,
    {
        let zero = L::splat(token, L::Real::from_f64(0.0));
        let nodes = 1 << D;
        let mut u = [[zero; 8]; C];
        for c in 0..C {
            u[c] = monomials::<L, D>(&nodal[c * nodes..][..nodes]);
        }
        for field in nodal[C * nodes..].chunks_exact_mut(nodes) {
            let coefficients = monomials::<L, D>(field);
            field.copy_from_slice(&coefficients[..nodes]);
        }
        let mut sums = [[zero; 8]; C];
        let mut inputs = Inputs::new(token, data, &self.fields);
        let n = rule.points.len();
        for k in 0..if D == 3 { n } else { 1 } {
            let zeta = L::splat(token, rule.points[k]);
            let at_layer = M::layer(token, data.geometry, zeta, self.reads_position);
            let mut layer = [Plane::new(zero); C];
            for c in 0..C {
                layer[c].set::<D>(&u[c], zeta);
            }
            let mut layer_sums = [Plane::new(zero); C];
            for j in 0..n {
                let eta = L::splat(token, rule.points[j]);
                let first = (k * n + j) * n;
                let at_row = M::row(&at_layer, first, eta);
                let row_weight = match D {
                    2 => rule.weights[j],
                    _ => rule.weights[j] * rule.weights[k],
                };
                let mut row = [Row::new(zero); C];
                for c in 0..C {
                    row[c].set::<D>(&layer[c], eta);
                }
                let mut row_sums = [Row::new(zero); C];
                for i in 0..n {
                    let xi = L::splat(token, rule.points[i]);
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let jacobian = M::at(&at_row, token, data.geometry, i, xi);
                    if self.reads_position {
                        inputs.x = M::position(&at_row, token, data.geometry, i, xi);
                    }
                    if self.fields.vary() {
                        let of_fields = &nodal[C * nodes..];
                        self.move_to(&mut inputs, data, of_fields, ([xi, eta, zeta], first + i));
                    }
                    let (mut values, mut slopes) = ([zero; C], [[zero; D]; C]);
                    for c in 0..C {
                        (values[c], slopes[c]) = row[c].at(xi);
                    }
                    let (f0, f1) = self.evaluate(&jacobian, weight, &mut inputs, (values, slopes));
                    for c in 0..C {
                        if self.values {
                            row_sums[c].add_value(f0[c], xi);
                        }
                        if GRADIENTS && self.gradients {
                            row_sums[c].add_slopes(f1[c], xi);
                        }
                    }
                }
                for c in 0..C {
                    row_sums[c].add_to::<D>(&mut layer_sums[c], eta);
                }
            }
            for c in 0..C {
                layer_sums[c].add_to::<D>(&mut sums[c], zeta);
            }
        }
        for c in 0..C {
            test::<L, D>(sums[c], &mut nodal[c * nodes..][..nodes]);
        }
    }

    /// Fields at a point of the element; those at the nodes by their monomials.
    #[inline(always)]
    fn move_to<L: Lanes>(
        &self,
        inputs: &mut Inputs<L, D>,
        data: &BatchData<L::Real>,
        of_fields: &[L],
        (at, point): ([L; 3], usize),
    ) {
        let token = at[0].token();
        let fields = self.fields.at_nodes().zip(of_fields.chunks_exact(1 << D));
        for (n, (field, nodal)) in fields.enumerate() {
            let zero = at[0].constant(0.0);
            let (mut layer, mut row) = (Plane::new(zero), Row::new(zero));
            let mut coefficients = [zero; 8];
            coefficients[..1 << D].copy_from_slice(nodal);
            layer.set::<D>(&coefficients, at[2]);
            row.set::<D>(&layer, at[1]);
            let (value, slopes) = row.at(at[0]);
            inputs.a[field] = value;
            if self.fields.differentiates(n) {
                inputs.grad_a[field] = slopes;
            }
        }
        for (n, field) in self.fields.at_points().enumerate() {
            inputs.a[field] = load(token, data.points, n * data.point_count + point);
        }
    }
}

/// Coefficients of a function in a layer: of ξ^a η^b, `[a + 2b]`; or what tests these.
#[derive(Clone, Copy)]
struct Plane<L> {
    value: [L; 4],
    /// ∂/∂ζ.
    above: [L; 4],
}

impl<L: Lanes> Plane<L> {
    #[inline(always)]
    fn new(zero: L) -> Self {
        Self {
            value: [zero; 4],
            above: [zero; 4],
        }
    }

    #[inline(always)]
    fn set<const D: usize>(&mut self, u: &Monomials<L>, zeta: L) {
        for m in 0..4 {
            self.value[m] = u[m];
            if D == 3 {
                self.value[m] = u[m + 4].mul_add(zeta, u[m]);
                self.above[m] = u[m + 4];
            }
        }
    }

    /// Adds what tests a layer to what tests the element.
    #[inline(always)]
    fn add_to<const D: usize>(&self, sums: &mut Monomials<L>, zeta: L) {
        for m in 0..4 {
            sums[m] += self.value[m];
            if D == 3 {
                sums[m + 4] += self.value[m].mul_add(zeta, self.above[m]);
            }
        }
    }
}

/// Coefficients of a function in a row: of ξ^a; or what tests these.
#[derive(Clone, Copy)]
struct Row<L> {
    value: [L; 2],
    /// ∂/∂η.
    beside: [L; 2],
    /// ∂/∂ζ.
    above: [L; 2],
}

impl<L: Lanes> Row<L> {
    #[inline(always)]
    fn new(zero: L) -> Self {
        Self {
            value: [zero; 2],
            beside: [zero; 2],
            above: [zero; 2],
        }
    }

    #[inline(always)]
    fn set<const D: usize>(&mut self, layer: &Plane<L>, eta: L) {
        for m in 0..2 {
            self.value[m] = layer.value[m + 2].mul_add(eta, layer.value[m]);
            self.beside[m] = layer.value[m + 2];
            if D == 3 {
                self.above[m] = layer.above[m + 2].mul_add(eta, layer.above[m]);
            }
        }
    }

    /// Value and reference gradient at a point.
    #[inline(always)]
    fn at<const D: usize>(&self, xi: L) -> (L, [L; D]) {
        let value = self.value[1].mul_add(xi, self.value[0]);
        let mut slopes = [self.value[1]; D];
        slopes[1] = self.beside[1].mul_add(xi, self.beside[0]);
        if D == 3 {
            slopes[2] = self.above[1].mul_add(xi, self.above[0]);
        }
        (value, slopes)
    }

    /// Adds what tests the value at a point.
    #[inline(always)]
    fn add_value(&mut self, value: L, xi: L) {
        self.value[0] += value;
        self.value[1] = value.mul_add(xi, self.value[1]);
    }

    /// Adds what tests the reference gradient at a point.
    #[inline(always)]
    fn add_slopes<const D: usize>(&mut self, slopes: [L; D], xi: L) {
        self.value[1] += slopes[0];
        self.beside[0] += slopes[1];
        self.beside[1] = slopes[1].mul_add(xi, self.beside[1]);
        if D == 3 {
            self.above[0] += slopes[2];
            self.above[1] = slopes[2].mul_add(xi, self.above[1]);
        }
    }

    /// Adds what tests a row to what tests its layer.
    #[inline(always)]
    fn add_to<const D: usize>(&self, layer: &mut Plane<L>, eta: L) {
        for m in 0..2 {
            layer.value[m] += self.value[m];
            layer.value[m + 2] += self.value[m].mul_add(eta, self.beside[m]);
            if D == 3 {
                layer.above[m] += self.above[m];
                layer.above[m + 2] = self.above[m].mul_add(eta, layer.above[m + 2]);
            }
        }
    }
}

/// The coefficients of a function from its values at the nodes: along each axis, (u₋ + u₊) / 2 and (u₊ - u₋) / 2.
#[inline(always)]
fn monomials<L: Lanes, const D: usize>(nodal: &[L]) -> Monomials<L> {
    let mut u = [nodal[0]; 8];
    u[..1 << D].copy_from_slice(&nodal[..1 << D]);
    for axis in 0..D {
        for m in 0..1 << D {
            if m >> axis & 1 == 0 {
                let (low, high) = (u[m], u[m + (1 << axis)]);
                (u[m], u[m + (1 << axis)]) = (low + high, high - low);
            }
        }
    }
    scaled::<L, D>(u)
}

/// What tests the functions of the nodes, from what tests the monomials: the transpose of [`monomials`].
#[inline(always)]
fn test<L: Lanes, const D: usize>(sums: Monomials<L>, nodal: &mut [L]) {
    let mut sums = scaled::<L, D>(sums);
    for axis in 0..D {
        for m in 0..1 << D {
            if m >> axis & 1 == 0 {
                let (constant, linear) = (sums[m], sums[m + (1 << axis)]);
                (sums[m], sums[m + (1 << axis)]) = (constant - linear, constant + linear);
            }
        }
    }
    nodal[..1 << D].copy_from_slice(&sums[..1 << D]);
}

/// Times 2⁻ᴰ.
#[inline(always)]
fn scaled<L: Lanes, const D: usize>(u: Monomials<L>) -> Monomials<L> {
    let scale = u[0].constant(1.0 / (1 << D) as f64);
    each(
        #[inline(always)]
        |m| u[m] * scale,
    )
}
