//! The stage of a form: evaluated as written, with the Jacobian from a metric.

use super::inputs::{FieldSources, Inputs};
use super::metric::{Jacobian, Metric, dot, each};
use super::stage::{BatchData, Layers, Rule, Stage, Strided};
use crate::family::batch::Workspace;
use crate::form::{Form, Point};
use crate::scalar::Lanes;
use core::marker::PhantomData;
use fearless_simd::Simd;

/// A form evaluated with the Jacobian from a metric; `GRADIENTS` is false where neither gradients nor, of the Jacobian,
/// more than the determinant are computed.
pub(crate) struct FormStage<F, M, const D: usize, const C: usize, const GRADIENTS: bool> {
    pub(crate) form: F,
    /// Whether the form uses values; always, if there are no gradients.
    pub(crate) values: bool,
    /// Whether it uses gradients. A run-time value: otherwise each form would be compiled twice for each
    /// metric. Forms of values alone are, since they need so little else.
    pub(crate) gradients: bool,
    pub(crate) reads_position: bool,
    pub(crate) fields: FieldSources,
    pub(crate) metric: PhantomData<M>,
}

/// Values and gradients at the points of some layers.
struct Arrays<'a, L, const D: usize, const C: usize> {
    /// For the solution, `[component]`: values and derivatives along the axes ξ, η, ζ that exist.
    values: [&'a mut [L]; C],
    gradients: [[&'a mut [L]; C]; D],
    /// Likewise for the auxiliary fields at the nodes.
    fields: Strided<'a, L>,
    field_gradients: [Strided<'a, L>; D],
}

/// Slices of each component, or what comes after them, along each axis.
type Axes<'a, L, const D: usize, const C: usize> = ([[&'a mut [L]; C]; D], [Strided<'a, L>; D]);

/// `len` derivatives of each component along the axes, and those of the fields. This knows no form, and is compiled
/// once for all; where values are concerned it is slower than in the form's own loops.
fn axes<L, const D: usize, const C: usize>(
    gradients: [Strided<'_, L>; 3],
    len: usize,
) -> Axes<'_, L, D, C> {
    let mut fields = [(); D].map(|()| Strided::none());
    let mut axes = gradients.into_iter().zip(&mut fields);
    let gradients = [(); D].map(|()| {
        let Some((axis, fields)) = axes.next() else {
            return [(); C].map(|()| Default::default());
        };
        let (own, rest) = axis.split_at(C);
        *fields = rest;
        own.split::<C>(len)
    });
    (gradients, fields)
}

impl<L, F, M, const D: usize, const C: usize, const GRADIENTS: bool> Stage<L>
    for FormStage<F, M, D, C, GRADIENTS>
where
    L: Lanes,
    F: Form<D, C>,
    M: Metric<L, D>,
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
        GRADIENTS && self.gradients
    }

    #[inline(never)]
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
        _: &mut Workspace,
    ) {
        token.vectorize(
            #[inline(always)]
            || self.layers(token, rule, data, layers),
        );
    }
}

impl<F, M, const D: usize, const C: usize, const GRADIENTS: bool> FormStage<F, M, D, C, GRADIENTS> {
    #[inline(always)]
    fn layers<L: Lanes>(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
    ) where
        F: Form<D, C>,
        M: Metric<L, D>,
    {
        let n = rule.points.len();
        let (first, count) = (layers.first, layers.count);
        let len = |wanted| if wanted { count * n * n } else { 0 };
        let (values, fields) = layers.values.split_at(C);
        let (gradients, field_gradients) = axes(layers.gradients, len(GRADIENTS && self.gradients));
        let mut arrays = Arrays {
            values: values.split::<C>(len(self.values)),
            gradients,
            fields,
            field_gradients,
        };
        let mut inputs = Inputs::new(token, data, &self.fields);
        for (layer, k) in (first..first + count).enumerate() {
            let zeta = L::splat(token, rule.points[k]);
            let at_layer = M::layer(token, data.geometry, zeta, self.reads_position);
            for j in 0..n {
                let eta = L::splat(token, rule.points[j]);
                let row = (k * n + j) * n;
                let at_row = M::row(&at_layer, row, eta);
                let row_weight = match D {
                    2 => rule.weights[j],
                    _ => rule.weights[j] * rule.weights[k],
                };
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

    /// Evaluates one point: replaces values and reference gradients at `p` by the coefficients of the test
    /// function and its reference gradient.
    #[inline(always)]
    fn point<L: Lanes>(
        &self,
        jacobian: Jacobian<L, D>,
        weight: L,
        inputs: &mut Inputs<L, D>,
        p: usize,
        arrays: &mut Arrays<'_, L, D, C>,
    ) where
        F: Form<D, C>,
    {
        let Jacobian {
            adjugate,
            determinant,
        } = jacobian;
        let zero = determinant.constant(0.0);
        let (mut u, mut grad_u) = ([zero; C], [[zero; D]; C]);
        if self.values {
            for (u, values) in u.iter_mut().zip(&arrays.values) {
                *u = values[p];
            }
        }
        if GRADIENTS && self.gradients {
            let inverse = determinant.constant(1.0) / determinant;
            for (c, grad_u) in grad_u.iter_mut().enumerate() {
                let g = each(
                    #[inline(always)]
                    |r| arrays.gradients[r][c][p] * inverse,
                );
                *grad_u = physical(&adjugate, g);
            }
            for (n, field) in self.fields.differentiated() {
                let g = each(
                    #[inline(always)]
                    |r| arrays.field_gradients[r].at(n, p) * inverse,
                );
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
        if GRADIENTS && self.gradients {
            let f1 = self.form.f1(&point);
            for (c, f1) in f1.iter().enumerate() {
                let f: [L; D] = each(
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
fn physical<L: Lanes, const D: usize>(adjugate: &[[L; D]; D], g: [L; D]) -> [L; D] {
    each(
        #[inline(always)]
        |d| {
            let column = each(
                #[inline(always)]
                |r| adjugate[r][d],
            );
            dot(g, column)
        },
    )
}
