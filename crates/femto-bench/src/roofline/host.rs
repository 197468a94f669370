//! Measuring the ceilings of the host.

use super::Measure;
use femto_kernel::roofline::{Ceilings, probe};
use femto_kernel::scalar::{SimdLevel, Vectorizable};
use femto_platform::device::host::Host;
use femto_platform::device::{Device, DeviceError};
use femto_platform::stream;
use std::hint::black_box;
use std::time::Instant;

/// Number of timed passes over the buffers; the best counts.
const MEMORY_REPEATS: usize = 5;
/// Timed runs of the arithmetic, short enough that some are not interrupted.
const FMA_REPEATS: usize = 25;
/// Bytes of each of the two buffers, unless memory and caches call for another size.
const BUFFER_BYTES: u64 = 512 << 20;
/// Numbers per task in fills, reads and copies.
const PIECE: usize = 8192;
/// Multiply-adds per chain in one piece of arithmetic: about half a millisecond.
const FMA_ROUNDS: u64 = 300_000;
/// Pieces of arithmetic per thread, so that late threads cost little.
const FMA_PIECES: usize = 8;

impl Measure for Host {
    /// Measures with the host's number of threads, in about two seconds.
    ///
    /// Copy and write are the better of ordinary and non-temporal stores. The buffers are far larger than
    /// the caches, in huge pages if available, and first touched by the threads that use them.
    fn measure(&self) -> Result<Ceilings, DeviceError> {
        let len = buffer_len(self);
        let mut source = self.zeros::<f64>(len)?;
        let mut target = self.zeros::<f64>(len)?;
        Ok(self.enter(|| {
            let mut pieces: Vec<_> = source.chunks_mut(PIECE).collect();
            each(self, &mut pieces, &|piece| piece.fill(1.0));
            Ceilings {
                copy: copy_rate(self, &source, &mut target),
                read: read_rate(self, &source),
                write: write_rate(self, &mut target),
                fma_fp64: fma_rate::<f64>(self),
                fma_fp32: fma_rate::<f32>(self),
                shared: None,
            }
        }))
    }
}

/// Numbers in each of the two buffers: well beyond the largest cache, but at most an eighth of the
/// memory.
fn buffer_len(host: &Host) -> usize {
    let info = host.info();
    let largest_cache = info.caches.iter().map(|cache| cache.bytes).max();
    let wanted = BUFFER_BYTES.max(2 * largest_cache.unwrap_or(0));
    let allowed = info.memory_bytes.unwrap_or(8 * BUFFER_BYTES) / 8;
    usize::try_from(wanted.min(allowed) / 8).unwrap_or(usize::MAX)
}

fn copy_rate(host: &Host, source: &[f64], target: &mut [f64]) -> f64 {
    let bytes = 2 * size_of_val(source);
    let pieces = source.chunks(PIECE).zip(target.chunks_mut(PIECE));
    let mut pieces: Vec<_> = pieces.collect();
    let mut rate_of = |copy: fn(&[f64], &mut [f64])| {
        rate(MEMORY_REPEATS, bytes as f64, || {
            each(host, &mut pieces, &|(from, to)| copy(from, to));
        })
    };
    let ordinary = rate_of(|from, to| to.copy_from_slice(from));
    ordinary.max(rate_of(stream::copy))
}

fn read_rate(host: &Host, source: &[f64]) -> f64 {
    let level = SimdLevel::detect();
    let mut pieces: Vec<_> = source.chunks(PIECE).collect();
    rate(MEMORY_REPEATS, size_of_val(source) as f64, || {
        each(host, &mut pieces, &|piece| {
            black_box(probe::read(level, piece));
        });
    })
}

fn write_rate(host: &Host, target: &mut [f64]) -> f64 {
    let bytes = size_of_val(target);
    let mut pieces: Vec<_> = target.chunks_mut(PIECE).collect();
    let mut rate_of = |fill: fn(&mut [f64])| {
        rate(MEMORY_REPEATS, bytes as f64, || {
            each(host, &mut pieces, &|piece| fill(piece));
        })
    };
    let ordinary = rate_of(|piece| piece.fill(black_box(2.0)));
    ordinary.max(rate_of(|piece| stream::fill(piece, 3.0)))
}

fn fma_rate<T: Vectorizable>(host: &Host) -> f64 {
    let level = SimdLevel::detect();
    let mut pieces = vec![(); FMA_PIECES * host.threads()];
    let (flops_per_piece, _) = probe::fma::<T>(level, FMA_ROUNDS);
    let flops = flops_per_piece as f64 * pieces.len() as f64;
    rate(FMA_REPEATS, flops, || {
        each(host, &mut pieces, &|()| {
            black_box(probe::fma::<T>(level, FMA_ROUNDS));
        })
    })
}

/// Runs `work` for every piece, on the threads of the host.
fn each<P: Send>(host: &Host, pieces: &mut [P], work: &(impl Fn(&mut P) + Sync)) {
    match pieces {
        [] => (),
        [piece] => work(piece),
        _ => {
            let (left, right) = pieces.split_at_mut(pieces.len() / 2);
            host.join(|| each(host, left, work), || each(host, right, work));
        }
    }
}

/// `amount` per second of `work`: the best of some runs after an untimed one.
///
/// The best and not the median, because a ceiling is the capability of the machine, whatever else was
/// running meanwhile.
fn rate(repeats: usize, amount: f64, mut work: impl FnMut()) -> f64 {
    work();
    let runs = (0..repeats).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    amount / runs.fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_are_run() {
        let host = Host::with_threads(2).unwrap();
        for times in [0, 1, 2, 7, 80] {
            let mut counts = vec![0; times];
            each(&host, &mut counts, &|count| *count += 1);
            assert_eq!(counts, vec![1; times]);
        }
    }

    #[test]
    #[ignore = "takes seconds and a quiet machine; `cargo test -- --ignored --nocapture` prints it"]
    #[allow(clippy::print_stdout)]
    fn ceilings_of_this_machine() {
        for threads in [1, 2] {
            let start = Instant::now();
            let ceilings = Host::with_threads(threads).unwrap().measure().unwrap();
            println!("{threads}: {ceilings:.3?} in {:?}", start.elapsed());
            assert!(ceilings.are_valid());
        }
    }
}
