//! Hexahedra of degree 1 and forms λ u, κ ∇u: the numbers of an element's matrix, 27 to 36 whatever the points.
//!
//! For forms with gradients u is kept, as the map is, as coefficients of monomials,
//!
//! ```text
//! 8 u = Σ_m c_m ξ^a η^b ζ^c,   m = a + 2b + 4c,
//! ```
//!
//! sums and differences of values at the nodes. In these coefficients the matrix is symmetric, and that of κ ∇u has no entries
//! of the constant, m = 0: 28 numbers, with values 36. Constants have exactly no energy, and in a thin element rounding of
//! its large entries leaves the others alone, because differences along the element are exactly zero where u does not change.
//!
//! The matrix of λ u is a sum over the points of products along the three axes, and with ℓ_0 + ℓ_1 = 1 along each
//!
//! ```text
//! ℓ ℓᵀ = ℓ_0 (ℓ_0 − ℓ_1) e_0 e_0ᵀ + ℓ_1 (ℓ_1 − ℓ_0) e_1 e_1ᵀ + ℓ_0 ℓ_1 (e_0 + e_1)(e_0 + e_1)ᵀ,
//! ```
//!
//! so that 27 numbers d do, one for each vertex, edge and face of the element and one for itself: with s the sum of u at
//! the vertices of part p, d_p s is added at each of them.

mod sums;
#[cfg(test)]
mod tests;

use super::work::Shape;
use crate::family::CellMap;
use crate::scalar::{SimdLevel, dispatch};
use femto_element::tables::TensorTables;
use sums::{Pack, Term, terms};

/// Nodes of an element.
pub(super) const NODES: usize = 8;

/// Vertices, edges and faces of an element, and itself: `[3][3][3]`, along each axis the first node, the second, or both.
pub(super) const PARTS: usize = 27;

/// The first coefficient with entries.
pub(super) fn first_coefficient(values: bool) -> usize {
    usize::from(!values)
}

/// Numbers of an element.
pub(super) fn count(values: bool, gradients: bool) -> usize {
    let rows = NODES - first_coefficient(values);
    match gradients {
        false => PARTS,
        true => rows * (rows + 1) / 2,
    }
}

/// The entries m ≤ n of the matrix, in the order of their numbers.
fn entries(values: bool) -> impl Iterator<Item = (usize, usize)> {
    let all = first_coefficient(values)..NODES;
    all.flat_map(|m| (m..NODES).map(move |n| (m, n)))
}

/// Flops of a component of an element: the coefficients and back, then a product and a sum for each entry of the full
/// matrix; or a product for each part, and its sums there and back.
pub(super) fn flops(values: bool, gradients: bool) -> u64 {
    let rows = (NODES - first_coefficient(values)) as u64;
    match gradients {
        // Two layers are added before, the third to both after; in a layer two rows and two sums of columns, and of rows.
        false => 4 + 3 * (5 + 9 + 10) + 8,
        true => 2 * 3 * NODES as u64 + 2 * rows * rows,
    }
}

/// The nodes of a part, ascending.
pub(super) fn nodes_of_part(part: usize) -> impl Iterator<Item = usize> {
    let along = [part % 3, part / 3 % 3, part / 9];
    (0..NODES).filter(move |node| (0..3).all(|axis| [2, node >> axis & 1].contains(&along[axis])))
}

/// The numbers of elements as sums over their points.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    values: bool,
    gradients: bool,
    /// Along an axis, `[points_1d]`.
    points: Vec<Point1d>,
    /// Of each entry.
    terms: Vec<Vec<Term>>,
}

/// A point along an axis.
#[derive(Clone, Copy, Debug)]
struct Point1d {
    place: f64,
    weight: f64,
    /// 1 and x.
    linear: [f64; 2],
    /// 1, x and x²; without gradients what it contributes to the parts.
    factors: [f64; 3],
}

impl Entries {
    /// For an element of degree 1 and the inputs of its form.
    pub(super) fn new(basis: &TensorTables, shape: &Shape) -> Self {
        let points = basis.points.iter().zip(&basis.weights);
        let point = |(&place, &weight): (&f64, &f64)| {
            let [a, b] = [(1.0 - place) / 2.0, (1.0 + place) / 2.0];
            Point1d {
                place,
                weight,
                linear: [1.0, place],
                factors: match shape.gradients {
                    true => [1.0, place, place * place],
                    false => [a * (a - b), b * (b - a), a * b],
                },
            }
        };
        Self {
            values: shape.values,
            gradients: shape.gradients,
            points: points.map(point).collect(),
            terms: entries(shape.values)
                .map(|entry| terms(entry, shape.values))
                .collect(),
        }
    }

    /// Writes the numbers of elements; `coefficients` are their λ and κ, `out` is `[element][stride]`.
    pub(super) fn pack(
        &self,
        maps: &[CellMap],
        coefficients: &[(f64, f64)],
        (out, stride): (&mut [f64], usize),
    ) {
        let task = Pack {
            entries: self,
            maps,
            coefficients,
            out,
            stride,
        };
        dispatch(SimdLevel::detect(), task);
    }
}
