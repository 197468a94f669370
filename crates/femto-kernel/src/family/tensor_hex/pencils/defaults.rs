//! The schedules that were best where they were measured.

use super::Pencils;
use crate::family::tensor_hex::Storage;
use crate::family::tensor_hex::work::Shape;

/// Elements of a block, blocks of a unit, third cube, values in registers, unrolling of the metric.
type Row = (u32, u32, bool, bool, u32);

pub(super) fn for_shape(shape: &Shape) -> Pencils {
    let points = shape.points_1d as u32;
    let (elements_per_block, blocks_per_unit, third_cube, keep_values, metric_unroll) = row(
        points,
        shape.gradients,
        shape.storage == Storage::PointFactors,
    );
    Pencils {
        elements_per_block,
        blocks_per_unit,
        even_odd: true,
        third_cube,
        keep_values,
        metric_unroll,
        prefetch: false,
    }
}

fn row(points: u32, gradients: bool, _stored: bool) -> Row {
    let threads = points * points;
    let elements = (128 / threads).max(1);
    let warps = (elements * threads).div_ceil(32);
    let registers = if gradients { 128 } else { 64 };
    let blocks = (2048 / (warps * registers)).max(1);
    if gradients && points > 7 {
        (elements, blocks, true, false, 1)
    } else {
        (elements, blocks, false, true, 0)
    }
}
