//! The stage of a form that an interpreter runs: points are collected, and evaluated many at a time.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes read like the formulas"
)]

use super::inputs::FieldSources;
use super::metric::{Jacobian, Metric, load};
use super::stage::{BatchData, Layers, Rule, Stage};
use crate::family::batch::{Identity, Workspace};
use crate::family::sum_factorization::work::Shape;
use crate::form::{MOST_POINTS, PointForm, PointSizes, Points};
use crate::scalar::Lanes;
use core::marker::PhantomData;
use fearless_simd::Simd;

/// A form at many points together, with the Jacobian from a metric.
pub(super) struct InterpretedStage<L: Lanes, M, const D: usize> {
    form: Box<dyn PointForm<L, D>>,
    identity: Identity,
    components: usize,
    fields: FieldSources,
    field_count: usize,
    values: bool,
    gradients: bool,
    reads_position: bool,
    metric: PhantomData<M>,
}

/// Points that wait for their evaluation.
struct Waiting<L: Lanes, const D: usize> {
    points: Points<L, D>,
    count: usize,
    /// The place of each point in the arrays.
    places: [usize; MOST_POINTS],
}

impl<L: Lanes, M, const D: usize> InterpretedStage<L, M, D> {
    pub(super) fn new(form: Box<dyn PointForm<L, D>>, shape: &Shape) -> Self {
        Self {
            form,
            identity: Identity::default(),
            components: shape.components,
            fields: FieldSources::new(&shape.fields, shape.field_gradients),
            field_count: shape.fields.len(),
            values: shape.values || !shape.gradients,
            gradients: shape.gradients,
            reads_position: shape.position,
            metric: PhantomData,
        }
    }

    #[cold]
    #[inline(never)]
    fn nothing_waits(&self, token: L::Token) -> Waiting<L, D> {
        let sizes = PointSizes {
            components: self.components,
            fields: self.field_count,
            reads_gradients: self.gradients,
            wanted: [self.values, self.gradients],
            constant_map: false,
        };
        Waiting {
            points: Points::new(token, sizes, &*self.form),
            count: 0,
            places: [0; MOST_POINTS],
        }
    }

    /// Adds the inputs at a point of the arrays to those that wait.
    #[inline(always)]
    fn collect(
        &self,
        (token, data): (L::Token, &BatchData<L::Real>),
        (place, point): (usize, usize),
        (jacobian, weight): (Jacobian<L, D>, L),
        layers: &Layers<L>,
        waiting: &mut Waiting<L, D>,
    ) {
        let p = waiting.count % MOST_POINTS;
        let points = &mut waiting.points;
        points.scales[p] = jacobian.determinant * weight;
        for c in 0..self.components {
            if self.values {
                points.u[c][p] = layers.values.at(c, place);
            }
            if self.gradients {
                for r in 0..D {
                    points.grad_u[c][r][p] = layers.gradients[r].at(c, place);
                }
            }
        }
        if self.gradients {
            let inverse = weight.constant(1.0) / jacobian.determinant;
            for r in 0..D {
                for d in 0..D {
                    points.inverse[p][r][d] = jacobian.adjugate[r][d] * inverse;
                }
            }
        }
        for (n, field) in self.fields.at_nodes().enumerate() {
            points.a[field][p] = layers.values.at(self.components + n, place);
        }
        for (n, field) in self.fields.differentiated() {
            for r in 0..D {
                points.grad_a[field][r][p] = layers.gradients[r].at(self.components + n, place);
            }
        }
        for (n, field) in self.fields.at_points().enumerate() {
            points.a[field][p] = load(token, data.points, n * data.point_count + point);
        }
        waiting.places[p] = place;
        waiting.count = p + 1;
    }

    /// Evaluates the points that wait, and replaces their inputs in the arrays.
    #[inline(always)]
    fn evaluate(&self, token: L::Token, layers: &mut Layers<L>, waiting: &mut Waiting<L, D>) {
        let count = core::mem::take(&mut waiting.count);
        let points = &mut waiting.points;
        for (_, field) in self.fields.differentiated() {
            points.set_gradients(field, count);
        }
        self.form.evaluate(token, count, points);
        for (p, &place) in waiting.places.iter().enumerate().take(count) {
            for c in 0..self.components {
                if self.values {
                    *layers.values.at_mut(c, place) = points.u[c][p];
                }
                if self.gradients {
                    for r in 0..D {
                        *layers.gradients[r].at_mut(c, place) = points.grad_u[c][r][p];
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn layers(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: &mut Layers<L>,
        waiting: &mut Waiting<L, D>,
    ) where
        M: Metric<L, D>,
    {
        let context = data.context;
        waiting.points.set_context(context.time, context.parameters);
        for (n, field) in self.fields.of_cells().enumerate() {
            waiting.points.a[field] = [load(token, data.auxiliary, n); MOST_POINTS];
        }
        let n = rule.points.len();
        let first = layers.first;
        for layer in 0..layers.count {
            let k = first + layer;
            let zeta = L::splat(token, rule.points[k]);
            let at_layer = M::layer(token, data.geometry, zeta, self.reads_position);
            for j in 0..n {
                let row = (k * n + j) * n;
                let at_row = M::row(&at_layer, row, L::splat(token, rule.points[j]));
                let row_weight = match D {
                    2 => rule.weights[j],
                    _ => rule.weights[j] * rule.weights[k],
                };
                for i in 0..n {
                    let xi = L::splat(token, rule.points[i]);
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let map = (M::at(&at_row, token, data.geometry, i, xi), weight);
                    if self.reads_position {
                        let x = M::position(&at_row, token, data.geometry, i, xi);
                        for d in 0..D {
                            waiting.points.x[d][waiting.count] = x[d];
                        }
                    }
                    let place = ((layer * n + j) * n + i, row + i);
                    self.collect((token, data), place, map, layers, waiting);
                    if waiting.count == MOST_POINTS {
                        self.evaluate(token, layers, waiting);
                    }
                }
            }
        }
        if waiting.count > 0 {
            self.evaluate(token, layers, waiting);
        }
    }
}

impl<L: Lanes, M: Metric<L, D>, const D: usize> Stage<L> for InterpretedStage<L, M, D> {
    fn components(&self) -> usize {
        self.components
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
        mut layers: Layers<L>,
        workspace: &mut Workspace,
    ) {
        let new = || self.nothing_waits(token);
        let waiting = self.identity.scratch_of(workspace, new);
        token.vectorize(
            #[inline(always)]
            || self.layers(token, rule, data, &mut layers, waiting),
        );
    }
}
