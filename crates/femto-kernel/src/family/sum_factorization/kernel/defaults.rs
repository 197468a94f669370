//! The schedules measured to be best on an H200, fp64, 5·10⁷ nodes, in
//! `benches/runs/2026-11-21-nvidia-h200/sweep-*.csv`, for degrees 1 to 15.

use super::{PointData, Schedule, warp_elements};
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{FactorPrecision, Vectors};

/// Elements per block, blocks per unit, scratch cube, values reloaded, unrolling of the point step,
/// elements by warp.
type Row = (u32, u32, u8, u8, u32, u8);

pub(super) fn schedule(shape: &Shape, vectors: Vectors, factors: FactorPrecision) -> Schedule {
    let nodal = matches!(vectors, Vectors::Nodal { .. });
    let stored = shape.storage == Storage::PointFactors;
    let kind = (shape.gradients, shape.collocated, stored, nodal);
    let rows = match kind {
        (false, _, true, _) => &MASS_STORED,
        (false, _, false, false) => &MASS_RECOMPUTED,
        (false, _, false, true) => &MASS_NODAL,
        (true, true, true, _) => &COLLOCATED_STORED,
        (true, true, false, false) => &COLLOCATED_RECOMPUTED,
        (true, true, false, true) => &COLLOCATED_NODAL,
        (true, false, true, _) => &GAUSS_STORED,
        (true, false, false, false) => &GAUSS_RECOMPUTED,
        (true, false, false, true) => &GAUSS_NODAL,
    };
    // The rows are for degree + 2 Gauss points, or degree + 1 nodes if derivatives are collocated; other
    // rules use the row with the same number of points, or with the fewest.
    let fewest = if shape.collocated && shape.gradients {
        2
    } else {
        3
    };
    let index = shape.points_1d.saturating_sub(fewest).min(rows.len() - 1);
    let single = factors == FactorPrecision::Single && kind == (true, true, true, false);
    let mut others = COLLOCATED_SINGLE.iter().filter(|_| single);
    let other = others.find(|(points, ..)| *points == shape.points_1d);
    let (row, staged) = other.map_or((rows[index], false), |&(_, row, staged)| (row, staged));
    let (elements_per_block, blocks_per_unit, scratch, reload, point_unroll, by_warp) = row;
    let of_warp = warp_elements(shape);
    Schedule {
        elements_per_block,
        blocks_per_unit,
        even_odd: true,
        points: PointData::Registers,
        scratch_cube: scratch == 1,
        reload_values: reload == 1,
        point_unroll,
        staged,
        by_warp: by_warp == 1 && of_warp > 0 && elements_per_block.is_multiple_of(of_warp),
    }
}

/// BK1, stored factors.
const MASS_STORED: [Row; 15] = [
    (12, 6, 0, 0, 0, 1),
    (4, 12, 0, 0, 0, 1),
    (5, 10, 0, 0, 0, 0),
    (2, 14, 0, 0, 0, 0),
    (1, 21, 0, 0, 0, 0),
    (1, 21, 0, 0, 0, 0),
    (1, 14, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 8, 0, 0, 0, 0),
    (1, 5, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
];
/// BK1, geometry recomputed or constant.
const MASS_RECOMPUTED: [Row; 15] = [
    (7, 16, 0, 0, 0, 0),
    (8, 10, 0, 0, 0, 0),
    (5, 8, 0, 0, 0, 0),
    (4, 8, 0, 0, 0, 0),
    (3, 8, 0, 0, 0, 0),
    (1, 8, 0, 0, 0, 0),
    (1, 10, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 6, 0, 0, 0, 0),
    (1, 5, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 2, 0, 0, 0, 0),
];
/// BP1.
const MASS_NODAL: [Row; 15] = [
    (7, 16, 0, 0, 0, 0),
    (8, 10, 0, 0, 0, 1),
    (5, 10, 0, 0, 0, 0),
    (4, 8, 0, 0, 0, 0),
    (3, 8, 0, 0, 0, 0),
    (2, 10, 0, 0, 0, 0),
    (1, 10, 0, 0, 0, 0),
    (1, 8, 0, 0, 0, 0),
    (1, 8, 0, 0, 0, 0),
    (1, 5, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 4, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 3, 0, 0, 0, 0),
    (1, 2, 0, 0, 0, 0),
];
/// BK5, stored factors.
const COLLOCATED_STORED: [Row; 15] = [
    (32, 8, 0, 0, 0, 1),
    (7, 6, 0, 0, 0, 0),
    (4, 10, 1, 1, 0, 1),
    (5, 3, 1, 1, 0, 0),
    (4, 3, 1, 1, 0, 0),
    (1, 8, 1, 1, 4, 0),
    (1, 8, 1, 1, 4, 0),
    (1, 5, 1, 1, 4, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 3, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 1, 1, 1, 4, 0),
    (1, 1, 1, 1, 4, 0),
];
/// Exceptions for BK5 with factors stored in single precision: points along an axis, the row, and whether
/// factors are staged. Measured for degrees 3 to 10, above 6 with 6·10⁶ nodes, in `sweep-single-*.csv` of
/// `benches/runs/2026-11-22-nvidia-h200`.
const COLLOCATED_SINGLE: [(usize, Row, bool); 5] = [
    (4, (4, 4, 1, 1, 0, 1), true),
    (5, (5, 6, 1, 1, 0, 0), false),
    (6, (4, 3, 1, 1, 0, 0), true),
    (7, (1, 12, 1, 1, 4, 0), false),
    (9, (1, 6, 1, 1, 4, 0), false),
];
/// BK5, geometry recomputed or constant.
const COLLOCATED_RECOMPUTED: [Row; 15] = [
    (16, 12, 1, 0, 0, 1),
    (7, 10, 1, 0, 0, 0),
    (4, 8, 1, 0, 0, 1),
    (5, 4, 1, 1, 0, 0),
    (4, 3, 1, 1, 0, 0),
    (3, 3, 1, 0, 0, 0),
    (1, 8, 1, 0, 1, 0),
    (1, 5, 1, 0, 1, 0),
    (1, 5, 1, 0, 1, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 3, 1, 0, 1, 0),
    (1, 2, 1, 0, 0, 0),
    (1, 2, 1, 1, 2, 0),
    (1, 2, 1, 1, 1, 0),
    (1, 1, 1, 1, 2, 0),
];
/// BP5.
const COLLOCATED_NODAL: [Row; 15] = [
    (16, 12, 1, 0, 0, 1),
    (7, 10, 1, 0, 0, 0),
    (4, 10, 0, 0, 0, 0),
    (5, 5, 0, 0, 0, 0),
    (4, 4, 0, 0, 0, 0),
    (3, 3, 0, 0, 0, 0),
    (1, 6, 1, 0, 0, 0),
    (1, 5, 1, 1, 4, 0),
    (1, 5, 1, 0, 1, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 3, 1, 1, 1, 0),
    (1, 2, 1, 0, 0, 0),
    (1, 2, 1, 0, 1, 0),
    (1, 2, 1, 1, 1, 0),
    (1, 2, 1, 1, 1, 0),
];
/// BK3, stored factors.
const GAUSS_STORED: [Row; 15] = [
    (6, 10, 0, 0, 0, 1),
    (4, 12, 0, 0, 0, 1),
    (5, 5, 0, 0, 0, 0),
    (4, 3, 0, 0, 0, 0),
    (3, 4, 0, 0, 0, 0),
    (1, 10, 1, 1, 4, 0),
    (1, 7, 1, 1, 2, 0),
    (1, 3, 1, 1, 4, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 3, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 1, 1, 1, 4, 0),
];
/// BK3, geometry recomputed or constant.
const GAUSS_RECOMPUTED: [Row; 15] = [
    (7, 10, 1, 0, 0, 0),
    (4, 8, 1, 0, 0, 0),
    (5, 4, 0, 0, 0, 0),
    (4, 3, 0, 0, 0, 0),
    (3, 3, 0, 0, 0, 0),
    (1, 6, 1, 0, 0, 0),
    (1, 5, 1, 1, 4, 0),
    (1, 5, 1, 1, 2, 0),
    (1, 4, 1, 1, 1, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 2, 1, 0, 0, 0),
    (1, 2, 1, 1, 2, 0),
    (1, 2, 1, 1, 4, 0),
    (1, 2, 1, 1, 2, 0),
    (1, 1, 1, 0, 0, 0),
];
/// BP3.
const GAUSS_NODAL: [Row; 15] = [
    (7, 10, 1, 0, 0, 0),
    (4, 10, 1, 0, 0, 1),
    (5, 5, 1, 0, 0, 0),
    (7, 2, 0, 0, 0, 0),
    (3, 4, 1, 1, 0, 0),
    (1, 10, 1, 0, 1, 0),
    (1, 7, 1, 0, 1, 0),
    (1, 3, 1, 1, 1, 0),
    (1, 5, 1, 0, 1, 0),
    (1, 4, 1, 1, 4, 0),
    (1, 3, 1, 1, 1, 0),
    (1, 2, 1, 0, 1, 0),
    (1, 2, 1, 1, 1, 0),
    (1, 2, 1, 1, 1, 0),
    (1, 1, 1, 1, 4, 0),
];
