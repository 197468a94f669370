//! A pool of scratch memory.

use femto_platform::device::{DeviceInfo, DeviceKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reusable objects. Locked only while one is taken or put back, so threads that wait for others in between
/// cannot deadlock.
pub(crate) struct Pool<X> {
    free: Mutex<Vec<X>>,
}

impl<X> Default for Pool<X> {
    fn default() -> Self {
        Self {
            free: Mutex::default(),
        }
    }
}

impl<T: Copy + Default> Pool<Vec<T>> {
    /// Scratch memory of this length for each thread of the host; other devices need none.
    pub(crate) fn of_threads(info: &DeviceInfo, len: usize) -> Self {
        let pool = Self::default();
        if info.kind == DeviceKind::Host {
            (0..info.threads).for_each(|_| pool.put(vec![T::default(); len]));
        }
        pool
    }
}

impl<X> Pool<X> {
    pub(crate) fn take(&self) -> Option<X> {
        self.lock().pop()
    }

    pub(crate) fn put(&self, thing: X) {
        self.lock().push(thing);
    }

    /// The list is consistent between any two of its operations, so a panic elsewhere cannot corrupt it.
    fn lock(&self) -> MutexGuard<'_, Vec<X>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
