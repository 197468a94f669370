//! Packing of an element's geometry for the kernel, see `family/sum_factorization/text/factors.h` and `jacobian.h`.

use super::KernelSpec;
use crate::family::CellMap;
use crate::family::sum_factorization::pack::numbers;
use crate::family::sum_factorization::work::Shape;
use femto_element::tables::TensorTables;

impl KernelSpec<'_> {
    /// Length of an element's packed geometry.
    pub fn geometry_len(&self) -> usize {
        geometry_len(&self.shape)
    }
}

/// Length of an element's packed geometry.
pub fn geometry_len(shape: &Shape) -> usize {
    let numbers = shape.geometry_numbers() as usize;
    // Per-element constants are read in pairs.
    match shape.storage.is_at_points() {
        true => numbers,
        false => numbers.next_multiple_of(2),
    }
}

/// Packs one element: `out` has length [`geometry_len`], `coefficients` are the folded λ and κ. Numbers of points are
/// `[k][number][j][i]`, on quadrilaterals `[j][number][i]`, others in order, padded to an even number.
pub fn pack(
    (shape, basis): (&Shape, &TensorTables),
    map: CellMap,
    coefficients: (f64, f64),
    out: &mut [f64],
) {
    let (layer, count) = (shape.pencils(), geometry_len(shape) / shape.points());
    let at_points = shape.storage.is_at_points();
    numbers((shape, basis), map, coefficients, |(p, n), number| {
        let place = match at_points {
            true => (p / layer * count + n) * layer + p % layer,
            false => n,
        };
        out[place] = number;
    });
}
