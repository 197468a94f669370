//! The stage of forms λ u, κ ∇u, whose coefficients go with the geometry.

use super::factor_sources::{Factors, Source};
use super::stage::{BatchData, Layers, Rule, Stage};
use super::whole;
use crate::family::batch::Workspace;
use crate::family::sum_factorization::work::{Shape, TOGETHER};
use crate::scalar::Lanes;
use core::marker::PhantomData;
use fearless_simd::Simd;

/// A product with factors from a source.
pub(crate) struct FactorStage<S> {
    components: usize,
    /// Whether elements are of degree 1, with few points.
    whole: bool,
    source: PhantomData<S>,
}

impl<S> FactorStage<S> {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self {
            components: shape.components,
            whole: shape.is_whole(),
            source: PhantomData,
        }
    }

    /// The layers of C components from number `component` on.
    #[inline(always)]
    fn layers<L: Lanes, const C: usize>(
        token: L::Token,
        rule: &Rule<L::Real>,
        geometry: &[L::Real],
        layers: &mut Layers<L>,
        component: usize,
    ) where
        S: Source<L>,
    {
        let n = rule.points.len();
        let len = layers.count * n * n;
        let len_if = |wanted| if wanted { len } else { 0 };
        let [gx, gy, gz] = &mut layers.gradients;
        let gx = &mut gx.components::<C>(component, len_if(S::GRADIENTS));
        let gy = &mut gy.components::<C>(component, len_if(S::GRADIENTS));
        let gz = &mut gz.components::<C>(component, len_if(S::GRADIENTS));
        let values = &mut layers.values.components::<C>(component, len_if(S::VALUES));
        for layer in 0..layers.count {
            let k = layers.first + layer;
            let at_layer = S::layer(token, geometry, L::splat(token, rule.points[k]));
            for j in 0..n {
                let eta = L::splat(token, rule.points[j]);
                let at_row = S::row(&at_layer, (k * n + j) * n, eta);
                let row_weight = rule.weights[j] * rule.weights[k];
                for i in 0..n {
                    let p = (layer * n + j) * n + i;
                    let xi = L::splat(token, rule.points[i]);
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let factors = S::at(&at_row, geometry, i, (xi, weight));
                    let matrix = factors.matrix();
                    for c in 0..C {
                        if S::GRADIENTS {
                            let g = [gx[c][p], gy[c][p], gz[c][p]];
                            let f = match C < TOGETHER {
                                true => factors.of_gradient(g),
                                false => matrix.of_gradient(g),
                            };
                            [gx[c][p], gy[c][p], gz[c][p]] = f;
                        }
                        if S::VALUES {
                            values[c][p] = match C < TOGETHER {
                                true => factors.of_value(values[c][p]),
                                false => matrix.of_value(values[c][p]),
                            };
                        }
                    }
                }
            }
        }
    }
}

impl<L: Lanes, S: Source<L>> Stage<L> for FactorStage<S> {
    fn components(&self) -> usize {
        self.components
    }
    fn has_values(&self) -> bool {
        S::VALUES
    }
    fn has_gradients(&self) -> bool {
        S::GRADIENTS
    }

    #[inline(never)]
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        mut layers: Layers<L>,
        _: &mut Workspace,
    ) {
        token.vectorize(
            #[inline(always)]
            || {
                let (geometry, all) = (data.geometry, &mut layers);
                for first in (0..self.components).step_by(TOGETHER) {
                    match self.components - first {
                        1 => Self::layers::<L, 1>(token, rule, geometry, all, first),
                        2 => Self::layers::<L, 2>(token, rule, geometry, all, first),
                        _ => Self::layers::<L, TOGETHER>(token, rule, geometry, all, first),
                    }
                }
            },
        );
    }

    #[inline(never)]
    fn value_factors(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        (first, count): (usize, usize),
        out: &mut [L],
    ) -> bool {
        if S::GRADIENTS {
            return false;
        }
        token.vectorize(
            #[inline(always)]
            || {
                let n = rule.points.len();
                let (points, weights) = (&rule.points[..n], &rule.weights[..n]);
                for layer in 0..count {
                    let (k, out) = (first + layer, &mut out[layer * n * n..][..n * n]);
                    let at_layer = S::layer(token, data.geometry, L::splat(token, points[k]));
                    for j in 0..n {
                        let out = &mut out[j * n..][..n];
                        let at_row = S::row(&at_layer, (k * n + j) * n, L::splat(token, points[j]));
                        let row_weight = weights[j] * weights[k];
                        for i in 0..n {
                            let xi = L::splat(token, points[i]);
                            let weight = L::splat(token, row_weight * weights[i]);
                            let factors = S::at(&at_row, data.geometry, i, (xi, weight));
                            out[i] = factors.matrix().value;
                        }
                    }
                }
            },
        );
        true
    }

    #[inline(never)]
    fn whole(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        nodal: &mut [L],
    ) -> bool {
        match (self.whole && S::WHOLE && !L::NARROW, rule.points.len()) {
            (true, 2) => whole::apply::<L, S, 2>(token, rule, data.geometry, nodal),
            (true, 3) => whole::apply::<L, S, 3>(token, rule, data.geometry, nodal),
            _ => return false,
        }
        true
    }
}
