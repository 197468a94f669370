//! The tables, and the words in which they are written.

use super::super::{PointData, Schedule};

/// A schedule of the tables.
pub(super) type Row = Schedule;

/// A row without any of the options below.
pub(super) const fn row(elements_per_block: u32, blocks_per_unit: u32) -> Row {
    Schedule {
        elements_per_block,
        blocks_per_unit,
        even_odd: true,
        points: PointData::Registers,
        ..Schedule::PLAIN
    }
}

/// The options of rows.
impl Schedule {
    pub(super) const fn scratch(mut self) -> Self {
        self.scratch_cube = true;
        self
    }

    pub(super) const fn reload(mut self) -> Self {
        self.reload_values = true;
        self
    }

    pub(super) const fn unroll(mut self, count: u32) -> Self {
        self.point_unroll = count;
        self
    }

    pub(super) const fn staged(mut self) -> Self {
        self.staged = true;
        self
    }

    pub(super) const fn by_warp(mut self) -> Self {
        self.by_warp = true;
        self
    }
}

/// Gradients, points at the nodes, factors stored at points, L-vectors.
pub(super) type Kind = (bool, bool, bool, bool);

/// BK1, stored factors.
pub(super) const MASS_STORED: [Row; 15] = [
    row(12, 6).by_warp(),
    row(4, 12).by_warp(),
    row(5, 10),
    row(2, 14),
    row(1, 21),
    row(1, 21),
    row(1, 14),
    row(1, 4),
    row(1, 8),
    row(1, 5),
    row(1, 3),
    row(1, 3),
    row(1, 4),
    row(1, 4),
    row(1, 3),
];
/// BK1, geometry recomputed or constant.
pub(super) const MASS_RECOMPUTED: [Row; 15] = [
    row(7, 16),
    row(8, 10),
    row(5, 8),
    row(4, 8),
    row(3, 8),
    row(1, 8),
    row(1, 10),
    row(1, 4),
    row(1, 6),
    row(1, 5),
    row(1, 4),
    row(1, 4),
    row(1, 3),
    row(1, 3),
    row(1, 2),
];
/// BP1.
pub(super) const MASS_NODAL: [Row; 15] = [
    row(7, 16),
    row(8, 10).by_warp(),
    row(5, 10),
    row(4, 8),
    row(3, 8),
    row(2, 10),
    row(1, 10),
    row(1, 8),
    row(1, 8),
    row(1, 5),
    row(1, 4),
    row(1, 4),
    row(1, 3),
    row(1, 3),
    row(1, 2),
];
/// BK5, stored factors.
pub(super) const COLLOCATED_STORED: [Row; 15] = [
    row(32, 8).by_warp(),
    row(7, 6),
    row(4, 10).scratch().reload().by_warp(),
    row(5, 3).scratch().reload(),
    row(4, 3).scratch().reload(),
    row(1, 8).scratch().reload().unroll(4),
    row(1, 8).scratch().reload().unroll(4),
    row(1, 5).scratch().reload().unroll(4),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 3).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 1).scratch().reload().unroll(4),
    row(1, 1).scratch().reload().unroll(4),
];
/// Exceptions for BK5 with factors stored in single precision: points along an axis and the row. Measured for degrees 3
/// to 10, above 6 with 6·10⁶ nodes, in `sweep-single-*.csv` of
/// `benches/runs/2026-11-22-nvidia-h200`.
pub(super) const COLLOCATED_SINGLE: [(usize, Row); 5] = [
    (4, row(4, 4).scratch().reload().by_warp().staged()),
    (5, row(5, 6).scratch().reload()),
    (6, row(4, 3).scratch().reload().staged()),
    (7, row(1, 12).scratch().reload().unroll(4)),
    (9, row(1, 6).scratch().reload().unroll(4)),
];
/// BK5, geometry recomputed or constant.
pub(super) const COLLOCATED_RECOMPUTED: [Row; 15] = [
    row(16, 12).scratch().by_warp(),
    row(7, 10).scratch(),
    row(4, 8).scratch().by_warp(),
    row(5, 4).scratch().reload(),
    row(4, 3).scratch().reload(),
    row(3, 3).scratch(),
    row(1, 8).scratch().unroll(1),
    row(1, 5).scratch().unroll(1),
    row(1, 5).scratch().unroll(1),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 3).scratch().unroll(1),
    row(1, 2).scratch(),
    row(1, 2).scratch().reload().unroll(2),
    row(1, 2).scratch().reload().unroll(1),
    row(1, 1).scratch().reload().unroll(2),
];
/// BP5.
pub(super) const COLLOCATED_NODAL: [Row; 15] = [
    row(16, 12).scratch().by_warp(),
    row(7, 10).scratch(),
    row(4, 10),
    row(5, 5),
    row(4, 4),
    row(3, 4).scratch(),
    row(1, 6).scratch(),
    row(1, 6).scratch().reload().unroll(4),
    row(1, 5).scratch().unroll(1),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 3).scratch().reload().unroll(1),
    row(1, 2).scratch(),
    row(1, 2).scratch().unroll(1),
    row(1, 2).scratch().reload().unroll(1),
    row(1, 2).scratch().reload().unroll(1),
];
/// BK3, stored factors.
pub(super) const GAUSS_STORED: [Row; 15] = [
    row(6, 10).by_warp(),
    row(4, 12).by_warp(),
    row(5, 5),
    row(4, 3),
    row(3, 4),
    row(1, 10).scratch().reload().unroll(4),
    row(1, 7).scratch().reload().unroll(2),
    row(1, 3).scratch().reload().unroll(4),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 3).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 1).scratch().reload().unroll(4),
];
/// BK3, geometry recomputed or constant.
pub(super) const GAUSS_RECOMPUTED: [Row; 15] = [
    row(7, 10).scratch(),
    row(4, 8).scratch(),
    row(5, 4),
    row(4, 3),
    row(3, 3),
    row(1, 6).scratch(),
    row(1, 5).scratch().reload().unroll(4),
    row(1, 5).scratch().reload().unroll(2),
    row(1, 4).scratch().reload().unroll(1),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 2).scratch(),
    row(1, 2).scratch().reload().unroll(2),
    row(1, 2).scratch().reload().unroll(4),
    row(1, 2).scratch().reload().unroll(2),
    row(1, 1).scratch(),
];
/// BP3.
pub(super) const GAUSS_NODAL: [Row; 15] = [
    row(7, 10).scratch(),
    row(4, 10).scratch().by_warp(),
    row(5, 5).scratch(),
    row(7, 2),
    row(3, 4).scratch().reload(),
    row(1, 10).scratch().unroll(1),
    row(1, 7).scratch().unroll(1),
    row(1, 3).scratch().reload().unroll(1),
    row(1, 5).scratch().unroll(1),
    row(1, 4).scratch().reload().unroll(4),
    row(1, 3).scratch().reload().unroll(1),
    row(1, 2).scratch().unroll(1),
    row(1, 2).scratch().reload().unroll(1),
    row(1, 2).scratch().reload().unroll(1),
    row(1, 1).scratch().reload().unroll(4),
];
/// BP2, one component after the other, and BP4 and BP6, components together, with staged nodes, where that is faster: whether
/// there are gradients and the points are nodes, points along an axis, and the row. Masses have the same with stored
/// and recomputed factors. At degree 7 BP2 has 0.90 to 0.99 of the rate.
pub(super) const STAGED: [((bool, bool, usize), Row); 8] = [
    ((false, false, 4), row(4, 8).by_warp()),
    ((false, false, 5), row(5, 10)),
    ((false, false, 6), row(4, 7)),
    ((false, false, 7), row(2, 8)),
    ((false, false, 8), row(2, 6)),
    ((false, false, 10), row(1, 6)),
    ((true, true, 4), row(4, 8).scratch()),
    ((true, false, 5), row(5, 4).scratch()),
];
/// BP2, BP4 and BP6, of three components, with these together, where that is faster: kind, points along an axis and the
/// row.
pub(super) const TOGETHER: [(Kind, usize, Row); 11] = [
    ((false, false, true, true), 7, row(1, 5).scratch()),
    ((false, false, false, true), 8, row(1, 4).scratch()),
    ((true, false, false, true), 5, row(4, 4).scratch()),
    ((true, false, false, true), 6, row(4, 3).scratch()),
    ((true, false, false, true), 7, row(1, 8).scratch()),
    ((true, true, false, true), 4, row(2, 6).scratch()),
    ((true, true, false, true), 5, row(2, 8).scratch()),
    ((true, true, false, true), 6, row(1, 8).scratch()),
    ((true, true, false, true), 7, row(1, 5).scratch()),
    ((true, true, false, true), 8, row(1, 5).scratch()),
    ((true, true, false, true), 9, row(1, 3).scratch()),
];
