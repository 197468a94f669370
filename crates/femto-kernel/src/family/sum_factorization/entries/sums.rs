//! The numbers of elements as sums over points, for as many elements as there are lanes.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled"
)]

use super::{Entries, NODES, PARTS, Point1d};
use crate::family::CellMap;
use crate::family::sum_factorization::host::metric::{Jacobian, dot, jacobian};
use crate::scalar::{Lanes, SimdTask, Vectorizable};
use fearless_simd::Simd;

/// Most numbers of an element.
const MOST: usize = NODES * (NODES + 1) / 2;

/// Sums over the points of as many elements as there are lanes, `[power of the later axis][of the earlier]`.
struct Sums<L> {
    /// Of the metric's diagonal, `[axis]`, times powers along the other two axes.
    diagonal: [[[L; 3]; 3]; 3],
    /// Of its other entries (ξη, ξζ, ηζ), times powers along the third axis, and 1 or x along these two,
    /// `[power of the third axis][..][..]`.
    mixed: [[[[L; 2]; 2]; 3]; 3],
    /// Of λ det J times powers or parts, `[ζ][η][ξ]`.
    values: [[[L; 3]; 3]; 3],
}

/// Sums over a row of points.
struct Row<L> {
    xx: L,
    xy: [L; 2],
    xz: [L; 2],
    yy: [L; 3],
    yz: [L; 3],
    zz: [L; 3],
    values: [L; 3],
}

/// sums += x factors.
#[inline(always)]
fn add<L: Lanes, const N: usize>(sums: &mut [L; N], x: L, factors: [f64; N]) {
    for n in 0..N {
        sums[n] = x.mul_add(x.constant(factors[n]), sums[n]);
    }
}

/// The same with a vector of x.
#[inline(always)]
fn add_rows<L: Lanes, const M: usize, const N: usize>(
    sums: &mut [[L; N]; M],
    rows: [f64; M],
    x: [L; N],
) {
    for m in 0..M {
        for n in 0..N {
            sums[m][n] = x[n].mul_add(x[n].constant(rows[m]), sums[m][n]);
        }
    }
}

/// `x f`, for each f.
#[inline(always)]
fn times<L: Lanes, const N: usize>(x: L, factors: [f64; N]) -> [L; N] {
    let mut products = [x; N];
    for n in 0..N {
        products[n] = x * factors[n];
    }
    products
}

/// Packs a group with the processor's instruction set.
pub(super) struct Pack<'a> {
    pub(super) entries: &'a Entries,
    pub(super) maps: &'a [CellMap<'a>],
    pub(super) coefficients: &'a [(f64, f64)],
    pub(super) out: &'a mut [f64],
    pub(super) stride: usize,
}

impl SimdTask for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        token.vectorize(
            #[inline(always)]
            || self.with_lanes::<<f64 as Vectorizable>::Lanes<S>>(token),
        );
    }
}

impl Pack<'_> {
    #[inline(always)]
    fn with_lanes<L: Lanes<Real = f64>>(self, token: L::Token) {
        let outs = self.out.chunks_mut(self.stride * L::WIDTH);
        let inputs = self
            .maps
            .chunks(L::WIDTH)
            .zip(self.coefficients.chunks(L::WIDTH));
        for (out, (maps, coefficients)) in outs.zip(inputs) {
            let elements = Elements::<L>::new(token, maps, coefficients);
            let sums = match (self.entries.values, self.entries.gradients) {
                (_, false) => self.entries.sum::<L, true, false>(token, &elements),
                (false, true) => self.entries.sum::<L, false, true>(token, &elements),
                (true, true) => self.entries.sum::<L, true, true>(token, &elements),
            };
            let mut numbers = [L::splat(token, 0.0); MOST];
            let count = self.entries.numbers(&sums, &mut numbers);
            for (lane, out) in out.chunks_mut(self.stride).enumerate() {
                for (out, number) in out.iter_mut().zip(&numbers[..count]) {
                    *out = number.lanes()[lane];
                }
            }
        }
    }
}

/// The maps of as many elements as there are lanes; lanes without one repeat the last.
struct Elements<'a, L> {
    maps: &'a [CellMap<'a>],
    /// Coefficients of trilinear maps.
    coefficients: [[L; 3]; 8],
    lambda: L,
    kappa: L,
}

impl<'a, L: Lanes<Real = f64>> Elements<'a, L> {
    #[inline(always)]
    fn new(token: L::Token, maps: &'a [CellMap<'a>], folded: &[(f64, f64)]) -> Self {
        let last = maps.len() - 1;
        let mut coefficients = [[L::splat(token, 0.0); 3]; 8];
        for (n, out) in coefficients.as_flattened_mut().iter_mut().enumerate() {
            *out = L::from_fn(
                token,
                #[inline(always)]
                |lane| match maps[lane.min(last)] {
                    CellMap::Map(c) => c[n / 3][n % 3],
                    _ => 0.0,
                },
            );
        }
        Self {
            maps,
            coefficients,
            lambda: L::from_fn(
                token,
                #[inline(always)]
                |lane| folded[lane.min(last)].0,
            ),
            kappa: L::from_fn(
                token,
                #[inline(always)]
                |lane| folded[lane.min(last)].1,
            ),
        }
    }

    /// The columns of the Jacobian at a point, number `p`.
    #[inline(always)]
    fn columns(&self, token: L::Token, p: usize, [xi, eta, zeta]: [f64; 3]) -> [[L; 3]; 3] {
        if let CellMap::Map(_) = self.maps[0] {
            let of = L::splat;
            let (xi, eta, zeta) = (of(token, xi), of(token, eta), of(token, zeta));
            let c = &self.coefficients;
            return [
                column([c[1], c[3], c[5], c[7]], eta, zeta),
                column([c[2], c[3], c[6], c[7]], xi, zeta),
                column([c[4], c[5], c[6], c[7]], xi, eta),
            ];
        }
        let last = self.maps.len() - 1;
        let mut columns = [[L::splat(token, 0.0); 3]; 3];
        for (n, out) in columns.as_flattened_mut().iter_mut().enumerate() {
            *out = L::from_fn(
                token,
                #[inline(always)]
                |lane| match self.maps[lane.min(last)] {
                    CellMap::Points { jacobian, .. } => jacobian[p][n % 3][n / 3],
                    _ => f64::NAN,
                },
            );
        }
        columns
    }
}

/// a + s b + t (c + s d).
#[inline(always)]
fn column<L: Lanes>([a, b, c, d]: [[L; 3]; 4], s: L, t: L) -> [L; 3] {
    let mut column = a;
    for n in 0..3 {
        column[n] = d[n].mul_add(s, c[n]).mul_add(t, b[n].mul_add(s, a[n]));
    }
    column
}

impl Entries {
    #[inline(always)]
    fn sum<L: Lanes<Real = f64>, const VALUES: bool, const GRADIENTS: bool>(
        &self,
        token: L::Token,
        elements: &Elements<L>,
    ) -> Sums<L> {
        let zero = L::splat(token, 0.0);
        let mut sums = Sums {
            diagonal: [[[zero; 3]; 3]; 3],
            mixed: [[[[zero; 2]; 2]; 3]; 3],
            values: [[[zero; 3]; 3]; 3],
        };
        let g = self.points.len();
        for (k, z) in self.points.iter().enumerate() {
            for (j, y) in self.points.iter().enumerate() {
                let first = (k * g + j) * g;
                let row = self.row::<L, VALUES, GRADIENTS>(token, elements, first, [y, z]);
                if GRADIENTS {
                    let [of_x, of_y, of_z] = &mut sums.diagonal;
                    add_rows(of_x, z.factors, times(row.xx, y.factors));
                    add_rows(of_y, z.factors, row.yy);
                    add_rows(of_z, y.factors, row.zz);
                    let [xy, xz, yz] = &mut sums.mixed;
                    for n in 0..3 {
                        add_rows(&mut xy[n], y.linear.map(|v| v * z.factors[n]), row.xy);
                        add_rows(&mut xz[n], z.linear.map(|v| v * y.factors[n]), row.xz);
                        add_rows(&mut yz[n], z.linear, times(row.yz[n], y.linear));
                    }
                }
                if VALUES {
                    for (layer, factor) in sums.values.iter_mut().zip(z.factors) {
                        add_rows(layer, y.factors.map(|v| v * factor), row.values);
                    }
                }
            }
        }
        sums
    }

    /// The sums over the row of points along ξ whose first one is `first`.
    #[inline(always)]
    fn row<L: Lanes<Real = f64>, const VALUES: bool, const GRADIENTS: bool>(
        &self,
        token: L::Token,
        elements: &Elements<L>,
        first: usize,
        [y, z]: [&Point1d; 2],
    ) -> Row<L> {
        let zero = L::splat(token, 0.0);
        let mut row = Row {
            xx: zero,
            xy: [zero; 2],
            xz: [zero; 2],
            yy: [zero; 3],
            yz: [zero; 3],
            zz: [zero; 3],
            values: [zero; 3],
        };
        for (i, x) in self.points.iter().enumerate() {
            let place = [x.place, y.place, z.place];
            let Jacobian {
                adjugate: [a, b, c],
                determinant,
            } = jacobian(elements.columns(token, first + i, place));
            let weight = x.weight * y.weight * z.weight;
            // κ w det J J⁻¹J⁻ᵀ, and λ w det J (Świrydowicz et al. 2019, eq. 10).
            if GRADIENTS {
                let scale = elements.kappa * weight / determinant;
                row.xx += scale * dot(a, a);
                add(&mut row.xy, scale * dot(a, b), x.linear);
                add(&mut row.xz, scale * dot(a, c), x.linear);
                add(&mut row.yy, scale * dot(b, b), x.factors);
                add(&mut row.yz, scale * dot(b, c), x.factors);
                add(&mut row.zz, scale * dot(c, c), x.factors);
            }
            if VALUES {
                let mass = elements.lambda * weight * determinant;
                add(&mut row.values, mass, x.factors);
            }
        }
        row
    }

    /// The numbers from sums over the points, and how many there are.
    #[inline(always)]
    fn numbers<L: Lanes<Real = f64>>(&self, sums: &Sums<L>, out: &mut [L; MOST]) -> usize {
        let values = sums.values.as_flattened().as_flattened();
        if !self.gradients {
            out[..PARTS].copy_from_slice(values);
            return PARTS;
        }
        let diagonal = sums.diagonal.as_flattened().as_flattened();
        let mixed = sums.mixed.as_flattened().as_flattened().as_flattened();
        let all = [diagonal, mixed, values];
        for (out, terms) in out.iter_mut().zip(&self.terms) {
            let mut sum = values[0].constant(0.0);
            for &(of, place) in terms {
                sum += all[of][place];
            }
            // Coefficients are eight times as large.
            *out = sum * (1.0 / 64.0);
        }
        self.terms.len()
    }
}

/// A sum's part of [`Sums`] (diagonal, mixed or values), and place.
pub(super) type Term = (usize, usize);

/// The sums that make an entry of the matrix: a monomial's slope along an axis is the monomial without it.
pub(super) fn terms((m, n): (usize, usize), values: bool) -> Vec<Term> {
    // The power of the monomials along an axis, and of their product.
    let power = |m: usize, axis: usize| m >> axis & 1;
    let product = |axis: usize| power(m, axis) + power(n, axis);
    let mut terms = Vec::new();
    for (axis, [earlier, later]) in [[1, 2], [0, 2], [0, 1]].into_iter().enumerate() {
        if product(axis) == 2 {
            terms.push((0, 9 * axis + 3 * product(later) + product(earlier)));
        }
    }
    for (pair, [a, b, third]) in [[0, 1, 2], [0, 2, 1], [1, 2, 0]].into_iter().enumerate() {
        // The slope of one along the first axis, of the other along the second.
        for (m, n) in [(m, n), (n, m)] {
            if power(m, a) == 1 && power(n, b) == 1 {
                let place = 12 * pair + 4 * product(third) + 2 * power(m, b) + power(n, a);
                terms.push((1, place));
            }
        }
    }
    if values {
        terms.push((2, 9 * product(2) + 3 * product(1) + product(0)));
    }
    terms
}
