//! Large vectors made by all threads: the system clears a page when a thread first touches it, which takes one thread
//! longer than the work on most of these vectors.

use rayon::prelude::*;

/// A value `len` times.
pub(crate) fn filled<T: Copy + Send + Sync>(len: usize, value: T) -> Vec<T> {
    let mut all = Vec::new();
    extend(&mut all, len, value);
    all
}

/// Appends a value `len` times.
pub(crate) fn extend<T: Copy + Send + Sync>(values: &mut Vec<T>, len: usize, value: T) {
    values.par_extend(rayon::iter::repeat_n(value, len));
}
