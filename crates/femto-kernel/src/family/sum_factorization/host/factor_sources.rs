//! The factors of a form λ u, κ ∇u at the points of elements: stored, or recomputed from the map.

use super::metric::{Jacobian, Metric, dot, load};
use crate::scalar::Lanes;
use core::marker::PhantomData;

/// Multiplies values and reference gradients at a point.
pub(crate) trait Factors<L>: Copy {
    /// κ w det J J⁻¹J⁻ᵀ g.
    fn of_gradient(&self, g: [L; 3]) -> [L; 3];
    /// λ w det J u.
    fn of_value(&self, u: L) -> L;
    /// The same factors as a matrix, cheaper to multiply by.
    fn matrix(&self) -> Matrix<L>;
}

/// The factors of the points of a batch of elements. Quantities common to all points of a layer (ζ fixed), or of a row
/// (η and ζ fixed), are computed once. `VALUES` and `GRADIENTS` tell what is multiplied.
pub(crate) trait Source<L: Lanes>: Send + Sync + 'static {
    const VALUES: bool;
    const GRADIENTS: bool;
    /// Whether elements of degree 1 are taken as a whole; not tried where factors are stored at the points.
    const WHOLE: bool;
    /// Data common to the points of a layer.
    type Layer;
    /// Data common to the points of a row.
    type Row;
    /// The factors of a point.
    type Point: Factors<L>;

    /// Prepares the layer at reference coordinate `zeta`.
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L) -> Self::Layer;
    /// Prepares the row at reference coordinate `eta`, whose first point is `first`.
    fn row(layer: &Self::Layer, first: usize, eta: L) -> Self::Row;
    /// The factors of point `i` of the row, at this reference coordinate and with this quadrature weight.
    fn at(row: &Self::Row, geometry: &[L::Real], i: usize, xi_weight: (L, L)) -> Self::Point;
}

/// 6 numbers for the gradient (rr, rs, rt, ss, st, tt) and one for the value (Świrydowicz et al. 2019, eq. 10).
#[derive(Clone, Copy)]
pub(crate) struct Matrix<L> {
    gradient: [L; 6],
    pub(super) value: L,
}

impl<L: Lanes> Factors<L> for Matrix<L> {
    #[inline(always)]
    fn of_gradient(&self, g: [L; 3]) -> [L; 3] {
        let [rr, rs, rt, ss, st, tt] = self.gradient;
        [
            dot(g, [rr, rs, rt]),
            dot(g, [rs, ss, st]),
            dot(g, [rt, st, tt]),
        ]
    }
    #[inline(always)]
    fn of_value(&self, u: L) -> L {
        u * self.value
    }
    #[inline(always)]
    fn matrix(&self) -> Self {
        *self
    }
}

/// Reads factors, 6 for gradients if there are any, then one for values.
#[inline(always)]
fn read<L: Lanes, const VALUES: bool, const GRADIENTS: bool>(
    token: L::Token,
    geometry: &[L::Real],
    point: usize,
) -> Matrix<L> {
    let count = 6 * GRADIENTS as usize + VALUES as usize;
    let factors = &geometry[point * count * L::WIDTH..][..count * L::WIDTH];
    let mut gradient = [load(token, factors, 0); 6];
    if GRADIENTS {
        for (n, out) in gradient.iter_mut().enumerate().skip(1) {
            *out = load(token, factors, n);
        }
    }
    Matrix {
        gradient,
        value: load(token, factors, count - 1),
    }
}

/// Factors at every point, with coefficients and weights.
pub(crate) struct OfPoints<const VALUES: bool, const GRADIENTS: bool>;

impl<L: Lanes, const VALUES: bool, const GRADIENTS: bool> Source<L>
    for OfPoints<VALUES, GRADIENTS>
{
    const VALUES: bool = VALUES;
    const GRADIENTS: bool = GRADIENTS;
    const WHOLE: bool = false;
    type Layer = ();
    /// The row's first point.
    type Row = usize;
    type Point = Matrix<L>;

    #[inline(always)]
    fn layer(_: L::Token, _: &[L::Real], _: L) {}

    #[inline(always)]
    fn row(_: &(), first: usize, _: L) -> usize {
        first
    }

    #[inline(always)]
    fn at(&first: &usize, geometry: &[L::Real], i: usize, (xi, _): (L, L)) -> Matrix<L> {
        read::<L, VALUES, GRADIENTS>(xi.token(), geometry, first + i)
    }
}

/// Factors of an affine element, without weights.
pub(crate) struct OfElement<const VALUES: bool, const GRADIENTS: bool>;

/// The factors of an element, to be multiplied by a point's weight.
#[derive(Clone, Copy)]
pub(crate) struct Weighted<L> {
    factors: Matrix<L>,
    weight: L,
}

impl<L: Lanes> Factors<L> for Weighted<L> {
    #[inline(always)]
    fn of_gradient(&self, [x, y, z]: [L; 3]) -> [L; 3] {
        let w = self.weight;
        self.factors.of_gradient([x * w, y * w, z * w])
    }
    #[inline(always)]
    fn of_value(&self, u: L) -> L {
        self.factors.of_value(u * self.weight)
    }
    #[inline(always)]
    fn matrix(&self) -> Matrix<L> {
        let Matrix {
            mut gradient,
            mut value,
        } = self.factors;
        for number in &mut gradient {
            *number = *number * self.weight;
        }
        value = value * self.weight;
        Matrix { gradient, value }
    }
}

impl<L: Lanes, const VALUES: bool, const GRADIENTS: bool> Source<L>
    for OfElement<VALUES, GRADIENTS>
{
    const VALUES: bool = VALUES;
    const GRADIENTS: bool = GRADIENTS;
    const WHOLE: bool = true;
    type Layer = Matrix<L>;
    type Row = Matrix<L>;
    type Point = Weighted<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], _: L) -> Matrix<L> {
        read::<L, VALUES, GRADIENTS>(token, geometry, 0)
    }

    #[inline(always)]
    fn row(layer: &Matrix<L>, _: usize, _: L) -> Matrix<L> {
        *layer
    }

    #[inline(always)]
    fn at(&factors: &Matrix<L>, _: &[L::Real], _: usize, (_, weight): (L, L)) -> Weighted<L> {
        Weighted { factors, weight }
    }
}

/// Recomputed from a trilinear map: its coefficients `[7][3]` as the metric M reads them, then λ if there are values,
/// then κ.
pub(crate) struct OfMap<M, const VALUES: bool>(PhantomData<M>);

/// A row of a trilinear map, λ and κ.
#[derive(Clone, Copy)]
pub(crate) struct MapRow<L, R> {
    metric: R,
    coefficients: [L; 2],
}

/// The Jacobian of a point, with λ w det J and κ w / det J.
#[derive(Clone, Copy)]
pub(crate) struct Recomputed<L> {
    adjugate: [[L; 3]; 3],
    value: L,
    scale: L,
}

impl<L: Lanes> Factors<L> for Recomputed<L> {
    #[inline(always)]
    fn of_gradient(&self, g: [L; 3]) -> [L; 3] {
        let ([a, b, c], s) = (self.adjugate, self.scale);
        // Scaled late: the division takes as long as several products, which do not wait for it.
        let physical = [
            dot(g, [a[0], b[0], c[0]]) * s,
            dot(g, [a[1], b[1], c[1]]) * s,
            dot(g, [a[2], b[2], c[2]]) * s,
        ];
        [dot(physical, a), dot(physical, b), dot(physical, c)]
    }
    #[inline(always)]
    fn of_value(&self, u: L) -> L {
        u * self.value
    }
    #[inline(always)]
    fn matrix(&self) -> Matrix<L> {
        let ([a, b, c], s) = (self.adjugate, self.scale);
        let gradient = [
            dot(a, a) * s,
            dot(a, b) * s,
            dot(a, c) * s,
            dot(b, b) * s,
            dot(b, c) * s,
            dot(c, c) * s,
        ];
        Matrix {
            gradient,
            value: self.value,
        }
    }
}

impl<L: Lanes, M: Metric<L, 3>, const VALUES: bool> Source<L> for OfMap<M, VALUES> {
    const VALUES: bool = VALUES;
    const GRADIENTS: bool = true;
    const WHOLE: bool = M::FEW_POINTS;
    type Layer = (M::Layer, [L; 2]);
    type Row = MapRow<L, M::Row>;
    type Point = Recomputed<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L) -> Self::Layer {
        let last = 21 + VALUES as usize;
        let coefficients = [load(token, geometry, 21), load(token, geometry, last)];
        let layer = M::layer(token, geometry, zeta, false);
        (layer, coefficients)
    }

    #[inline(always)]
    fn row((layer, coefficients): &Self::Layer, first: usize, eta: L) -> Self::Row {
        MapRow {
            metric: M::row(layer, first, eta),
            coefficients: *coefficients,
        }
    }

    #[inline(always)]
    fn at(row: &Self::Row, geometry: &[L::Real], i: usize, (xi, weight): (L, L)) -> Recomputed<L> {
        let [lambda, kappa] = row.coefficients;
        let Jacobian {
            adjugate,
            determinant,
        } = M::at(&row.metric, xi.token(), geometry, i, xi);
        Recomputed {
            adjugate,
            value: lambda * (weight * determinant),
            scale: kappa * weight / determinant,
        }
    }
}

/// Values only, recomputed from λ det J of a trilinear map, quadratic in each coordinate: coefficients `[3][3][3]` of
/// powers of ζ, η, ξ.
pub(crate) struct OfDeterminant;

/// The factor of a value; there are no gradients, and what their functions return has no meaning.
#[derive(Clone, Copy)]
pub(crate) struct Value<L>(L);

impl<L: Lanes> Factors<L> for Value<L> {
    #[inline(always)]
    fn of_gradient(&self, g: [L; 3]) -> [L; 3] {
        g
    }
    #[inline(always)]
    fn of_value(&self, u: L) -> L {
        u * self.0
    }
    #[inline(always)]
    fn matrix(&self) -> Matrix<L> {
        Matrix {
            gradient: [self.0; 6],
            value: self.0,
        }
    }
}

/// a + b x + c x².
#[inline(always)]
fn quadratic<L: Lanes>([a, b, c]: [L; 3], x: L) -> L {
    c.mul_add(x, b).mul_add(x, a)
}

impl<L: Lanes> Source<L> for OfDeterminant {
    const VALUES: bool = true;
    const GRADIENTS: bool = false;
    const WHOLE: bool = true;
    /// `[3][3]` for powers of η, ξ.
    type Layer = [[L; 3]; 3];
    type Row = [L; 3];
    type Point = Value<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L) -> [[L; 3]; 3] {
        let mut layer = [[zeta; 3]; 3];
        for (n, out) in layer.as_flattened_mut().iter_mut().enumerate() {
            let of_power = [
                load(token, geometry, n),
                load(token, geometry, 9 + n),
                load(token, geometry, 18 + n),
            ];
            *out = quadratic(of_power, zeta);
        }
        layer
    }

    #[inline(always)]
    fn row(layer: &[[L; 3]; 3], _: usize, eta: L) -> [L; 3] {
        let mut row = layer[0];
        for (n, out) in row.iter_mut().enumerate() {
            *out = quadratic([layer[0][n], layer[1][n], layer[2][n]], eta);
        }
        row
    }

    #[inline(always)]
    fn at(row: &[L; 3], _: &[L::Real], _: usize, (xi, weight): (L, L)) -> Value<L> {
        Value(weight * quadratic(*row, xi))
    }
}
