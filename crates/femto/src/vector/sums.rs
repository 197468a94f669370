//! Sums that stay on the device, and factors computed from them there.

use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use std::fmt;

/// Slots for sums in device memory. A slot holds the last sum stored there and the one before; both are
/// zero at first.
///
/// Operations that take a factor from here or store a sum here need not wait for the host; [`Sums::read`]
/// does.
pub struct Sums<D: Device> {
    /// `[slot][last, before]`.
    values: D::Buffer<f64>,
    /// The values last read.
    seen: Vec<f64>,
}

/// A sum of [`Sums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// The last one stored in a slot.
    Last(usize),
    /// The one before.
    Before(usize),
}

/// A factor that an operation takes from [`Sums`]: numerator / denominator, but zero unless both are
/// positive.
///
/// So an iteration that breaks down (a curvature that is not positive, a NaN) stands still until the host
/// notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// The numerator.
    pub numerator: Sum,
    /// The denominator.
    pub denominator: Sum,
}

impl Sum {
    /// Its index in the memory of [`Sums`].
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Last(slot) => 2 * slot,
            Self::Before(slot) => 2 * slot + 1,
        }
    }
}

impl<D: Device> Sums<D> {
    /// This many slots of zeros.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, slots: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            values: device.zeros(2 * slots)?,
            seen: vec![0.0; 2 * slots],
        })
    }

    /// Sets all sums to zero.
    ///
    /// # Errors
    /// The device's error.
    pub fn clear(&mut self, device: &D) -> Result<(), DeviceError> {
        self.seen.fill(0.0);
        device.write(&self.seen, &mut self.values)
    }

    /// Waits for all sums and reads them, for [`Sums::get`].
    ///
    /// # Errors
    /// The device's error, which may come from earlier work.
    pub fn read(&mut self, device: &D) -> Result<(), DeviceError> {
        device.read(&self.values, &mut self.seen)
    }

    /// A sum as last read; NaN if there is no such slot.
    pub fn get(&self, sum: Sum) -> f64 {
        self.seen.get(sum.index()).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn values(&self) -> &D::Buffer<f64> {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut D::Buffer<f64> {
        &mut self.values
    }

    /// Fails unless there is such a slot.
    pub(super) fn check(&self, sum: Sum) -> Result<(), DeviceError> {
        let (found, index) = (self.values.len(), sum.index());
        if index < found {
            return Ok(());
        }
        check_len("the memory for sums", found, index + 1)
    }

    /// Fails unless there are such slots.
    pub(super) fn check_ratio(&self, ratio: Ratio) -> Result<(), DeviceError> {
        self.check(ratio.numerator)?;
        self.check(ratio.denominator)
    }
}

impl<D: Device> fmt::Debug for Sums<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sums")
            .field("slots", &(self.seen.len() / 2))
            .finish()
    }
}
