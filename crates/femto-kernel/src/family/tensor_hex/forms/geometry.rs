//! What the kernel reads of an element's geometry, see `family/tensor_hex/text/jacobian.h`.

use crate::family::tensor_hex::work::Shape;
use crate::family::tensor_hex::{ElementGeometry, Storage};
use crate::scalar::Real;

/// Numbers of an element.
pub fn geometry_len(shape: &Shape) -> usize {
    let position = 3 * usize::from(shape.position);
    match shape.storage {
        // Read in pairs.
        Storage::Affine => (9 + position).next_multiple_of(2),
        Storage::Trilinear => (21 + position).next_multiple_of(2),
        Storage::Jacobians => (9 + position) * shape.points_1d.pow(3),
        // What the kernel does not take: see `FormSchedule::validate`.
        Storage::ElementFactors | Storage::PointFactors => 0,
    }
}

/// Packs one element: `out` is [`geometry_len`] numbers.
///
/// | storage | layout |
/// |---------|--------|
/// | `Affine` | coefficients of the map `[3][3]` (of ξ, η, ζ), of 1 if positions are read; padded to an even number |
/// | `Trilinear` | the same `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ) |
/// | `Jacobians` | `[k][number][j][i]`: columns of ∂x/∂ξ, then x if it is read |
pub fn pack<T: Real>(shape: &Shape, geometry: ElementGeometry, out: &mut [T]) {
    let write = |out: &mut T, number: f64| *out = T::from_f64(number);
    match (shape.storage, geometry) {
        (Storage::Affine, ElementGeometry::Map(c)) => {
            let numbers = [c[1], c[2], c[4], c[0]].into_iter().flatten();
            for (out, number) in out.iter_mut().zip(numbers) {
                write(out, number);
            }
        }
        (Storage::Trilinear, ElementGeometry::Map(c)) => {
            let numbers = c[1..].iter().chain([&c[0]]).copied().flatten();
            for (out, number) in out.iter_mut().zip(numbers) {
                write(out, number);
            }
        }
        (Storage::Jacobians, ElementGeometry::Points { jacobian, position }) => {
            let layer = shape.points_1d.pow(2);
            let count = geometry_len(shape) / shape.points_1d.pow(3);
            for (p, j) in jacobian.iter().enumerate() {
                let columns = (0..9).map(|n| j[n % 3][n / 3]);
                let x = position.get(p).copied().unwrap_or([f64::NAN; 3]);
                let numbers = columns.chain(x).take(count);
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
