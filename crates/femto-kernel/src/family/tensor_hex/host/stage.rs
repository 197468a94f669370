//! The point-wise stage: what happens at the quadrature points of a batch.

use super::metric::{Jacobian, Metric, dot, each3, load};
use crate::family::tensor_hex::Conditions;
use crate::form::{Form, MAX_FIELDS, Point};
use crate::scalar::{Lanes, Real};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// Values and reference gradients at the points of a few layers, replaced in place by what
/// multiplies the test function and its reference gradient.
pub(crate) struct Layers<'a, L> {
    /// First layer (index along ζ) and their number.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// `[component][layer][j][i]`, neighbouring components `stride` apart; unused when the stage
    /// has no values.
    pub(crate) values: Strided<'a, L>,
    /// The same for ∂/∂ξ, ∂/∂η, ∂/∂ζ; unused when the stage has no gradients.
    pub(crate) gradients: [Strided<'a, L>; 3],
}

/// The part of an array over components that belongs to some layers.
pub(crate) struct Strided<'a, L> {
    pub(crate) data: &'a mut [L],
    /// Distance of components.
    pub(crate) stride: usize,
    /// Where the layers start inside a component.
    pub(crate) offset: usize,
}

impl<'a, L> Strided<'a, L> {
    /// The layers of one component and what follows them; empty where there is no data.
    #[inline(always)]
    fn component(&mut self, component: usize) -> &mut [L] {
        self.data
            .get_mut(component * self.stride + self.offset..)
            .unwrap_or_default()
    }

    /// One slice of `len` entries per component; empty slices where there is no data.
    #[inline(always)]
    fn split<const C: usize>(self, len: usize) -> [&'a mut [L]; C] {
        let Self {
            data,
            stride,
            offset,
        } = self;
        let mut components = data.chunks_mut(stride.max(1));
        core::array::from_fn(|_| match components.next() {
            Some(component) => &mut component[offset..offset + len],
            None => &mut [],
        })
    }
}

/// The tensor rule of the points, in the precision of the kernel.
#[derive(Clone)]
pub(crate) struct Rule<T> {
    pub(crate) points: Vec<T>,
    pub(crate) weights: Vec<T>,
}

/// One batch's data for the stage: packed geometry, then auxiliary fields `[field][lane]`.
pub(crate) struct BatchData<'a, T> {
    pub(crate) geometry: &'a [T],
    pub(crate) auxiliary: &'a [T],
    pub(crate) conditions: &'a Conditions<'a>,
}

/// What is done at the points: a form on some geometry, or a product with stored factors.
pub(crate) trait Stage<L: Lanes>: Send + Sync {
    /// Number of components.
    fn components(&self) -> usize;
    /// Whether values enter or leave.
    fn has_values(&self) -> bool;
    /// Whether gradients enter or leave.
    fn has_gradients(&self) -> bool;
    /// Lanes of packed geometry per batch.
    fn geometry_len(&self) -> usize;
    /// Works on some layers.
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
    );
}

/// A form evaluated with the Jacobian from a metric.
pub(crate) struct FormStage<F, M, const C: usize, const VALUES: bool, const GRADIENTS: bool> {
    pub(crate) form: F,
    pub(crate) points_1d: usize,
    pub(crate) reads_position: bool,
    pub(crate) metric: PhantomData<M>,
}

impl<L, F, M, const C: usize, const VALUES: bool, const GRADIENTS: bool> Stage<L>
    for FormStage<F, M, C, VALUES, GRADIENTS>
where
    L: Lanes,
    F: Form<3, C>,
    M: Metric<L>,
{
    fn components(&self) -> usize {
        C
    }
    fn has_values(&self) -> bool {
        VALUES
    }
    fn has_gradients(&self) -> bool {
        GRADIENTS
    }
    fn geometry_len(&self) -> usize {
        let [jacobian, position] = M::len(self.points_1d.pow(3));
        jacobian + if self.reads_position { position } else { 0 }
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

impl<F, M, const C: usize, const VALUES: bool, const GRADIENTS: bool>
    FormStage<F, M, C, VALUES, GRADIENTS>
{
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
        let mut values = layers.values.split::<C>(if VALUES { len } else { 0 });
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
        if VALUES {
            for c in 0..C {
                point.u[c] = values[c][p];
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
        if VALUES {
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

/// Multiplication with the quadrature weight where it is not part of the factors.
struct Scale<L, const YES: bool>(L);

impl<L: Lanes, const YES: bool> Scale<L, YES> {
    #[inline(always)]
    fn of(&self, x: L) -> L {
        if YES { x * self.0 } else { x }
    }
}

/// A product with stored factors: G ∇u and m u, with the form's coefficients and the weights folded
/// in (seed 002, eq. 10): 6 numbers for G (rr, rs, rt, ss, st, tt), then 1 for m.
///
/// `PER_ELEMENT`: one set for the whole of an affine element, weights left out.
pub(crate) struct FactorStage<const VALUES: bool, const GRADIENTS: bool, const PER_ELEMENT: bool> {
    pub(crate) components: usize,
    pub(crate) points_1d: usize,
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
    fn geometry_len(&self) -> usize {
        Self::FACTORS
            * if PER_ELEMENT {
                1
            } else {
                self.points_1d.pow(3)
            }
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
            || self.layers(token, rule, data.geometry, layers),
        );
    }
}

impl<'a, T> BatchData<'a, T> {
    /// What the stage needs of a batch.
    pub(crate) fn of(batch: &super::Batch<'a, T>) -> Self {
        Self {
            geometry: batch.geometry,
            auxiliary: batch.auxiliary,
            conditions: batch.conditions,
        }
    }
}
