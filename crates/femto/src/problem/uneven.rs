//! Equations whose rows may differ by orders of magnitude.

use femto_fem::geometry::Geometry;
use femto_fem::geometry::jacobian::{cofactors, determinant, dot};
use femto_fem::parallel;
use femto_fem::space::Block;

/// Ratio of thicknesses from which cells count as different.
const MOST: f64 = 20.0;

/// Whether some cells are much thinner than others.
pub(super) fn differ_in_size(blocks: &[Block]) -> bool {
    let of_block = |block: &Block| {
        let range = |cell| [thickness(&block.geometry, cell); 2];
        parallel::reduce(block.geometry.len(), [f64::INFINITY, 0.0], range, wider)
    };
    let [least, most] = blocks
        .iter()
        .map(of_block)
        .fold([f64::INFINITY, 0.0], wider);
    most > MOST * least
}

fn wider([least, most]: [f64; 2], [other_least, other_most]: [f64; 2]) -> [f64; 2] {
    [least.min(other_least), most.max(other_most)]
}

/// The smallest 1/|∇ξ_a| at a cell's centre, the distance of its closest opposite sides in units of the reference cell.
fn thickness(geometry: &Geometry, cell: usize) -> f64 {
    let jacobian = geometry.jacobian(cell, geometry.cell().centre());
    let squares = cofactors(&jacobian).map(|row| dot(row, row));
    let most = squares[..geometry.dim()]
        .iter()
        .copied()
        .fold(0.0, f64::max);
    determinant(&jacobian).abs() / most.sqrt()
}
