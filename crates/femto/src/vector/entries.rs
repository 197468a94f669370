//! Lists of vector entries on a device.

use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use rayon::slice::ParallelSliceMut;
use std::fmt;

/// A list of vector entries on a device, such as the constrained ones, each entry once.
pub struct Entries<D: Device> {
    pub(super) list: D::Buffer<u32>,
    /// Each entry with its position in the list, sorted by entry.
    pub(super) ascending: Vec<[u32; 2]>,
    /// The minimum length of a vector that contains them all.
    end: usize,
}

impl<D: Device> Entries<D> {
    /// Uploads the list in order, dropping repeated entries.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, entries: &[u32]) -> Result<Self, DeviceError> {
        let by_entry = |list: &[u32]| {
            let pairs = list.iter().zip(0..).map(|(&entry, place)| [entry, place]);
            let mut pairs: Vec<[u32; 2]> = pairs.collect();
            pairs.par_sort_unstable();
            pairs.dedup_by_key(|pair| pair[0]);
            pairs
        };
        let (mut list, mut ascending) = (entries.to_vec(), by_entry(entries));
        if ascending.len() < list.len() {
            ascending.par_sort_unstable_by_key(|&[_, place]| place);
            list = ascending.iter().map(|&[entry, _]| entry).collect();
            ascending = by_entry(&list);
        }
        if list.is_empty() {
            // Never read, but buffers cannot be empty.
            list.push(0);
        }
        Ok(Self {
            list: device.upload(&list)?,
            end: ascending.last().map_or(0, |last| last[0] as usize + 1),
            ascending,
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.ascending.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ascending.is_empty()
    }

    /// Fails if a vector of `len` entries, called `what`, is too short for these.
    pub(crate) fn check(&self, what: &'static str, len: usize) -> Result<(), DeviceError> {
        if self.end <= len {
            return Ok(());
        }
        Err(DeviceError::LengthMismatch {
            what,
            found: len,
            expected: self.end,
        })
    }

    /// As [`Self::check`]; also fails unless a vector of the listed entries has their number.
    pub(super) fn check_both(
        &self,
        (what, len): (&'static str, usize),
        (listed, count): (&'static str, usize),
    ) -> Result<(), DeviceError> {
        self.check(what, len)?;
        check_len(listed, count, self.len())
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        self.list.len() * size_of::<u32>()
    }
}

impl<D: Device> fmt::Debug for Entries<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries")
            .field("count", &self.len())
            .finish_non_exhaustive()
    }
}
