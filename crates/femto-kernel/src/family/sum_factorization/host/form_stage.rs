//! The stage of a form: evaluated as written, with the Jacobian from a metric.

use super::inputs::{FieldSources, Inputs};
use super::metric::{Jacobian, Metric, dot, each3};
use super::stage::{BatchData, Layers, Rule, Stage, Strided};
use crate::form::{Form, Point};
use crate::scalar::Lanes;
use core::marker::PhantomData;
use fearless_simd::Simd;

/// A form evaluated with the Jacobian from a metric.
pub(crate) struct FormStage<F, M, const C: usize> {
    pub(crate) form: F,
    /// Values enter or leave the form; always, if there are no gradients.
    pub(crate) values: bool,
    /// Gradients do. Not known when compiling: a form would be compiled twice for each metric, for a
    /// branch that is always predicted.
    pub(crate) gradients: bool,
    pub(crate) reads_position: bool,
    pub(crate) fields: FieldSources,
    pub(crate) metric: PhantomData<M>,
}

/// Values and gradients at the points of some layers.
struct Arrays<'a, L, const C: usize> {
    /// Of the solution, `[component]`: values and derivatives along ξ, η, ζ.
    values: [&'a mut [L]; C],
    gradients: [[&'a mut [L]; C]; 3],
    /// The same of the auxiliary fields at the nodes.
    fields: Strided<'a, L>,
    field_gradients: [Strided<'a, L>; 3],
}

impl<L, F, M, const C: usize> Stage<L> for FormStage<F, M, C>
where
    L: Lanes,
    F: Form<3, C>,
    M: Metric<L>,
{
    fn components(&self) -> usize {
        C
    }
    fn nodal_fields(&self) -> usize {
        self.fields.nodal()
    }
    fn differentiates(&self, n: usize) -> bool {
        self.fields.differentiates(n)
    }
    fn has_values(&self) -> bool {
        self.values
    }
    fn has_gradients(&self) -> bool {
        self.gradients
    }

    #[inline(never)]
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
    ) {
        token.vectorize(
            #[inline(always)]
            || self.layers(token, rule, data, layers),
        );
    }
}

impl<F, M, const C: usize> FormStage<F, M, C> {
    #[inline(always)]
    fn layers<L: Lanes>(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
    ) where
        F: Form<3, C>,
        M: Metric<L>,
    {
        let n = rule.points.len();
        let (first, count) = (layers.first, layers.count);
        let mut arrays = self.arrays(layers, count * n * n);
        let mut inputs = Inputs::new(token, data, &self.fields);
        for (layer, k) in (first..first + count).enumerate() {
            let zeta = L::splat(token, rule.points[k]);
            let at_layer = M::layer(token, data.geometry, zeta, self.reads_position);
            for j in 0..n {
                let eta = L::splat(token, rule.points[j]);
                let row = (k * n + j) * n;
                let at_row = M::row(&at_layer, row, eta);
                let row_weight = rule.weights[j] * rule.weights[k];
                for i in 0..n {
                    let p = (layer * n + j) * n + i;
                    let xi = L::splat(token, rule.points[i]);
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let jacobian = M::at(&at_row, token, data.geometry, i, xi);
                    if self.reads_position {
                        inputs.x = M::position(&at_row, token, data.geometry, i, xi);
                    }
                    if self.fields.vary() {
                        let at = (p, row + i);
                        inputs.move_to(token, data, &self.fields, &arrays.fields, at);
                    }
                    self.point(jacobian, weight, &mut inputs, p, &mut arrays);
                }
            }
        }
    }

    /// The arrays of some layers of `len` points, apart.
    #[inline(always)]
    fn arrays<'a, L>(&self, layers: Layers<'a, L>, len: usize) -> Arrays<'a, L, C> {
        let (values, fields) = layers.values.split_at(C);
        let [x, y, z] = layers.gradients.map(
            #[inline(always)]
            |axis| axis.split_at(C),
        );
        let values = values.split::<C>(if self.values { len } else { 0 });
        let gradients = [x.0, y.0, z.0].map(
            #[inline(always)]
            |axis| axis.split::<C>(if self.gradients { len } else { 0 }),
        );
        Arrays {
            values,
            gradients,
            fields,
            field_gradients: [x.1, y.1, z.1],
        }
    }

    /// One point: from values and reference gradients at `p` to what multiplies the test function
    /// and its reference gradient.
    #[inline(always)]
    fn point<L: Lanes>(
        &self,
        jacobian: Jacobian<L>,
        weight: L,
        inputs: &mut Inputs<L>,
        p: usize,
        arrays: &mut Arrays<'_, L, C>,
    ) where
        F: Form<3, C>,
    {
        let Jacobian {
            adjugate,
            determinant,
        } = jacobian;
        let zero = determinant.constant(0.0);
        let (mut u, mut grad_u) = ([zero; C], [[zero; 3]; C]);
        if self.values {
            for (u, values) in u.iter_mut().zip(&arrays.values) {
                *u = values[p];
            }
        }
        if self.gradients {
            let inverse = determinant.constant(1.0) / determinant;
            let [gx, gy, gz] = &arrays.gradients;
            for c in 0..C {
                let g = [gx[c][p] * inverse, gy[c][p] * inverse, gz[c][p] * inverse];
                grad_u[c] = physical(&adjugate, g);
            }
            for (n, field) in self.fields.differentiated() {
                let [gx, gy, gz] = &arrays.field_gradients;
                let g = [gx.at(n, p), gy.at(n, p), gz.at(n, p)];
                let g = [g[0] * inverse, g[1] * inverse, g[2] * inverse];
                inputs.grad_a[field] = physical(&adjugate, g);
            }
        }
        let point = Point {
            u,
            grad_u,
            a: &inputs.a,
            grad_a: &inputs.grad_a,
            x: inputs.x,
            time: inputs.time,
            parameters: &inputs.parameters,
        };
        if self.values {
            let f0 = self.form.f0(&point);
            let scale = weight * determinant;
            for (values, f0) in arrays.values.iter_mut().zip(f0) {
                values[p] = f0 * scale;
            }
        }
        if self.gradients {
            let f1 = self.form.f1(&point);
            for (c, f1) in f1.iter().enumerate() {
                let f = each3(
                    #[inline(always)]
                    |d| f1[d] * weight,
                );
                for (gradients, row) in arrays.gradients.iter_mut().zip(adjugate) {
                    gradients[c][p] = dot(f, row);
                }
            }
        }
    }
}

/// adj Jᵀ g.
#[inline(always)]
fn physical<L: Lanes>(adjugate: &[[L; 3]; 3], g: [L; 3]) -> [L; 3] {
    each3(
        #[inline(always)]
        |d| dot(g, [adjugate[0][d], adjugate[1][d], adjugate[2][d]]),
    )
}
