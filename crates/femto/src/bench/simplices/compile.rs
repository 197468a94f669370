//! Compiling many candidates at the same time.

use super::{Candidate, SimplexCase};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, KernelText};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Compiles the text of every candidate that is legal, on so many threads, into the cache on disk, where
/// [`super::SimplexData::measure`] finds it.
///
/// Says nothing of failures: whoever measures the candidate meets them again.
pub fn compile_all(device: &Accelerator, all: &[(SimplexCase, Candidate)], threads: usize) {
    let cache = KernelCache::user().unwrap_or_default();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((case, candidate)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(kernel) = case.kernel(candidate, device.features()) {
                let text = KernelText::new(&kernel.name, &kernel.text);
                let _ = device.compile(&text, &cache);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(work);
        }
    });
}
