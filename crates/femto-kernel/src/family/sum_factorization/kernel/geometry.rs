//! Packing of an element's geometry for the kernel, see `family/sum_factorization/text/factors.h` and `jacobian.h`.

use super::{KernelSpec, PointStep};
use crate::family::CellMap;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::factors::factors;
use crate::scalar::Real;

impl KernelSpec<'_> {
    /// Length of an element's packed geometry.
    pub fn geometry_len(&self) -> usize {
        let shape = &self.shape;
        let factors = 6 * usize::from(shape.gradients) + usize::from(shape.values);
        let points = shape.points();
        // Per-element constants are read in pairs.
        match (self.step, shape.storage) {
            (PointStep::Factors(_), Storage::ElementFactors) => factors.next_multiple_of(2),
            (PointStep::Factors(_), Storage::PointFactors) => factors * points,
            (PointStep::Factors(_), Storage::Multilinear) if !shape.gradients => 28,
            (PointStep::Factors(_), Storage::Multilinear) => {
                (22 + usize::from(shape.values)).next_multiple_of(2)
            }
            (PointStep::Form(_), Storage::Affine | Storage::Multilinear) => {
                (shape.geometry_numbers() as usize).next_multiple_of(2)
            }
            (PointStep::Form(_), Storage::Jacobians) => shape.geometry_numbers() as usize,
            // Not supported by the kernel: see `Schedule::validate`.
            (PointStep::Factors(_), Storage::Affine | Storage::Jacobians)
            | (PointStep::Form(_), Storage::ElementFactors | Storage::PointFactors) => 0,
        }
    }

    /// Packs one element: `out` has length [`KernelSpec::geometry_len`], `coefficients` are the folded λ and
    /// κ.
    ///
    /// | step | storage | layout |
    /// |------|---------|--------|
    /// | factors | `PointFactors` | `[k][factor][j][i]`: κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt), then λ w det J |
    /// | factors | `ElementFactors` | `[factor]`, without weights; padded to an even number |
    /// | factors | `Multilinear` without gradients | coefficients of λ det J, `[3][3][3]` for powers of ζ, η, ξ; padded likewise |
    /// | factors | `Multilinear` | coefficients of the map `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ), then λ, then κ; padded likewise |
    /// | form | `Affine` | coefficients of the map `[3][3]` (of ξ, η, ζ), of 1 if positions are read; padded likewise |
    /// | form | `Multilinear` | the same `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ) |
    /// | form | `Jacobians` | `[k][number][j][i]`: columns of ∂x/∂ξ, then x if it is read |
    ///
    /// For quadrilaterals `[2][2]` (of ξ, η), `[3][2]` (of ξ, η, ξη) and `[j][number][i]`.
    pub fn pack<T: Real>(&self, geometry: CellMap, coefficients: (f64, f64), out: &mut [T]) {
        match self.step {
            PointStep::Factors(_) => self.pack_factors(geometry, coefficients, out),
            PointStep::Form(_) => self.pack_map(geometry, out),
        }
    }

    fn pack_factors<T: Real>(&self, geometry: CellMap, (lambda, kappa): (f64, f64), out: &mut [T]) {
        let (shape, basis) = (&self.shape, self.basis);
        let wanted = (shape.values, shape.gradients);
        match (shape.storage, geometry) {
            (Storage::Multilinear, CellMap::Map(c)) if !shape.gradients => {
                for (out, number) in out.iter_mut().zip(determinant(c)) {
                    *out = T::from_f64(lambda * number);
                }
            }
            (Storage::Multilinear, CellMap::Map(c)) => {
                let lambda = shape.values.then_some(lambda);
                let numbers = c[1..].iter().copied().flatten();
                let numbers = numbers.chain(lambda).chain([kappa]);
                for (out, number) in out.iter_mut().zip(numbers) {
                    *out = T::from_f64(number);
                }
            }
            (Storage::ElementFactors, CellMap::Map(c)) => {
                let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
                let numbers = factors(&jacobian, 1.0, (lambda, kappa), wanted);
                for (out, number) in out.iter_mut().zip(numbers) {
                    *out = T::from_f64(number);
                }
            }
            (Storage::PointFactors, CellMap::Points { jacobian, .. }) => {
                let (n, w) = (basis.points_1d, &basis.weights);
                let count = self.geometry_len() / basis.points();
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

    fn pack_map<T: Real>(&self, geometry: CellMap, out: &mut [T]) {
        let shape = &self.shape;
        let write = |out: &mut T, number: f64| *out = T::from_f64(number);
        match (shape.storage, geometry) {
            (Storage::Affine | Storage::Multilinear, CellMap::Map(c)) => {
                for (out, number) in out.iter_mut().zip(shape.kept(c)) {
                    write(out, number);
                }
            }
            (Storage::Jacobians, CellMap::Points { jacobian, position }) => {
                let layer = shape.pencils();
                let count = self.geometry_len() / shape.points();
                for (p, j) in jacobian.iter().enumerate() {
                    let x = position.get(p).copied().unwrap_or([f64::NAN; 3]);
                    let numbers = shape.columns(j).chain(x).take(count);
                    for (n, number) in numbers.enumerate() {
                        write(
                            &mut out[(p / layer * count + n) * layer + p % layer],
                            number,
                        );
                    }
                }
            }
            (storage, _) => unreachable!("geometry of another kind than {storage:?} stores"),
        }
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
