//! Large vectors filled by all threads, because the first touch of each page costs more than the work on it. New vectors of
//! zeros do not need this: nothing touches them before they are used.

use rayon::prelude::*;
use std::sync::atomic::AtomicU32;

/// A value `len` times.
pub(crate) fn filled<T: Copy + Send + Sync>(len: usize, value: T) -> Vec<T> {
    let mut all = Vec::new();
    extend(&mut all, len, value);
    all
}

/// The largest number `len` times, for threads that write in any order.
pub(crate) fn unset(len: usize) -> Vec<AtomicU32> {
    let all = (0..len).into_par_iter();
    all.map(|_| AtomicU32::new(u32::MAX)).collect()
}

/// Appends a value `len` times.
pub(crate) fn extend<T: Copy + Send + Sync>(values: &mut Vec<T>, len: usize, value: T) {
    values.par_extend(rayon::iter::repeat_n(value, len));
}

/// Cuts a slice into consecutive parts of the given lengths.
pub(crate) fn split<T>(slice: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = slice;
    lengths
        .map(|length| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(length);
            rest = tail;
            part
        })
        .collect()
}
