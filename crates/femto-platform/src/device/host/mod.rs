//! The processor and its memory.

mod memory;

pub use memory::HostBuffer;

use super::{Buffer, Device, DeviceError, DeviceInfo, DeviceKind, Element, check_len};
use crate::cpu::PROCESSOR;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error;
use std::sync::Arc;

/// The processor with a fixed number of threads.
///
/// Clones share the threads. With one thread there is no pool: everything runs on the caller's thread, so
/// that processes with many threads of their own may use one host in each.
#[derive(Debug, Clone)]
pub struct Host {
    pool: Option<Arc<ThreadPool>>,
}

impl Host {
    /// The largest number of threads that [`Host::with_threads`] accepts.
    pub const MAX_THREADS: usize = 4096;

    /// One thread per core that this process may use.
    ///
    /// # Errors
    /// [`DeviceError::ThreadStart`].
    pub fn new() -> Result<Self, DeviceError> {
        Self::with_threads(PROCESSOR.cores.min(Self::MAX_THREADS))
    }

    /// A host with `threads` threads.
    ///
    /// They run everything inside [`Device::enter`]. With one thread there is no pool to enter: internally
    /// parallel loops, such as those that number a space or read a geometry, then run on rayon's global
    /// pool, as they do outside `enter` with any number of threads.
    /// [`start_global_threads`] limits that one.
    ///
    /// # Errors
    /// [`DeviceError::ThreadCount`] for zero or more than [`Host::MAX_THREADS`],
    /// [`DeviceError::ThreadStart`] if the operating system cannot start them.
    pub fn with_threads(threads: usize) -> Result<Self, DeviceError> {
        match threads {
            1 => Ok(Self { pool: None }),
            2..=Self::MAX_THREADS => {
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .thread_name(|index| format!("femto-{index}"))
                    .build()
                    .map_err(|error| DeviceError::ThreadStart {
                        asked: threads,
                        reason: error.to_string(),
                    })?;
                Ok(Self {
                    pool: Some(Arc::new(pool)),
                })
            }
            asked => Err(DeviceError::ThreadCount {
                asked,
                most: Self::MAX_THREADS,
            }),
        }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs both, at the same time where a thread is free; with one thread, `a` and then `b`.
    ///
    /// Inside [`Device::enter`] this allocates nothing.
    #[inline]
    pub fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        let Some(pool) = &self.pool else {
            return (a(), b());
        };
        let mut of_b = None;
        let of_a = by_reference(a, |a| {
            of_b = Some(by_reference(b, |b| {
                pool.join(a, b);
            }));
        });
        (of_a, of_b.expect("both have run"))
    }

    /// Copies a slice to one of the same length, by all threads if it is long: the first touch of a page takes longer
    /// than filling it.
    fn copy<T: Element>(&self, source: &[T], target: &mut [T]) {
        if size_of_val(source) <= COPIED_BY_ONE {
            return target.copy_from_slice(source);
        }
        let middle = source.len() / 2;
        let (from, to) = (source.split_at(middle), target.split_at_mut(middle));
        self.join(|| self.copy(from.0, to.0), || self.copy(from.1, to.1));
    }
}

/// Gives a function to `run`, which must call it, by reference: what rayon does with it is then compiled once, not for each
/// function.
fn by_reference<R: Send>(
    function: impl FnOnce() -> R + Send,
    run: impl FnOnce(&mut (dyn FnMut() + Send)),
) -> R {
    let (mut function, mut result) = (Some(function), None);
    run(&mut || result = function.take().map(|function| function()));
    result.expect("the function has run")
}

/// Bytes that one thread copies: a few huge pages.
const COPIED_BY_ONE: usize = 8 << 20;

/// Starts the threads for loops outside of every [`Host`], which are those of rayon's global pool: this
/// many, or one per core. A program should call this once, before anything else; libraries should not. A
/// pool that is already running is kept.
///
/// # Errors
/// [`DeviceError::ThreadStart`] if the operating system cannot start them.
pub fn start_global_threads(threads: Option<usize>) -> Result<(), DeviceError> {
    // Zero stands for one per core.
    let asked = threads.map_or(0, |threads| threads.clamp(1, Host::MAX_THREADS));
    match ThreadPoolBuilder::new().num_threads(asked).build_global() {
        Err(error) if error.source().is_some() => Err(DeviceError::ThreadStart {
            asked: asked.max(1),
            reason: error.to_string(),
        }),
        _ => Ok(()),
    }
}

impl Device for Host {
    type Buffer<T: Element> = HostBuffer<T>;

    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Host,
            index: 0,
            name: PROCESSOR.name.clone(),
            architecture: None,
            driver: None,
            threads: self.threads(),
            simd: PROCESSOR.simd,
            memory_bytes: PROCESSOR.memory_bytes,
            caches: PROCESSOR.caches.clone(),
            executes: true,
        }
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<HostBuffer<T>, DeviceError> {
        HostBuffer::zeros(len)
    }

    fn upload<T: Element>(&self, source: &[T]) -> Result<HostBuffer<T>, DeviceError> {
        let mut target = HostBuffer::zeros(source.len())?;
        self.copy(source, &mut target);
        Ok(target)
    }

    fn write<T: Element>(
        &self,
        source: &[T],
        target: &mut HostBuffer<T>,
    ) -> Result<(), DeviceError> {
        check_len("the source of a write", source.len(), Buffer::len(target))?;
        self.copy(source, target);
        Ok(())
    }

    fn read<T: Element>(
        &self,
        source: &HostBuffer<T>,
        target: &mut [T],
    ) -> Result<(), DeviceError> {
        check_len("the target of a read", target.len(), Buffer::len(source))?;
        self.copy(source, target);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn enter<R: Send>(&self, body: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => by_reference(body, |body| pool.install(body)),
            None => body(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_thread_counts_are_errors() {
        for asked in [0, Host::MAX_THREADS + 1, usize::MAX] {
            let error = Host::with_threads(asked).unwrap_err();
            assert_eq!(error, DeviceError::ThreadCount { asked, most: 4096 });
        }
    }

    #[test]
    fn one_thread_stays_on_the_callers() {
        let host = Host::with_threads(1).unwrap();
        let here = std::thread::current().id();
        assert_eq!(host.enter(|| std::thread::current().id()), here);
        let (a, b) = host.join(
            || std::thread::current().id(),
            || std::thread::current().id(),
        );
        assert_eq!((a, b), (here, here));
    }

    #[test]
    fn entering_is_entering_the_pool() {
        let host = Host::with_threads(3).unwrap();
        assert_eq!(host.threads(), 3);
        assert_eq!(host.enter(rayon::current_num_threads), 3);
        let name = host.enter(|| std::thread::current().name().map(str::to_owned));
        assert!(name.unwrap().starts_with("femto-"));
        assert_eq!(host.join(|| 1, || 2), (1, 2));
    }
}
