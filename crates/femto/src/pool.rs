//! A pool of scratch memory.

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
