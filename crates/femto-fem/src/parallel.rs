//! Loops by all threads of rayon's current pool whose bodies alone are compiled for each loop.
//!
//! Rayon's iterators compile all that divides and joins work once more for every closure, which would be two fifths of the code
//! of this crate and a third of that of `femto`. Here work is divided by one function, into blocks of indices, and a body is
//! called by reference once for a block. Vectors of [`map`] and [`unset`] are first touched by all threads, if their default is
//! zero, because the first touch of each page costs more than most work on it.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// Blocks for each thread, so that those that finish early find more.
const BLOCKS: usize = 32;

/// The length of the blocks of indices below `count`.
fn block(count: usize) -> usize {
    let blocks = BLOCKS * rayon::current_num_threads();
    count.div_ceil(blocks).max(1)
}

/// The values of the blocks of indices below `count`, in order.
fn of_blocks<R: Send>(count: usize, value: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let len = block(count);
    let mut values: Vec<Option<R>> = Vec::new();
    values.resize_with(count.div_ceil(len), || None);
    each(&mut values, |number, to| {
        *to = Some(value(number * len..count.min((number + 1) * len)));
    });
    values.into_iter().flatten().collect()
}

/// Calls `body` for each number below `count`: all loops but those of [`unset`] and [`written`] end here.
fn call(count: usize, body: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => body(0),
        _ => (0..count).into_par_iter().for_each(body),
    }
}

/// Calls `body` for each index below `count`.
pub fn for_each(count: usize, body: impl Fn(usize) + Sync) {
    of_blocks(count, |indices| indices.for_each(&body));
}

/// The value of each index below `count`.
pub fn map<R: Clone + Default + Send>(count: usize, value: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut values = vec![R::default(); count];
    each(&mut values, |index, to| *to = value(index));
    values
}

/// The value of each index below `count`, or that of the first one that is an error.
///
/// # Errors
/// Those of `value`.
pub fn try_map<R: Clone + Default + Send, E: Send>(
    count: usize,
    value: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let first = First::new();
    let values = map(count, |index| {
        // After an error of a lower index nothing counts.
        let found = first.is_before(index).then(|| value(index));
        found.unwrap_or(Ok(R::default())).unwrap_or_else(|error| {
            first.offer(index, error);
            R::default()
        })
    });
    first.into_inner().map_or(Ok(values), Err)
}

/// What is found at the first index below `count` at which something is.
pub fn find_first<R: Send>(count: usize, find: impl Fn(usize) -> Option<R> + Sync) -> Option<R> {
    let first = First::new();
    of_blocks(count, |indices| {
        for index in indices.take_while(|&index| first.is_before(index)) {
            if let Some(found) = find(index) {
                return first.offer(index, found);
            }
        }
    });
    first.into_inner()
}

/// Whether `is` holds for all indices below `count`.
pub fn all(count: usize, is: impl Fn(usize) -> bool + Sync) -> bool {
    find_first(count, |index| (!is(index)).then_some(())).is_none()
}

/// Of the values that are offered, that of the lowest index.
struct First<R> {
    index: AtomicUsize,
    value: Mutex<Option<R>>,
}

impl<R> First<R> {
    fn new() -> Self {
        Self {
            index: AtomicUsize::new(usize::MAX),
            value: Mutex::new(None),
        }
    }

    /// Whether a value of this index could be the one.
    fn is_before(&self, index: usize) -> bool {
        index < self.index.load(Relaxed)
    }

    fn offer(&self, index: usize, value: R) {
        let mut own = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_before(index) {
            self.index.store(index, Relaxed);
            *own = Some(value);
        }
    }

    fn into_inner(self) -> Option<R> {
        self.value
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `append` adds to a vector for each index below `count`, in the order of the indices.
pub fn gather<R: Send>(count: usize, append: impl Fn(usize, &mut Vec<R>) + Sync) -> Vec<R> {
    let parts = of_blocks(count, |indices| {
        let mut part = Vec::new();
        indices.for_each(|index| append(index, &mut part));
        part
    });
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for mut part in parts {
        all.append(&mut part);
    }
    all
}

/// The indices below `count` that `is_taken`.
pub fn filter(count: usize, is_taken: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    gather(count, |index, all| {
        all.extend(is_taken(index).then_some(index))
    })
}

/// Values of all indices below `count` joined to `first`, block by block: `join` must not depend on how they are grouped, and
/// `first` must change nothing.
pub fn reduce<R: Clone + Send + Sync>(
    count: usize,
    first: R,
    value: impl Fn(usize) -> R + Sync,
    join: impl Fn(R, R) -> R + Sync,
) -> R {
    let parts = of_blocks(count, |indices| {
        indices.map(&value).fold(first.clone(), &join)
    });
    parts.into_iter().fold(first, join)
}

/// Changes each item, given its index.
pub fn each<T: Send>(items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
    blocks(items, 1, |first, share| {
        let items = share.iter_mut().zip(first..);
        items.for_each(|(item, index)| body(index, item));
    });
}

/// Changes consecutive chunks of `len` items, the last of which may have fewer, given their numbers.
///
/// # Panics
/// If `len` is zero.
pub fn chunks<T: Send>(items: &mut [T], len: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    blocks(items, len, |first, share| {
        let chunks = share.chunks_mut(len).zip(first..);
        chunks.for_each(|(chunk, number)| body(number, chunk));
    });
}

/// As [`each`], until one fails.
///
/// # Errors
/// That of the first item of those that failed.
pub fn try_each<T: Send, E: Send>(
    items: &mut [T],
    body: impl Fn(usize, &mut T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    try_chunks(items, 1, |index, item| body(index, &mut item[0]))
}

/// As [`chunks`], until one fails.
///
/// # Errors
/// That of the first chunk of those that failed.
///
/// # Panics
/// If `len` is zero.
pub fn try_chunks<T: Send, E: Send>(
    items: &mut [T],
    len: usize,
    body: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let first = First::new();
    chunks(items, len, |number, chunk| {
        if first.is_before(number)
            && let Err(error) = body(number, chunk)
        {
            first.offer(number, error);
        }
    });
    first.into_inner().map_or(Ok(()), Err)
}

/// Changes blocks of whole chunks of `len` items, given the number of the first chunk of each: for work that needs memory of
/// its own.
///
/// # Panics
/// If `len` is zero.
pub fn blocks<T: Send>(items: &mut [T], len: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    let in_block = block(items.len().div_ceil(len));
    let shares = items.chunks_mut(in_block * len).map(Mutex::new);
    let shares: Vec<Mutex<&mut [T]>> = shares.collect();
    call(shares.len(), &|number| {
        let mut share = shares[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        body(number * in_block, &mut share);
    });
}

/// Changes parts of these lengths, given their numbers.
///
/// # Panics
/// If there are not as many items.
pub fn parts<T: Send>(
    items: &mut [T],
    lengths: impl Iterator<Item = usize>,
    body: impl Fn(usize, &mut [T]) + Sync,
) {
    each(&mut split(items, lengths), |number, part| {
        body(number, part)
    });
}

/// Cuts a slice into consecutive parts of the given lengths.
///
/// # Panics
/// If there are not as many items.
pub fn split<T>(items: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = items;
    let part = |length| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
        rest = after;
        part
    };
    lengths.map(part).collect()
}

/// The largest number `len` times, for threads that write in any order.
pub fn unset(len: usize) -> Vec<AtomicU32> {
    let all = (0..len).into_par_iter();
    all.map(|_| AtomicU32::new(u32::MAX)).collect()
}

/// The numbers that were written.
pub(crate) fn written(numbers: Vec<AtomicU32>) -> Vec<u32> {
    numbers.into_par_iter().map(AtomicU32::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In pools of several sizes, with more and with fewer items than blocks.
    fn everywhere(test: impl Fn(usize) + Send + Sync) {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            for count in [0, 1, 2, 7, 24, 96, 97, 1000] {
                pool.install(|| test(count));
            }
        }
    }

    #[test]
    fn results_are_in_the_order_of_indices() {
        everywhere(|count| {
            let squares: Vec<usize> = (0..count).map(|n| n * n).collect();
            assert_eq!(map(count, |n| n * n), squares);
            let odd: Vec<usize> = (0..count).filter(|n| n % 2 == 1).collect();
            assert_eq!(filter(count, |n| n % 2 == 1), odd);
            let repeated = gather(count, |n, all| all.extend(vec![n; n % 3]));
            let wanted = (0..count).flat_map(|n| vec![n; n % 3]);
            assert!(repeated.into_iter().eq(wanted));
            let sum = reduce(count, 0, |n| n, |a, b| a + b);
            assert_eq!(sum, (0..count).sum::<usize>());
            assert_eq!(written(unset(count)), vec![u32::MAX; count]);
        });
    }

    #[test]
    fn every_item_is_visited_once_with_its_number() {
        everywhere(|count| {
            let visits = unset(count);
            for_each(count, |n| _ = visits[n].fetch_add(1, Relaxed));
            assert_eq!(written(visits), vec![0; count]);
            let mut items = vec![0; count];
            each(&mut items, |n, item| *item += n);
            assert!(items.iter().copied().eq(0..count));
            chunks(&mut items, 4, |number, chunk| {
                assert_eq!(chunk.len(), 4.min(count - 4 * number));
                chunk.iter_mut().for_each(|item| *item -= 4 * number);
            });
            assert!(items.iter().copied().eq((0..count).map(|n| n % 4)));
            blocks(&mut items, 1, |first, block| {
                (first..).zip(block).for_each(|(n, item)| *item = n);
            });
            let lengths = [count / 3, 0, count - count / 3];
            parts(&mut items, lengths.into_iter(), |number, part| {
                assert_eq!(part.len(), lengths[number]);
                part.iter_mut().for_each(|item| *item += number);
            });
            let wanted = (0..count).map(|n| if n < count / 3 { n } else { n + 2 });
            assert!(items.into_iter().eq(wanted));
        });
    }

    #[test]
    fn the_first_is_found_and_the_first_error_returned() {
        everywhere(|count| {
            let from = |least: usize| move |n: usize| (n >= least).then_some(n);
            assert_eq!(find_first(count, from(5)), (count > 5).then_some(5));
            assert_eq!(all(count, |n| n < 24), count <= 24);
            let made = try_map(count, |n| from(7)(n).map_or(Ok(n), Err));
            assert_eq!(made.map_err(Some).err(), (count > 7).then_some(Some(7)));
            let mut items = vec![0; count];
            let fail = |n: usize| if n >= 3 { Err(n) } else { Ok(()) };
            let wanted = if count > 3 { Err(3) } else { Ok(()) };
            assert_eq!(try_each(&mut items, |n, _| fail(n)), wanted);
            let of_chunks = try_chunks(&mut items, 5, |n, _| fail(n));
            assert_eq!(of_chunks, if count > 15 { Err(3) } else { Ok(()) });
        });
    }
}
