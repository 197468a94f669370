//! Copies and fills that go past the caches.
//!
//! An ordinary store first reads the cache line that it is about to overwrite. Where whole lines
//! are overwritten and not needed again soon, non-temporal stores spare that read.

use crate::device::Element;

/// Copies `source` to `target` past the caches where the processor can.
///
/// Copies the common length where the two differ.
pub fn copy<T: Element>(source: &[T], target: &mut [T]) {
    let len = source.len().min(target.len());
    let (source, target) = (&source[..len], &mut target[..len]);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86::copy(source, target);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    target.copy_from_slice(source);
}

/// Sets all of `target` to `value` past the caches where the processor can.
pub fn fill<T: Element>(target: &mut [T], value: T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86::fill(target, value);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    target.fill(value);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::Element;
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// What is stored at a time: a cache line, as four of the 16-byte registers that every x86-64
    /// has. The line leaves the core as one write whatever the width of the registers was.
    type Line = [__m128i; 4];

    /// Makes the stores visible before anything that follows, as ordinary stores would be.
    fn fence() {
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_sfence() };
    }

    pub(super) fn copy<T: Element>(source: &[T], target: &mut [T]) {
        // SAFETY: every bit pattern of a `Line` is a value of `T`, and the other way round.
        let (head, lines, tail) = unsafe { target.align_to_mut::<Line>() };
        let per_line = size_of::<Line>() / size_of::<T>();
        let (first, rest) = source.split_at(head.len());
        let (middle, last) = rest.split_at(lines.len() * per_line);
        head.copy_from_slice(first);
        tail.copy_from_slice(last);
        for (from, line) in middle.chunks_exact(per_line).zip(lines) {
            let from = from.as_ptr().cast::<__m128i>();
            for (i, to) in line.iter_mut().enumerate() {
                // SAFETY: `from` starts a chunk of one line, of which this is the i-th quarter; the
                // load needs no alignment, and `to` is aligned because it is a reference.
                unsafe { _mm_stream_si128(to, _mm_loadu_si128(from.add(i))) };
            }
        }
        fence();
    }

    pub(super) fn fill<T: Element>(target: &mut [T], value: T) {
        let pattern = [value; 16];
        // SAFETY: every `T` has at least 4 bytes, so that the pattern has at least 16.
        let pattern = unsafe { _mm_loadu_si128(pattern.as_ptr().cast()) };
        // SAFETY: every bit pattern of a `Line` is a value of `T`.
        let (head, lines, tail) = unsafe { target.align_to_mut::<Line>() };
        head.fill(value);
        tail.fill(value);
        for to in lines.iter_mut().flatten() {
            // SAFETY: `to` is aligned because it is a reference.
            unsafe { _mm_stream_si128(to, pattern) };
        }
        fence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alignment_and_length_is_copied_and_filled() {
        for start in 0..9 {
            for len in [0, 1, 3, 8, 64, 100, 1001] {
                let source: Vec<f64> = (0..start + len).map(|i| i as f64).collect();
                let mut target = vec![-1.0; 9 - start + len + 2];
                let end = 9 - start + len;
                copy(&source[start..], &mut target[9 - start..end]);
                assert_eq!(target[9 - start..end], source[start..]);
                fill(&mut target[9 - start..end], 0.25);
                assert!(target[9 - start..end].iter().all(|&v| v == 0.25));
                assert!(target[..9 - start].iter().all(|&v| v == -1.0));
                assert_eq!(target[end..], [-1.0; 2]);
            }
        }
    }

    #[test]
    fn numbers_of_four_bytes_too() {
        let source: Vec<u32> = (0..103).collect();
        let mut target = [7; 101];
        copy(&source[1..], &mut target[1..]);
        assert_eq!(target[1..], source[1..101]);
        fill(&mut target[3..], 9);
        assert_eq!(target[..4], [7, 1, 2, 9]);
        assert!(target[3..].iter().all(|&v| v == 9));
    }
}
