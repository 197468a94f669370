//! The numbers stored for an element's geometry.

use super::Storage;
use super::entries::Entries;
use super::factors::{factors, map_factors};
use super::work::Shape;
use crate::family::CellMap;
use femto_element::tables::TensorTables;

/// Calls `put((point, n), number)` for number n of each point or, where nothing is stored for points, of the element, as
/// point 0. `coefficients` are λ and κ, if they are folded.
///
/// | storage | numbers |
/// |---|---|
/// | `PointFactors` | κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt), then λ w det J |
/// | `ElementFactors` | the same without weights |
/// | `MapFactors` without gradients | coefficients of λ det J, `[3][3][3]` for powers of ζ, η, ξ |
/// | `MapFactors` | coefficients of the map `[7][3]` (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ), then λ, then κ |
/// | `Entries` | the numbers of the element's matrix, see [`super::entries`] |
/// | `Affine` | coefficients of the map `[3][3]` (of ξ, η, ζ), then of 1 if positions are read |
/// | `Multilinear` | the same `[7][3]` |
/// | `Jacobians` | columns of ∂x/∂ξ, then x if it is read |
///
/// For quadrilaterals the map has `[2][2]` (of ξ, η) or `[3][2]` (of ξ, η, ξη) coefficients.
pub(super) fn numbers(
    (shape, basis): (&Shape, &TensorTables),
    map: CellMap,
    coefficients: (f64, f64),
    mut put: impl FnMut((usize, usize), f64),
) {
    let wanted = (shape.values, shape.gradients);
    match (shape.storage, map) {
        (Storage::MapFactors, CellMap::Map(c)) => {
            each(0, map_factors(c, coefficients, wanted), &mut put);
        }
        (Storage::Affine | Storage::Multilinear, CellMap::Map(c)) => {
            each(0, shape.kept(c), &mut put);
        }
        (Storage::ElementFactors, CellMap::Map(c)) => {
            let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
            each(0, factors(&jacobian, 1.0, coefficients, wanted), &mut put);
        }
        (Storage::PointFactors, CellMap::Points { jacobian, .. }) => {
            let (n, w) = (basis.points_1d, &basis.weights);
            for (p, j) in jacobian.iter().enumerate() {
                let weight = w[p % n] * w[p / n % n] * w[p / (n * n)];
                each(p, factors(j, weight, coefficients, wanted), &mut put);
            }
        }
        (Storage::Jacobians, CellMap::Points { jacobian, position }) => {
            for (p, j) in jacobian.iter().enumerate() {
                let x = shape.position.then(|| &position[p][..shape.dim]);
                let x = x.into_iter().flatten();
                each(p, shape.columns(j).chain(x.copied()), &mut put);
            }
        }
        (Storage::Entries, map) => {
            let count = shape.geometry_numbers() as usize;
            let mut numbers = vec![0.0; count];
            let entries = Entries::new(basis, shape);
            entries.pack(&[map], &[coefficients], (&mut numbers, count));
            each(0, numbers, &mut put);
        }
        (storage, _) => unreachable!("{storage:?} of another map than `map_input` asks for"),
    }
}

fn each(
    point: usize,
    numbers: impl IntoIterator<Item = f64>,
    put: &mut impl FnMut((usize, usize), f64),
) {
    for (n, number) in numbers.into_iter().enumerate() {
        put((point, n), number);
    }
}
