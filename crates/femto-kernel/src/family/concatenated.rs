//! Joining what several threads made.

use rayon::prelude::*;

/// The numbers of all parts, one after the other.
pub(super) fn concatenated<P: Sync, T: Copy + Default + Send + Sync>(
    parts: &[P],
    numbers: impl Fn(&P) -> &[T] + Sync,
) -> Vec<T> {
    let mut all = vec![T::default(); parts.iter().map(|part| numbers(part).len()).sum()];
    let (mut rest, mut rows) = (&mut all[..], Vec::with_capacity(parts.len()));
    for part in parts {
        let (row, after) = rest.split_at_mut(numbers(part).len());
        rows.push((row, part));
        rest = after;
    }
    rows.into_par_iter()
        .for_each(|(row, part)| row.copy_from_slice(numbers(part)));
    all
}
