//! The stage of stored factors.

use super::metric::{dot, load};
use super::stage::{BatchData, Layers, Rule, Stage};
use crate::family::batch::Workspace;
use crate::scalar::Lanes;
use fearless_simd::Simd;

/// Multiplies by the quadrature weight, if it is not part of the factors.
struct Scale<L, const YES: bool>(L);

impl<L: Lanes, const YES: bool> Scale<L, YES> {
    #[inline(always)]
    fn of(&self, x: L) -> L {
        if YES { x * self.0 } else { x }
    }
}

/// A product with stored factors: G ∇u and m u, with the form's coefficients and the weights folded
/// in (Świrydowicz et al. 2019, eq. 10): 6 numbers for G (rr, rs, rt, ss, st, tt), then 1 for m.
///
/// `PER_ELEMENT`: one set for a whole affine element, without weights.
pub(crate) struct FactorStage<const VALUES: bool, const GRADIENTS: bool, const PER_ELEMENT: bool> {
    pub(crate) components: usize,
}

impl<const VALUES: bool, const GRADIENTS: bool, const PER_ELEMENT: bool>
    FactorStage<VALUES, GRADIENTS, PER_ELEMENT>
{
    /// Factors per point (or per element).
    pub(crate) const FACTORS: usize = if GRADIENTS { 6 } else { 0 } + if VALUES { 1 } else { 0 };

    #[inline(always)]
    fn layers<L: Lanes>(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        geometry: &[L::Real],
        mut layers: Layers<L>,
    ) {
        let n = rule.points.len();
        for component in 0..self.components {
            let [gx, gy, gz] = &mut layers.gradients;
            let [gx, gy, gz] = [gx, gy, gz].map(|axis| axis.component(component));
            let values = layers.values.component(component);
            for row in 0..layers.count * n {
                let (k, j) = (layers.first + row / n, row % n);
                let row_weight = rule.weights[j] * rule.weights[k];
                for i in 0..n {
                    let p = row * n + i;
                    let first = if PER_ELEMENT {
                        0
                    } else {
                        ((k * n + j) * n + i) * Self::FACTORS
                    };
                    let factors = &geometry[first * L::WIDTH..][..Self::FACTORS * L::WIDTH];
                    let weight = L::splat(token, row_weight * rule.weights[i]);
                    let scale = Scale::<L, PER_ELEMENT>(weight);
                    if GRADIENTS {
                        let g = [scale.of(gx[p]), scale.of(gy[p]), scale.of(gz[p])];
                        let (rs, rt, st) = (
                            load(token, factors, 1),
                            load(token, factors, 2),
                            load(token, factors, 4),
                        );
                        gx[p] = dot(g, [load(token, factors, 0), rs, rt]);
                        gy[p] = dot(g, [rs, load(token, factors, 3), st]);
                        gz[p] = dot(g, [rt, st, load(token, factors, 5)]);
                    }
                    if VALUES {
                        values[p] =
                            scale.of(values[p]) * load::<L>(token, factors, Self::FACTORS - 1);
                    }
                }
            }
        }
    }
}

impl<L: Lanes, const VALUES: bool, const GRADIENTS: bool, const PER_ELEMENT: bool> Stage<L>
    for FactorStage<VALUES, GRADIENTS, PER_ELEMENT>
{
    fn components(&self) -> usize {
        self.components
    }
    fn has_values(&self) -> bool {
        VALUES
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
        _: &mut Workspace,
    ) {
        token.vectorize(
            #[inline(always)]
            || self.layers(token, rule, data.geometry, layers),
        );
    }
}
