//! Compiling many steps at the same time.

use super::kernel;
use femto_kernel::family::tensor_hex::ladder::Step;
use femto_kernel::roofline::Precision;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, KernelText};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Compiles the text of every step, degree and precision that is legal, on so many threads, into the
/// cache on disk, where [`super::LadderData::measure`] finds it.
///
/// Says nothing of failures: whoever measures the step meets them again.
pub fn compile_all(device: &Accelerator, all: &[(Step, usize, Precision)], threads: usize) {
    let cache = KernelCache::user().unwrap_or_default();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((step, degree, precision)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(kernel) = kernel(step, *degree, *precision, device.features()) {
                let name = step.to_string();
                let _ = device.compile(&KernelText::new(&name, &kernel.text), &cache);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(work);
        }
    });
}
