//! Gather and scatter between E-vectors and the lanes of a batch.

use super::MAX_LANES;
use crate::scalar::Lanes;

/// Reads `elements` elements, cut to the batch, into `nodal` `[component][node]`; lanes without an element
/// repeat the last one.
#[inline(always)]
pub(super) fn gather<L: Lanes>(
    token: L::Token,
    elements: usize,
    source: &[L::Real],
    nodal: &mut [L],
) {
    let len = nodal.len();
    let starts: [&[L::Real]; MAX_LANES] =
        core::array::from_fn(|lane| &source[lane.min(elements - 1) * len..][..len]);
    for (n, out) in nodal.iter_mut().enumerate() {
        *out = L::from_fn(token, |lane| starts[lane][n]);
    }
}

/// Writes `nodal` into `target`, element after element.
#[inline(always)]
pub(super) fn scatter<L: Lanes>(elements: usize, nodal: &[L], target: &mut [L::Real]) {
    let targets = target.chunks_exact_mut(nodal.len()).take(elements);
    for (lane, out) in targets.enumerate() {
        for (out, value) in out.iter_mut().zip(nodal) {
            *out = value.lanes()[lane];
        }
    }
}
