//! A device that executes nothing and counts everything, for exact assertions on work.

use super::{Buffer, Device, DeviceError, DeviceInfo, DeviceKind, Element, check_len};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One piece of work that a real device would have started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Name of the work.
    pub name: String,
    /// Bytes read from memory.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
    /// Floating-point operations, a fused multiply-add being two.
    pub flops: u64,
}

/// Counts of the requests to a [`Null`] device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Buffers allocated.
    pub allocations: u64,
    /// Bytes of all buffers allocated.
    pub allocated_bytes: u64,
    /// Uploads and writes.
    pub writes: u64,
    /// Bytes moved to the device.
    pub written_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Bytes moved from the device.
    pub read_bytes: u64,
    /// Calls of [`Device::synchronize`].
    pub synchronizations: u64,
}

/// The device that only counts. Clones share their counts.
///
/// Reading a buffer gives zeros.
#[derive(Debug, Clone, Default)]
pub struct Null {
    ledger: Arc<Mutex<Ledger>>,
}

#[derive(Debug, Default)]
struct Ledger {
    counts: Counts,
    launches: Vec<Launch>,
}

/// A length without memory behind it.
#[derive(Debug)]
pub struct NullBuffer<T> {
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> for NullBuffer<T> {
    fn len(&self) -> usize {
        self.len
    }
}

impl Null {
    /// A device with zero counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one piece of work.
    pub fn record(&self, launch: Launch) {
        self.ledger().launches.push(launch);
    }

    /// The work counted so far, in order.
    pub fn launches(&self) -> Vec<Launch> {
        self.ledger().launches.clone()
    }

    /// The counts so far, apart from launches.
    pub fn counts(&self) -> Counts {
        self.ledger().counts
    }

    /// Forgets launches and counts.
    pub fn reset(&self) {
        *self.ledger() = Ledger::default();
    }

    /// The ledger is valid after every statement, so a panic elsewhere cannot corrupt it.
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of `len` numbers; no real buffer can exceed `isize::MAX`.
fn bytes_of<T: Element>(len: usize) -> Result<u64, DeviceError> {
    let bytes = len.checked_mul(size_of::<T>());
    bytes
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .map(|bytes| bytes as u64)
        .ok_or(DeviceError::OutOfMemory {
            device: DeviceKind::Null.name(),
            len,
            bytes_each: size_of::<T>(),
        })
}

impl Device for Null {
    type Buffer<T: Element> = NullBuffer<T>;

    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Null,
            index: 0,
            name: "counts work, executes nothing".to_owned(),
            architecture: None,
            driver: None,
            threads: 1,
            simd: "scalar",
            memory_bytes: None,
            caches: Vec::new(),
            executes: false,
        }
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<NullBuffer<T>, DeviceError> {
        let bytes = bytes_of::<T>(len)?;
        let counts = &mut self.ledger().counts;
        counts.allocations += 1;
        counts.allocated_bytes += bytes;
        Ok(NullBuffer {
            len,
            element: PhantomData,
        })
    }

    fn upload<T: Element>(&self, source: &[T]) -> Result<NullBuffer<T>, DeviceError> {
        let mut target = self.zeros(source.len())?;
        self.write(source, &mut target)?;
        Ok(target)
    }

    fn write<T: Element>(
        &self,
        source: &[T],
        target: &mut NullBuffer<T>,
    ) -> Result<(), DeviceError> {
        check_len("the source of a write", source.len(), target.len)?;
        let counts = &mut self.ledger().counts;
        counts.writes += 1;
        counts.written_bytes += size_of_val(source) as u64;
        Ok(())
    }

    fn read<T: Element>(
        &self,
        source: &NullBuffer<T>,
        target: &mut [T],
    ) -> Result<(), DeviceError> {
        check_len("the target of a read", target.len(), source.len)?;
        target.fill(T::default());
        let counts = &mut self.ledger().counts;
        counts.reads += 1;
        counts.read_bytes += size_of_val(target) as u64;
        Ok(())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.ledger().counts.synchronizations += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_and_shared_by_clones() {
        let null = Null::new();
        let same = null.clone();
        let mut buffer = null.zeros::<f64>(10).unwrap();
        null.write(&[1.0; 10], &mut buffer).unwrap();
        let _other = null.upload(&[1_u32; 3]).unwrap();
        null.read(&buffer, &mut [2.0; 10]).unwrap();
        null.synchronize().unwrap();
        let wanted = Counts {
            allocations: 2,
            allocated_bytes: 92,
            writes: 2,
            written_bytes: 92,
            reads: 1,
            read_bytes: 80,
            synchronizations: 1,
        };
        assert_eq!(same.counts(), wanted);
    }

    #[test]
    fn launches_are_kept_in_order() {
        let null = Null::new();
        for name in ["gather", "apply"] {
            null.record(Launch {
                name: name.to_owned(),
                bytes_read: 8,
                bytes_written: 4,
                flops: 2,
            });
        }
        let names: Vec<_> = null.launches().into_iter().map(|l| l.name).collect();
        assert_eq!(names, ["gather", "apply"]);
        null.reset();
        assert!(null.launches().is_empty());
        assert_eq!(null.counts(), Counts::default());
    }
}
