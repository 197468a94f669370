//! Copies and fills that bypass the caches.
//!
//! An ordinary store first reads the cache line that it is about to overwrite. If whole lines are
//! overwritten and not needed again soon, non-temporal stores save that read.

use crate::device::Element;

/// Copies `source` to `target`, bypassing the caches if the processor can.
///
/// If the lengths differ, copies the shorter one.
pub fn copy<T: Element>(source: &[T], target: &mut [T]) {
    let len = source.len().min(target.len());
    let (source, target) = (&source[..len], &mut target[..len]);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86::copy(source, target);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    target.copy_from_slice(source);
}

/// Sets all of `target` to `value`, bypassing the caches if the processor can.
pub fn fill<T: Element>(target: &mut [T], value: T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86::fill(target, value);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    target.fill(value);
}

/// Prefetches about the first `lines` cache lines of `source`; a hint without other effects. For values
/// longer than a line, only the first line of each is prefetched.
#[inline]
pub fn prefetch<T>(source: &[T], lines: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86::prefetch(source, lines);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (source, lines);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::Element;
    use std::arch::x86_64::{
        __m128i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_stream_si128,
    };

    #[inline]
    pub(super) fn prefetch<T>(source: &[T], lines: usize) {
        if size_of::<T>() == 0 {
            return;
        }
        let per_line = (size_of::<Line>() / size_of::<T>()).max(1);
        for first in source.iter().step_by(per_line).take(lines) {
            // SAFETY: every x86-64 has SSE, and a prefetch reads nothing that the program sees.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(first).cast()) };
        }
    }

    /// The unit of storing: a cache line, as four of the 16-byte registers of every x86-64. Aligned, it leaves
    /// the core as one write, whatever the width of the registers.
    #[repr(align(64))]
    struct Line([__m128i; 4]);

    /// Orders the stores before everything that follows, like ordinary stores.
    fn fence() {
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_sfence() };
    }

    /// Lines of one page.
    const PAGE: usize = 4096 / size_of::<Line>();
    /// Pages copied side by side: several streams keep more of the memory busy, as in glibc's large copies.
    const STREAMS: usize = 4;

    pub(super) fn copy<T: Element>(source: &[T], target: &mut [T]) {
        // SAFETY: every bit pattern of a `Line` is a value of `T`, and the other way round.
        let (head, lines, tail) = unsafe { target.align_to_mut::<Line>() };
        let (first, rest) = source.split_at(head.len());
        let (middle, last) = rest.split_at(rest.len() - tail.len());
        head.copy_from_slice(first);
        tail.copy_from_slice(last);

        let mut from = bytes(middle).chunks_exact(STREAMS * PAGE);
        let mut to = lines.chunks_exact_mut(STREAMS * PAGE);
        for (from, to) in (&mut from).zip(&mut to) {
            for line in (0..PAGE).flat_map(|i| (0..STREAMS).map(move |page| page * PAGE + i)) {
                copy_line(&from[line], &mut to[line]);
            }
        }
        for (from, to) in from.remainder().iter().zip(to.into_remainder()) {
            copy_line(from, to);
        }
        fence();
    }

    /// The bytes of the whole lines within numbers, which need not start at a line.
    fn bytes<T: Element>(numbers: &[T]) -> &[[u8; size_of::<Line>()]] {
        // SAFETY: bytes need no alignment, and numbers consist of bytes without padding.
        let (_, lines, _) = unsafe { numbers.align_to() };
        lines
    }

    #[inline(always)]
    fn copy_line(source: &[u8; size_of::<Line>()], target: &mut Line) {
        let from = source.as_ptr().cast::<__m128i>();
        for (i, to) in target.0.iter_mut().enumerate() {
            // SAFETY: this loads the i-th quarter of `source`, without a need for alignment; `to`
            // is aligned because it is a reference.
            unsafe { _mm_stream_si128(to, _mm_loadu_si128(from.add(i))) };
        }
    }

    pub(super) fn fill<T: Element>(target: &mut [T], value: T) {
        let pattern = [value; 16];
        // SAFETY: every `T` has at least a byte, so the pattern has at least 16.
        let pattern = unsafe { _mm_loadu_si128(pattern.as_ptr().cast()) };
        // SAFETY: every bit pattern of a `Line` is a value of `T`.
        let (head, lines, tail) = unsafe { target.align_to_mut::<Line>() };
        head.fill(value);
        tail.fill(value);
        for to in lines.iter_mut().flat_map(|line| &mut line.0) {
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
            for len in [0, 1, 3, 8, 64, 100, 1001, 2048, 5000] {
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
    fn values_of_every_size_can_be_asked_for() {
        prefetch(&[(); 3], 2);
        prefetch(&[[0u8; 200]; 3], 5);
        prefetch(&[[0u8; 65]; 3], usize::MAX);
        prefetch(&[1.0; 100], 3);
        prefetch::<f64>(&[], 3);
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
