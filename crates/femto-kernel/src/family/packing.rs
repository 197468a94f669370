//! Packing of several elements.

use super::{BlockOperator, CellMap};

/// Elements that are packed together, at most: those of the widest vectors of fp64.
pub const GROUP: usize = 8;

/// [`BlockOperator::pack_group`], one element after the other.
pub(super) fn pack_each<B: BlockOperator + ?Sized>(
    block: &B,
    maps: &[CellMap],
    coefficients: &[(f64, f64)],
    for_device: bool,
    out: &mut [f64],
) {
    let rows = out.chunks_exact_mut(out.len() / maps.len());
    for (out, (&map, &coefficients)) in rows.zip(maps.iter().zip(coefficients)) {
        match for_device {
            true => block.pack_for_device(map, coefficients, out),
            false => block.pack(map, coefficients, out),
        }
    }
}
