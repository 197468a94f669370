//! Banded systems along lines of an L-vector's entries on devices.

use crate::Number;
use femto_kernel::roofline::Work;
use femto_kernel::vector::line_solve::{LineFactors, work};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use std::fmt;

/// Factors of systems along lines: see [`femto_kernel::vector::line_solve`].
pub struct LineSolve<T: Number, D: Device> {
    pub(super) band: usize,
    /// Length of the vectors that it is applied to.
    size: usize,
    pub(super) offsets: D::Buffer<u32>,
    pub(super) entries: D::Buffer<u32>,
    pub(super) factors: D::Buffer<T>,
}

impl<T: Number, D: Device> LineSolve<T, D> {
    /// Uploads lines of entries of vectors of this size.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or arrays whose lengths do not fit together.
    pub fn new(device: &D, lines: LineFactors<'_, T>, size: usize) -> Result<Self, DeviceError> {
        let rows = lines.offsets.last().map_or(0, |&end| end as usize);
        check_len("the entries of lines", lines.entries.len(), rows)?;
        let factors = rows * (1 + lines.band);
        check_len("the factors of lines", lines.factors.len(), factors)?;
        Ok(Self {
            band: lines.band,
            size,
            offsets: device.upload(lines.offsets)?,
            entries: device.upload(lines.entries)?,
            factors: device.upload(lines.factors)?,
        })
    }

    /// Number of slices.
    pub(super) fn slices(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Rows of all lines, those beyond their ends included: the length of e.
    pub fn rows(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        let places = self.offsets.len() + self.entries.len();
        places * size_of::<u32>() + self.factors.len() * T::BYTES
    }

    pub(super) fn work(&self) -> Work {
        work::<T>(self.band, self.rows())
    }

    /// Fails unless the vectors have their lengths.
    pub(super) fn check(&self, x: &D::Buffer<T>, e: &D::Buffer<T>) -> Result<(), DeviceError> {
        check_len("x of solve_lines", x.len(), self.size)?;
        check_len("e of solve_lines", e.len(), self.rows())
    }
}

impl<T: Number, D: Device> fmt::Debug for LineSolve<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineSolve")
            .field("band", &self.band)
            .field("rows", &self.rows())
            .finish_non_exhaustive()
    }
}
