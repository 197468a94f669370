//! The schedules measured to be best on an H200 in fp64: for degrees 1 to 15 with 5·10⁷ nodes, in
//! `benches/runs/2026-11-21-nvidia-h200/sweep-*.csv`; those of whole elements, of layers, of components together and of
//! staged nodes with 4·10⁶ unknowns, in `benches/runs/2026-11-26-nvidia-h200/degree-1`,
//! `benches/runs/2026-11-28-nvidia-h200/layers`, `benches/runs/2026-11-25-nvidia-h200/vectors` and
//! `benches/runs/2026-11-28-nvidia-h200/staged`.

mod measured;

use super::{PointData, Schedule, ThreadPer, warp_elements};
use crate::family::fields::FieldKind;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{FactorPrecision, Scatter, Vectors};
use crate::scalar::Precision;
use measured::{
    COLLOCATED_NODAL, COLLOCATED_RECOMPUTED, COLLOCATED_SINGLE, COLLOCATED_STORED, GAUSS_NODAL,
    GAUSS_RECOMPUTED, GAUSS_STORED, Kind, MASS_NODAL, MASS_RECOMPUTED, MASS_STORED, Row, STAGED,
    TOGETHER,
};

impl Schedule {
    /// Split between warps where its elements do not fill them.
    fn fitted(mut self, shape: &Shape) -> Self {
        let of_warp = warp_elements(shape);
        self.by_warp &= of_warp > 0 && self.elements_per_block.is_multiple_of(of_warp);
        self
    }
}

/// The schedule for elements of degree 1 in one thread each, if it is faster than pencils: with several components their
/// contributions are summed by block, which saves atomic additions at the price of waiting for each other.
pub(super) fn whole_elements(
    shape: &Shape,
    vectors: Vectors,
    precision: Precision,
) -> Option<Schedule> {
    let is_small =
        shape.dim == 3 && shape.nodes_1d == 2 && shape.points_1d <= 3 && shape.components <= 3;
    if !is_small || shape.storage.is_at_points() || vectors.scatter() != Some(Scatter::Atomic) {
        return None;
    }
    let several = shape.components > 1;
    let blocks = match (shape.gradients, shape.collocated) {
        (true, true) if several && !shape.values => 5,
        (false, _) if !several => 6,
        _ => 4,
    };
    Some(Schedule {
        thread_per: ThreadPer::Element,
        elements_per_block: 64,
        blocks_per_unit: match precision {
            Precision::Fp64 => blocks,
            Precision::Fp32 => 8,
        },
        points: PointData::Registers,
        // All pencils, a layer or one.
        point_unroll: match shape.gradients {
            false => 0,
            true if shape.collocated && precision == Precision::Fp32 => 0,
            true if several || shape.values || shape.collocated => 1,
            true => shape.points_1d as u32,
        },
        together: several,
        block_sums: several,
        ..Schedule::PLAIN
    })
}

/// The schedule for the numbers of matrices of degree 1: contributions of several components are summed by block, as above.
/// In fp64 without such sums fewer blocks than fit leave more of the L1 cache to the vectors.
pub(super) fn entries(shape: &Shape, vectors: Vectors, precision: Precision) -> Schedule {
    let several = (2..=3).contains(&shape.components);
    let sums = several && vectors.scatter() == Some(Scatter::Atomic);
    Schedule {
        elements_per_block: 64,
        blocks_per_unit: if sums || precision == Precision::Fp32 {
            8
        } else {
            4
        },
        together: several,
        block_sums: sums,
        ..Schedule::ENTRIES
    }
}

/// The schedule for a layer of nodes per thread, if it is faster than pencils: with gradients at Gauss points, on affine
/// and multilinear elements, without fields at points, and with as many numbers of all inputs at a point as fit registers.
pub(super) fn layers(shape: &Shape, vectors: Vectors, precision: Precision) -> Option<Schedule> {
    let is_such = shape.dim == 3 && shape.gradients && !shape.collocated;
    let at_points = shape.storage.is_at_points() || shape.fields.count(FieldKind::Points) > 0;
    if !is_such || at_points || shape.points_1d != shape.nodes_1d + 1 {
        return None;
    }
    let fields = shape.fields.count(FieldKind::Nodal);
    let of_fields = fields + 3 * shape.field_gradients.count_ones() as usize;
    let numbers = shape.components * (3 + usize::from(shape.values)) + of_fields;
    let is_double = precision == Precision::Fp64;
    let is_printed = !shape.storage.is_factors();
    let (elements_per_block, blocks_per_unit) = match (shape.nodes_1d - 1, shape.components) {
        (2, 1) if fields == 0 => (16, 6),
        // Others of E-vectors were slower with values and not measured without.
        _ if vectors.scatter().is_none() => return None,
        (2, 1) if numbers <= 12 => (8, 12),
        (2, 2..=3) if numbers <= 12 => (8, 8),
        (3, 1) if numbers == 3 || (fields == 0 && is_double) => (24, 3),
        (3, 1) if numbers <= 8 => (6, 8),
        (4, 1) if numbers == 3 || (numbers == 4 && is_double && is_printed) => (10, 4),
        _ => return None,
    };
    Some(Schedule {
        thread_per: ThreadPer::Layer,
        elements_per_block,
        blocks_per_unit,
        even_odd: true,
        by_warp: true,
        points: PointData::Registers,
        together: shape.components > 1,
        ..Schedule::PLAIN
    })
}

/// The schedule for folded factors with pencils whose nodes are staged, if that is faster: of several components of a node,
/// adjacent in the vector, where threads wait for accesses to vectors more than for exchanges.
pub(super) fn staged(shape: &Shape, vectors: Vectors) -> Option<Schedule> {
    const ADJACENT: Vectors = Vectors::Nodal {
        interleaved: true,
        scatter: Scatter::Atomic,
    };
    // Not measured with both.
    let is_such = shape.dim == 3 && !(shape.values && shape.gradients);
    if !(2..=3).contains(&shape.components) || !is_such || vectors != ADJACENT {
        return None;
    }
    let kind = (shape.gradients, shape.collocated, shape.points_1d);
    let (_, row) = STAGED.iter().find(|(of, _)| *of == kind)?;
    Some(Schedule {
        together: shape.gradients,
        nodes_staged: true,
        ..row.fitted(shape)
    })
}

/// The schedule for folded factors with pencils of all components together, if that is faster than one after the other.
pub(super) fn together(shape: &Shape, vectors: Vectors, precision: Precision) -> Option<Schedule> {
    let kind = kind(shape, vectors);
    // In single precision BP6 is slower.
    let is_slower = precision == Precision::Fp32 && shape.collocated;
    if !(2..=3).contains(&shape.components) || is_slower {
        return None;
    }
    let is_own = |(of, points, _): &&(Kind, usize, Row)| *of == kind && *points == shape.points_1d;
    let (_, _, row) = TOGETHER.iter().find(is_own)?;
    Some(Schedule {
        together: true,
        ..row.fitted(shape)
    })
}

/// The schedule for folded factors with pencils of one component after the other.
pub(super) fn apart(shape: &Shape, vectors: Vectors, factors: FactorPrecision) -> Schedule {
    let kind = kind(shape, vectors);
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
    let other = others.find(|(points, _)| *points == shape.points_1d);
    other.map_or(rows[index], |&(_, row)| row).fitted(shape)
}

fn kind(shape: &Shape, vectors: Vectors) -> Kind {
    let stored = shape.storage == Storage::PointFactors;
    let nodal = vectors.scatter().is_some();
    (shape.gradients, shape.collocated, stored, nodal)
}
