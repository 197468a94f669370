//! Exact work of a stage: bytes, flops, and nominal flops.

use super::{Accumulators, Columns, Schedule, Stage, Vector, Visit};
use crate::roofline::Work;
use core::iter::Sum;

/// Bytes of a double, and of an entry of the map.
const REAL: u64 = 8;
const INDEX: u64 = 4;

/// Flops of the Jacobian's nine differences and of its determinant, 3 cofactors and a product.
const DETERMINANT: u64 = 9 + 3 * 3 + 5;

/// Flops of the other 6 cofactors, and of 9 divisions.
const INVERSE: u64 = 6 * 3 + 9;

/// Flops of Σ_a K_ai ∂_a φ in three directions.
const GRADIENT: u64 = 3 * 5;

/// The work of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageWork {
    /// Bytes of nodal vectors, coordinates and map, each read or written once: the map of a triangle, and 24 bytes a
    /// node; additions also read. Flops of a cell with common subexpressions evaluated once per point, entries of a
    /// symmetric matrix among them. A cosine counts as a flop.
    pub work: Work,
    /// Flops of the expressions as the authors write them, 8 × 6 × 6 times in full for a cell's matrix; compilers
    /// reuse parts of them.
    pub nominal_flops: u64,
}

impl StageWork {
    /// Of a stage under a schedule.
    pub fn new(stage: Stage, schedule: &Schedule, columns: &Columns) -> Self {
        let (nodes, cells) = (columns.nodes() as u64, columns.cells() as u64);
        let map = 6 * INDEX * columns.triangles() as u64;
        let vector = REAL * nodes;
        let by_cells =
            stage.is_sum() || (stage == Stage::Expression1 && schedule.visit == Visit::Cells);
        let (read, written) = match stage {
            Stage::Zero => (0, Vector::SUMS.len() as u64),
            Stage::Expression1 => (3, 1),
            Stage::Expression2 if schedule.copy => (1, 1),
            Stage::Expression2 => (0, 0),
            Stage::Rhs1 | Stage::Action => (3 + 1 + 1, 1),
            Stage::Rhs => (3 + 1 + 1 + u64::from(schedule.copy), 1),
            Stage::Lhs => (3 + 1, 1),
        };
        let (flops, nominal_flops) = match stage {
            Stage::Zero | Stage::Expression2 => (0, 0),
            Stage::Expression1 => {
                let evaluations = if by_cells { 6 * cells } else { nodes };
                // Two factors of each argument, three cosines, three products.
                (12 * evaluations, 12 * evaluations)
            }
            _ => {
                let (once, nominal) = cell_flops(stage, schedule);
                (cells * once, cells * nominal)
            }
        };
        Self {
            work: Work {
                bytes_read: read * vector + if by_cells { map } else { 0 },
                bytes_written: written * vector,
                flops,
                ..Work::default()
            },
            nominal_flops,
        }
    }
}

/// Several stages after one another.
impl Sum for StageWork {
    fn sum<I: Iterator<Item = Self>>(stages: I) -> Self {
        stages.fold(Self::default(), |sum, stage| Self {
            work: sum.work + stage.work,
            nominal_flops: sum.nominal_flops + stage.nominal_flops,
        })
    }
}

/// Flops of a cell, with common subexpressions evaluated once, and as written.
fn cell_flops(stage: Stage, schedule: &Schedule) -> (u64, u64) {
    let additions = if schedule.row_sums { 6 } else { 36 };
    let geometry = DETERMINANT + INVERSE;
    match stage {
        // f at a point; det · weight, times φ, times f, added.
        Stage::Rhs1 => (
            DETERMINANT + 8 * (12 + 1 + 6 * 3) + 6,
            geometry + 8 * (12 + 6 * 4) + 6,
        ),
        // w₁, ∇w₁ and, if copied, w₀; the flux; then per node the gradient, five terms, the weight, the addition.
        Stage::Rhs => {
            let values = if schedule.copy { 5 * 12 } else { 4 * 12 };
            let row = GRADIENT + 5 + 4 + 1 + 1;
            let nominal_row = 2 * GRADIENT + 6 + 4 + 2 + 1;
            (
                geometry + 8 * (values + GRADIENT + 1 + 6 * row) + 6,
                geometry + 8 * (5 * 12 + 6 * nominal_row) + 6,
            )
        }
        // Gradients of all nodes; four products, their sum and the weights of each of the 21 different entries; 36
        // additions, and the unknown of each column.
        _ => {
            let times_u = match (stage, schedule.accumulators) {
                (Stage::Action, Accumulators::Entries) => 36,
                (Stage::Action, _) => 8 * 36,
                _ => 0,
            };
            let entry = 4 + 3 + 2;
            let nominal_entry = 2 * GRADIENT + entry + 1;
            (
                geometry + 8 * (6 * GRADIENT + 21 * entry + 36) + times_u + additions,
                geometry + 8 * 36 * nominal_entry + times_u + additions,
            )
        }
    }
}
