//! Lists of entries of vectors, on a device.

use femto_platform::device::{Buffer, Device, DeviceError};
use std::fmt;

/// Some entries of vectors, such as the constrained ones: a list on a device, ascending, each entry once.
pub struct Entries<D: Device> {
    pub(super) list: D::Buffer<u32>,
    count: usize,
    /// The least length of a vector that has them all.
    end: usize,
}

impl<D: Device> Entries<D> {
    /// Uploads a list, in any order.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, entries: &[u32]) -> Result<Self, DeviceError> {
        let mut list = entries.to_vec();
        list.sort_unstable();
        list.dedup();
        let (count, end) = (list.len(), list.last().map_or(0, |&last| last as usize + 1));
        if list.is_empty() {
            // No one reads it, but no buffer is empty.
            list.push(0);
        }
        Ok(Self {
            list: device.upload(&list)?,
            count,
            end,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Fails unless a vector of `len` entries has these.
    pub(super) fn check(&self, len: usize) -> Result<(), DeviceError> {
        if self.end <= len {
            return Ok(());
        }
        Err(DeviceError::LengthMismatch {
            what: "y of set_entries",
            found: len,
            expected: self.end,
        })
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        self.list.len() * size_of::<u32>()
    }
}

impl<D: Device> fmt::Debug for Entries<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}
