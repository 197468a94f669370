//! What the kernel reads of an element's geometry, see `family/tensor_hex/text/factors.h`.

use crate::family::tensor_hex::factors::factors;
use crate::family::tensor_hex::work::Shape;
use crate::family::tensor_hex::{Basis, ElementGeometry, Storage};
use crate::roofline::Precision;
use crate::scalar::Real;

/// How the factors at points are stored. Those that are constant per element are numbers as all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FactorPrecision {
    /// As all numbers.
    #[default]
    Same,
    /// In single precision, whatever the arithmetic: half the bytes of double precision, and an operator
    /// in which each factor is changed by at most [`FactorPrecision::SINGLE_CHANGE`] of itself.
    Single,
}

impl FactorPrecision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Same, Self::Single];

    /// Half a unit in the last place of single precision: 6e-8.
    pub const SINGLE_CHANGE: f64 = 1.0 / (1 << 24) as f64;

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Single => "single",
        }
    }

    /// The precision of the geometry of elements, where arithmetic has this one.
    pub fn of(self, storage: Storage, precision: Precision) -> Precision {
        match (self, storage) {
            (Self::Single, Storage::PointFactors) => Precision::Fp32,
            _ => precision,
        }
    }

    /// Whether an operator with such elements differs from one with all numbers in this precision.
    pub fn perturbs(self, storage: Storage, precision: Precision) -> bool {
        self.of(storage, precision) != precision
    }
}

/// Numbers of an element.
pub fn geometry_len(shape: &Shape) -> usize {
    let factors = 6 * usize::from(shape.gradients) + usize::from(shape.values);
    match shape.storage {
        // Read in pairs.
        Storage::ElementFactors => factors.next_multiple_of(2),
        Storage::PointFactors => factors * shape.points_1d.pow(3),
        Storage::Trilinear if !shape.gradients => 27_usize.next_multiple_of(2),
        Storage::Trilinear => (22 + usize::from(shape.values)).next_multiple_of(2),
        // What the kernel does not take: see `Pencils::validate`.
        Storage::Affine | Storage::Jacobians => 0,
    }
}

/// Packs one element: `out` is [`geometry_len`] numbers, `coefficients` are λ and κ.
///
/// | storage | layout |
/// |---------|--------|
/// | `PointFactors` | `[k][factor][j][i]`: κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt), then λ w det J |
/// | `ElementFactors` | `[factor]`, without weights; padded to an even number |
/// | `Trilinear` without gradients | coefficients of λ det J, `[3][3][3]` for powers of ζ, η, ξ; padded likewise |
/// | `Trilinear` | coefficients of the map `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ), then λ, then κ; padded likewise |
pub fn pack<T: Real>(
    shape: &Shape,
    basis: &Basis,
    geometry: ElementGeometry,
    (lambda, kappa): (f64, f64),
    out: &mut [T],
) {
    let wanted = (shape.values, shape.gradients);
    match (shape.storage, geometry) {
        (Storage::Trilinear, ElementGeometry::Map(c)) if !shape.gradients => {
            for (out, number) in out.iter_mut().zip(determinant(c)) {
                *out = T::from_f64(lambda * number);
            }
        }
        (Storage::Trilinear, ElementGeometry::Map(c)) => {
            let lambda = shape.values.then_some(lambda);
            let numbers = c[1..].iter().copied().flatten();
            let numbers = numbers.chain(lambda).chain([kappa]);
            for (out, number) in out.iter_mut().zip(numbers) {
                *out = T::from_f64(number);
            }
        }
        (Storage::ElementFactors, ElementGeometry::Map(c)) => {
            let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
            let numbers = factors(&jacobian, 1.0, (lambda, kappa), wanted);
            for (out, number) in out.iter_mut().zip(numbers) {
                *out = T::from_f64(number);
            }
        }
        (Storage::PointFactors, ElementGeometry::Points { jacobian, .. }) => {
            let (n, w) = (basis.points_1d, &basis.weights);
            let count = geometry_len(shape) / basis.points();
            for (p, j) in jacobian.iter().enumerate() {
                let (layer, place) = (p / (n * n), p % (n * n));
                let weight = w[place % n] * w[place / n] * w[layer];
                for (f, number) in factors(j, weight, (lambda, kappa), wanted).enumerate() {
                    out[(layer * count + f) * n * n + place] = T::from_f64(number);
                }
            }
        }
        (storage, _) => unreachable!("geometry of another kind than {storage:?} stores"),
    }
}

/// The coefficients of det J of a trilinear map, quadratic in each coordinate: `[3][3][3]` for powers of
/// ζ, η, ξ. Interpolated from the values at −1, 0, 1 along each axis, which is exact.
fn determinant(c: &[[f64; 3]; 8]) -> [f64; 27] {
    let coordinate = |n: usize| n as f64 - 1.0;
    let mut values = [0.0; 27];
    for (n, value) in values.iter_mut().enumerate() {
        let [xi, eta, zeta] = [n % 3, n / 3 % 3, n / 9].map(coordinate);
        // Columns of the Jacobian: ∂/∂ξ of ξ^a η^b ζ^c with m = a + 2b + 4c, and so on.
        let column = |m: [usize; 4], s: f64, t: f64| {
            [0, 1, 2].map(|d| c[m[0]][d] + s * c[m[1]][d] + t * c[m[2]][d] + s * t * c[m[3]][d])
        };
        let x = column([1, 3, 5, 7], eta, zeta);
        let y = column([2, 3, 6, 7], xi, zeta);
        let z = column([4, 5, 6, 7], xi, eta);
        let cross = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| x[i] * y[j] - x[j] * y[i]);
        *value = (0..3).map(|d| cross[d] * z[d]).sum();
    }
    for step in [1, 3, 9] {
        for start in (0..27).filter(|n| n / step % 3 == 0) {
            let [minus, zero, plus] = [0, 1, 2].map(|n| values[start + n * step]);
            values[start] = zero;
            values[start + step] = (plus - minus) / 2.0;
            values[start + 2 * step] = (plus + minus) / 2.0 - zero;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_the_determinant() {
        // x = ξ + 0.1 ηζ, y = η + 0.2 ξζ, z = ζ + 0.3 ξηζ.
        let mut c = [[0.0; 3]; 8];
        (c[1][0], c[6][0]) = (1.0, 0.1);
        (c[2][1], c[5][1]) = (1.0, 0.2);
        (c[4][2], c[7][2]) = (1.0, 0.3);
        let polynomial = determinant(&c);
        for [xi, eta, zeta] in [[0.3, -0.7, 0.9], [1.0, 1.0, -1.0], [-0.2, 0.4, 0.1_f64]] {
            let found: f64 = (0..27)
                .map(|n| {
                    let powers = [n % 3, n / 3 % 3, n / 9];
                    let [a, b, c] = powers.map(|power| power as i32);
                    polynomial[n] * xi.powi(a) * eta.powi(b) * zeta.powi(c)
                })
                .sum();
            let (x, y) = ([1.0, 0.1 * zeta, 0.1 * eta], [0.2 * zeta, 1.0, 0.2 * xi]);
            let z = [0.3 * eta * zeta, 0.3 * xi * zeta, 1.0 + 0.3 * xi * eta];
            let wanted = x[0] * (y[1] * z[2] - y[2] * z[1]) - x[1] * (y[0] * z[2] - y[2] * z[0])
                + x[2] * (y[0] * z[1] - y[1] * z[0]);
            assert!(
                (found - wanted).abs() < 1e-14,
                "{found} instead of {wanted}"
            );
        }
    }
}
