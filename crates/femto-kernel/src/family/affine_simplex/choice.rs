//! The choice of schedules.

use super::schedule::{MatrixUnits, Rows, Schedule};
use crate::scalar::Precision;

/// Numbers of nodes of tetrahedra of degree 1 to 8.
const TETRAHEDRA: [usize; 8] = [4, 10, 20, 35, 56, 84, 120, 165];

/// The row of a table by degree: that of the tetrahedron with at least as many nodes.
pub(super) fn row<T: Copy>(table: &[T; 8], nodes: usize) -> T {
    let index = TETRAHEDRA.iter().position(|&most| nodes <= most);
    table[index.unwrap_or(7)]
}

/// Of the schedules that were measured to be the best on an H200 for tetrahedra between E-vectors
/// (`docs/families/affine_simplex.md`), those for a number of nodes, best first: with matrix units, for devices that
/// have them, and with a row per thread. For triangles it is that of the tetrahedron with as many nodes.
pub fn defaults(nodes: usize, precision: Precision) -> Vec<Schedule> {
    let units = matrix_units(nodes, precision).map(Schedule::MatrixUnits);
    let mut all = Vec::from_iter(units);
    all.push(Schedule::Rows(rows(nodes, precision)));
    all
}

/// Whether the matrices that kernels read are those between sums over orbits of nodes, where symmetry is of use at all: in single
/// precision they are slower at degree 3.
pub(super) fn separates_classes(nodes: usize, precision: Precision) -> bool {
    match precision {
        Precision::Fp64 => true,
        Precision::Fp32 => nodes >= TETRAHEDRA[3],
    }
}

/// The best for matrix units, unless a row per thread is faster (degree 1).
fn matrix_units(nodes: usize, precision: Precision) -> Option<MatrixUnits> {
    /// Warps with their own elements, and blocks of a multiprocessor.
    const fn with(
        (warps, blocks_per_unit): (u32, u32),
        input_shared: bool,
        lockstep: bool,
    ) -> Option<MatrixUnits> {
        Some(MatrixUnits {
            warps,
            element_tiles: 1,
            input_shared,
            lockstep,
            together: false,
            blocks_per_unit,
        })
    }
    /// A warp for each class of nodes.
    const fn together(element_tiles: u32, blocks_per_unit: u32) -> Option<MatrixUnits> {
        Some(MatrixUnits {
            warps: 4,
            element_tiles,
            input_shared: true,
            lockstep: false,
            together: true,
            blocks_per_unit,
        })
    }
    const FP64: [Option<MatrixUnits>; 8] = [
        None,
        with((2, 1), false, false),
        with((1, 12), false, false),
        with((1, 12), false, false),
        with((4, 1), false, false),
        with((1, 1), true, true),
        together(1, 3),
        together(2, 1),
    ];
    const FP32: [Option<MatrixUnits>; 8] = [
        None,
        with((2, 1), false, true),
        with((2, 1), true, false),
        with((1, 12), false, false),
        with((4, 3), false, false),
        with((4, 3), true, true),
        together(2, 3),
        together(2, 3),
    ];
    let table = match precision {
        Precision::Fp64 => &FP64,
        Precision::Fp32 => &FP32,
    };
    row(table, nodes)
}

/// The blocks for which a multiprocessor shall have registers with a row per thread, as measured on an H200 at degrees 3 to 6: in
/// single precision the compiler takes fewer registers if the choice is left to it, and more warps hide what is waited for;
/// in double precision, and at degree 6, published schedules are slower with that.
pub fn blocks_of_rows(nodes: usize, precision: Precision) -> u32 {
    match precision {
        Precision::Fp32 if (TETRAHEDRA[2]..=TETRAHEDRA[4]).contains(&nodes) => 0,
        _ => 1,
    }
}

/// The best with a row per thread among those that unroll at most four columns, which keeps texts short.
fn rows(nodes: usize, precision: Precision) -> Rows {
    // Elements of a thread, elements side by side, columns unrolled.
    const FP64: [(u32, u32, u32); 8] = [
        (4, 8, 2),
        (5, 3, 4),
        (5, 3, 2),
        (5, 5, 4),
        (4, 4, 2),
        (6, 6, 2),
        (5, 1, 2),
        (6, 2, 4),
    ];
    const FP32: [(u32, u32, u32); 8] = [
        (6, 8, 4),
        (8, 3, 4),
        (6, 3, 4),
        (8, 6, 4),
        (6, 4, 4),
        (6, 3, 4),
        (6, 1, 4),
        (4, 6, 4),
    ];
    let table = match precision {
        Precision::Fp64 => &FP64,
        Precision::Fp32 => &FP32,
    };
    let (elements_per_thread, elements_aside, unroll) = row(table, nodes);
    Rows {
        unroll,
        elements_per_thread,
        elements_aside,
        blocks_per_unit: blocks_of_rows(nodes, precision),
        ..Rows::PLAIN
    }
}
