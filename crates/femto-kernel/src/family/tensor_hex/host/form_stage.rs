//! The stage of a form: evaluated as written, with the Jacobian from a metric.

use super::metric::{Jacobian, Metric, dot, each3};
use super::stage::{BatchData, Layers, Rule, Stage};
use crate::form::{Form, MAX_FIELDS, Point};
use crate::scalar::{Lanes, Real};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// A form evaluated with the Jacobian from a metric.
pub(crate) struct FormStage<F, M, const C: usize, const GRADIENTS: bool> {
    pub(crate) form: F,
    /// Values enter or leave the form; always, if there are no gradients.
    pub(crate) values: bool,
    pub(crate) reads_position: bool,
    pub(crate) metric: PhantomData<M>,
}

impl<L, F, M, const C: usize, const GRADIENTS: bool> Stage<L> for FormStage<F, M, C, GRADIENTS>
where
    L: Lanes,
    F: Form<3, C>,
    M: Metric<L>,
{
    fn components(&self) -> usize {
        C
    }
    fn has_values(&self) -> bool {
        self.values()
    }
    fn has_gradients(&self) -> bool {
        GRADIENTS
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

impl<F, M, const C: usize, const GRADIENTS: bool> FormStage<F, M, C, GRADIENTS> {
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
        let len = layers.count * n * n;
        let mut values = layers
            .values
            .split::<C>(if self.values() { len } else { 0 });
        let mut gradients = layers
            .gradients
            .map(|axis| axis.split::<C>(if GRADIENTS { len } else { 0 }));
        let zero = L::splat(token, L::Real::from_f64(0.0));
        let (a, fields) = fields(token, zero, data.auxiliary);
        let (parameters, count) = constants(token, zero, data.conditions.parameters);
        let mut point = Point {
            u: [zero; C],
            grad_u: [[zero; 3]; C],
            a: &a[..fields],
            grad_a: &[],
            x: [zero; 3],
            time: zero.constant(data.conditions.time),
            parameters: &parameters[..count],
        };
        for (layer, k) in (layers.first..layers.first + layers.count).enumerate() {
            let zeta = L::splat(token, rule.points[k]);
            let at_layer = M::layer(token, data.geometry, zeta, self.reads_position);
            for j in 0..n {
                let eta = L::splat(token, rule.points[j]);
                let at_row = M::row(&at_layer, (k * n + j) * n, eta);
                let row_weight = rule.weights[j] * rule.weights[k];
                for i in 0..n {
                    let p = (layer * n + j) * n + i;
                    let xi = L::splat(token, rule.points[i]);
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let jacobian = M::at(&at_row, token, data.geometry, i, xi);
                    if self.reads_position {
                        point.x = M::position(&at_row, token, data.geometry, i, xi);
                    }
                    self.point(
                        jacobian,
                        weight,
                        &mut point,
                        p,
                        (&mut values, &mut gradients),
                    );
                }
            }
        }
    }

    /// Known when compiling where there are no gradients.
    #[inline(always)]
    fn values(&self) -> bool {
        !GRADIENTS || self.values
    }

    /// One point: from values and reference gradients at `p` to what multiplies the test function
    /// and its reference gradient.
    #[inline(always)]
    fn point<L: Lanes>(
        &self,
        jacobian: Jacobian<L>,
        weight: L,
        point: &mut Point<'_, L, 3, C>,
        p: usize,
        (values, gradients): (&mut [&mut [L]; C], &mut [[&mut [L]; C]; 3]),
    ) where
        F: Form<3, C>,
    {
        let Jacobian {
            adjugate,
            determinant,
        } = jacobian;
        if self.values() {
            for (u, values) in point.u.iter_mut().zip(&*values) {
                *u = values[p];
            }
        }
        if GRADIENTS {
            let inverse = determinant.constant(1.0) / determinant;
            let [gx, gy, gz] = &*gradients;
            for c in 0..C {
                let g = [gx[c][p] * inverse, gy[c][p] * inverse, gz[c][p] * inverse];
                point.grad_u[c] = each3(
                    #[inline(always)]
                    |d| dot(g, [adjugate[0][d], adjugate[1][d], adjugate[2][d]]),
                );
            }
        }
        if self.values() {
            let f0 = self.form.f0(point);
            let scale = weight * determinant;
            for c in 0..C {
                values[c][p] = f0[c] * scale;
            }
        }
        if GRADIENTS {
            let f1 = self.form.f1(point);
            for c in 0..C {
                let f = each3(
                    #[inline(always)]
                    |d| f1[c][d] * weight,
                );
                for r in 0..3 {
                    gradients[r][c][p] = dot(f, adjugate[r]);
                }
            }
        }
    }
}

/// The auxiliary fields of a batch, and how many there are.
#[inline(always)]
fn fields<L: Lanes>(token: L::Token, zero: L, packed: &[L::Real]) -> ([L; MAX_FIELDS], usize) {
    let mut a = [zero; MAX_FIELDS];
    let count = (packed.len() / L::WIDTH).min(MAX_FIELDS);
    for (field, lanes) in a.iter_mut().zip(packed.chunks_exact(L::WIDTH)) {
        *field = L::load(token, lanes);
    }
    (a, count)
}

/// The run-time parameters, the same in every lane.
#[inline(always)]
fn constants<L: Lanes>(token: L::Token, zero: L, values: &[f64]) -> ([L; MAX_FIELDS], usize) {
    let mut lanes = [zero; MAX_FIELDS];
    for (lane, &value) in lanes.iter_mut().zip(values) {
        *lane = L::splat(token, L::Real::from_f64(value));
    }
    (lanes, values.len().min(MAX_FIELDS))
}
