//! Large copies between host and device, by way of memory that the device reads and writes by itself.
//!
//! The driver copies from and to memory of the program with one thread, several times slower than the bus. Here all threads
//! fill one slab of locked memory, or empty it, while the device copies the other.

use super::Cuda;
use super::api::{Address, Object};
use crate::device::DeviceError;
use rayon::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice::from_raw_parts_mut;
use std::sync::{MutexGuard, TryLockError};

/// Bytes of a slab.
const SLAB: usize = 16 << 20;

/// Smaller copies are left to the driver.
const SMALLEST: usize = 2 * SLAB;

/// Bytes that one task copies.
const PIECE: usize = 1 << 20;

/// Two slabs in turns.
pub(super) struct Staging([Slab; 2]);

/// Locked memory, and the event after the last copy from or to it.
struct Slab {
    memory: *mut u8,
    event: Object,
}

// SAFETY: both may be used by any thread; nothing else knows them.
unsafe impl Send for Slab {}

impl Staging {
    /// Before the first copy.
    pub(super) const NONE: Self = Self([const { Slab::NONE }; 2]);

    /// Releases all; no copy is under way.
    pub(super) fn release(&mut self, cuda: &Cuda) {
        let Self(slabs) = std::mem::replace(self, Self::NONE);
        for Slab { memory, event } in slabs {
            // SAFETY: both are the driver's, or null, and nobody has them. Errors cannot be reported here.
            unsafe {
                if !event.is_null() {
                    (cuda.api.cuEventDestroy_v2)(event);
                }
                if !memory.is_null() {
                    (cuda.api.cuMemFreeHost)(memory.cast());
                }
            }
        }
    }
}

impl Slab {
    const NONE: Self = Self {
        memory: null_mut(),
        event: null_mut(),
    };

    /// Allocates it; the context is current.
    fn make(&mut self, cuda: &Cuda) -> Result<(), DeviceError> {
        let mut memory: *mut c_void = null_mut();
        // SAFETY: the context is current; there are no flags; the memory has as many bytes.
        unsafe {
            let code = (cuda.api.cuMemHostAlloc)(&raw mut memory, SLAB, 0);
            cuda.api.check("lock memory", code)?;
            self.memory = memory.cast();
            self.memory.write_bytes(0, SLAB);
            let code = (cuda.api.cuEventCreate)(&raw mut self.event, 0);
            cuda.api.check("make an event", code)
        }
    }

    /// Its first bytes, after the last copy. At most [`SLAB`].
    fn bytes(&mut self, cuda: &Cuda, len: usize) -> Result<&mut [u8], DeviceError> {
        // SAFETY: the event is alive.
        let code = unsafe { (cuda.api.cuEventSynchronize)(self.event) };
        cuda.api.check("finish its work", code)?;
        // SAFETY: the slab is as long and was zeroed, and no copy is under way.
        Ok(unsafe { from_raw_parts_mut(self.memory, len.min(SLAB)) })
    }

    /// Marks the end of what was issued.
    fn record(&self, cuda: &Cuda) -> Result<(), DeviceError> {
        // SAFETY: event and stream are alive.
        let code = unsafe { (cuda.api.cuEventRecord)(self.event, cuda.stream.pointer()) };
        cuda.api.check("note a time", code)
    }
}

impl Cuda {
    /// The slabs for a copy of so many bytes, if it is worth while, nobody else has them and there is memory for them. The context
    /// is current.
    pub(super) fn staging(&self, len: usize) -> Option<MutexGuard<'_, Staging>> {
        if len < SMALLEST {
            return None;
        }
        // A thread that waits for others may be given another copy.
        let mut staging = match self.staging.try_lock() {
            Ok(staging) => staging,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if staging.0[1].event.is_null() {
            let made = staging.0.iter_mut().try_for_each(|slab| slab.make(self));
            if made.is_err() {
                staging.release(self);
                return None;
            }
        }
        Some(staging)
    }

    /// Copies to device memory, which has as many bytes, and waits.
    pub(super) unsafe fn write_staged(
        &self,
        staging: &mut Staging,
        source: &[u8],
        target: Address,
    ) -> Result<(), DeviceError> {
        let chunks = (target..).step_by(SLAB).zip(source.chunks(SLAB));
        let mut chunks = chunks.enumerate();
        let written = chunks.try_for_each(|(number, (target, chunk))| {
            let slab = &mut staging.0[number % 2];
            let bytes = slab.bytes(self, chunk.len())?;
            self.copy_of_slab(bytes, chunk)?;
            // SAFETY: the caller vouches for the device's memory; the slab is kept until the event.
            unsafe { self.issue_write(bytes, target)? };
            slab.record(self)
        });
        self.finish(staging, written)
    }

    /// Copies from device memory, which has as many bytes, and waits.
    pub(super) unsafe fn read_staged(
        &self,
        staging: &mut Staging,
        source: Address,
        target: &mut [u8],
    ) -> Result<(), DeviceError> {
        let chunks = (source..).step_by(SLAB).zip(target.chunks_mut(SLAB));
        let mut last: Option<(usize, &mut [u8])> = None;
        let empty = |slabs: &mut [Slab; 2], last: Option<(usize, &mut [u8])>| match last {
            Some((number, chunk)) => {
                let bytes = slabs[number % 2].bytes(self, chunk.len())?;
                self.copy_of_slab(chunk, bytes)
            }
            None => Ok(()),
        };
        let mut chunks = chunks.enumerate();
        let read = chunks.try_for_each(|(number, (source, chunk))| {
            let slab = &mut staging.0[number % 2];
            // What the slab had was copied, so that this does not wait.
            let bytes = slab.bytes(self, chunk.len())?;
            // SAFETY: the caller vouches for the device's memory; the slab is kept until the event.
            unsafe { self.issue_read(source, bytes)? };
            slab.record(self)?;
            empty(&mut staging.0, last.replace((number, chunk)))
        });
        let read = read.and_then(|()| empty(&mut staging.0, last.take()));
        self.finish(staging, read)
    }

    /// Copies between a slab and the program's memory, with all threads. This one may do other work meanwhile, with another context.
    fn copy_of_slab(&self, target: &mut [u8], source: &[u8]) -> Result<(), DeviceError> {
        let pieces = target.par_chunks_mut(PIECE).zip(source.par_chunks(PIECE));
        pieces.for_each(|(target, source)| target.copy_from_slice(source));
        self.enter()
    }

    /// Waits for all copies. After an error the slabs are given up, since events may be of earlier ones.
    fn finish(
        &self,
        staging: &mut Staging,
        outcome: Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let outcome = outcome.and(self.wait());
        if outcome.is_err() {
            staging.release(self);
        }
        outcome
    }
}
