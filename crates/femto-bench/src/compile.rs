//! Concurrent compilation of kernel texts.

use femto::accelerator::Counting;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::{Accelerator, KernelText, Module};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

/// Compiles a text, or takes it from the user's cache on disk.
pub(crate) fn compile(device: &Accelerator, name: &str, text: &str) -> Result<Module, DeviceError> {
    let cache = device.user_cache();
    device.compile(&KernelText::new(name, text), &cache)
}

/// Compiles a text, and its copy that counts accesses, into the caches on disk. Failures are left to those who use them.
pub(crate) fn prepare(device: &Accelerator, name: &str, text: &str) {
    _ = compile(device, name, text);
    _ = Counting::new(device, name, text);
}

/// Calls `work` for all items, on one thread per core. The results are in the order of the items.
pub fn in_parallel<J: Sync, R: Send + Sync>(items: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results: Vec<_> = items.iter().map(|item| (item, OnceLock::new())).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some((item, result)) = results.get(next.fetch_add(1, Ordering::Relaxed)) {
            _ = result.set(work(item));
        }
    };
    let threads = available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(worker);
        }
    });
    let results = results.into_iter();
    results.filter_map(|(_, it)| it.into_inner()).collect()
}
