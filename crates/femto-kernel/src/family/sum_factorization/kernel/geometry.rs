//! Packing of an element's geometry for the kernel, see `family/sum_factorization/text/factors.h` and `jacobian.h`.

use super::KernelSpec;
use crate::family::CellMap;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::factors::{factors, map_factors};
use crate::scalar::Real;

impl KernelSpec<'_> {
    /// Length of an element's packed geometry.
    pub fn geometry_len(&self) -> usize {
        let numbers = self.shape.geometry_numbers() as usize;
        // Per-element constants are read in pairs.
        match self.shape.storage.is_at_points() {
            true => numbers,
            false => numbers.next_multiple_of(2),
        }
    }

    /// Packs one element: `out` has length [`KernelSpec::geometry_len`], `coefficients` are the folded λ and
    /// κ.
    ///
    /// | step | storage | layout |
    /// |------|---------|--------|
    /// | factors | `PointFactors` | `[k][factor][j][i]`: κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt), then λ w det J |
    /// | factors | `ElementFactors` | `[factor]`, without weights; padded to an even number |
    /// | factors | `MapFactors` without gradients | coefficients of λ det J, `[3][3][3]` for powers of ζ, η, ξ; padded likewise |
    /// | factors | `MapFactors` | coefficients of the map `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ), then λ, then κ; padded likewise |
    /// | form | `Affine` | coefficients of the map `[3][3]` (of ξ, η, ζ), of 1 if positions are read; padded likewise |
    /// | form | `Multilinear` | the same `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ) |
    /// | form | `Jacobians` | `[k][number][j][i]`: columns of ∂x/∂ξ, then x if it is read |
    ///
    /// For quadrilaterals `[2][2]` (of ξ, η), `[3][2]` (of ξ, η, ξη) and `[j][number][i]`.
    pub fn pack<T: Real>(&self, geometry: CellMap, coefficients: (f64, f64), out: &mut [T]) {
        match self.shape.storage.is_factors() {
            true => self.pack_factors(geometry, coefficients, out),
            false => self.pack_map(geometry, out),
        }
    }

    fn pack_factors<T: Real>(&self, geometry: CellMap, coefficients: (f64, f64), out: &mut [T]) {
        let (shape, basis) = (&self.shape, self.basis);
        let wanted = (shape.values, shape.gradients);
        match (shape.storage, geometry) {
            (Storage::MapFactors, CellMap::Map(c)) => {
                let numbers = map_factors(c, coefficients, wanted);
                for (out, number) in out.iter_mut().zip(numbers) {
                    *out = T::from_f64(number);
                }
            }
            (Storage::ElementFactors, CellMap::Map(c)) => {
                let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
                let numbers = factors(&jacobian, 1.0, coefficients, wanted);
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
                    for (f, number) in factors(j, weight, coefficients, wanted).enumerate() {
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
