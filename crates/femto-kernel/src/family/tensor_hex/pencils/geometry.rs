//! What the kernel reads of an element's geometry, see `family/tensor_hex/text/factors.h`.

use crate::family::tensor_hex::factors::factors;
use crate::family::tensor_hex::work::Shape;
use crate::family::tensor_hex::{Basis, ElementGeometry, Storage};
use crate::scalar::Real;

/// Numbers of an element.
pub fn geometry_len(shape: &Shape) -> usize {
    let coefficients = usize::from(shape.values) + usize::from(shape.gradients);
    let factors = 6 * usize::from(shape.gradients) + usize::from(shape.values);
    match shape.storage {
        // Read in pairs.
        Storage::ElementFactors => factors.next_multiple_of(2),
        Storage::PointFactors => factors * shape.points_1d.pow(3),
        Storage::Trilinear => (21 + coefficients).next_multiple_of(2),
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
        (Storage::Trilinear, ElementGeometry::Map(c)) => {
            let given = [(shape.values, lambda), (shape.gradients, kappa)];
            let given = given
                .into_iter()
                .filter_map(|(is, value)| is.then_some(value));
            let numbers = c[1..].iter().copied().flatten().chain(given);
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
