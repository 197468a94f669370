//! Devices: memory for vectors, and threads or kernels that work on it.
//!
//! | kind     | description                                                 |
//! |----------|-------------------------------------------------------------|
//! | `host`   | the processor and its memory; the default, always present   |
//! | `cuda`   | NVIDIA's GPUs through their own driver, loaded at run time  |
//! | `opencl` | any device with an OpenCL 1.2 driver, loaded at run time    |
//! | `null`   | stores and executes nothing, only counts the work           |
//!
//! `cuda` and `opencl` compile kernel texts at run time and are one type, [`Accelerator`].
//!
//! A new device is one folder here, one variant of [`DeviceKind`] and one line that instantiates
//! the shared suite, [`device_conformance!`](crate::device_conformance).

pub mod accelerator;
#[doc(hidden)]
pub mod conformance;
pub mod cuda;
mod error;
pub mod host;
mod info;
mod library;
pub mod null;
mod opencl;

pub use accelerator::Accelerator;
pub use error::{DeviceError, KernelError};
pub use info::{Cache, DeviceId, DeviceInfo, DeviceKind, Listing, Missing, list, parse};

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for i32 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// A plain number that device memory can hold: `f32`, `f64`, `i32`, `u16`, `u32`.
///
/// Sealed: every bit pattern is a value and all zero bits are the number zero, as required by the
/// allocators of this crate.
pub trait Element:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
}

impl Element for f32 {}
impl Element for f64 {}
impl Element for i32 {}
impl Element for u16 {}
impl Element for u32 {}

/// Memory of a device: `len` numbers of one type.
pub trait Buffer<T>: Debug + Send + Sync {
    /// The number of its entries.
    fn len(&self) -> usize;

    /// Whether it has no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A device: memory that can be allocated, written and read, and threads to work on it.
pub trait Device: Debug + Send + Sync + 'static {
    /// The memory of this device.
    type Buffer<T: Element>: Buffer<T>;

    /// A description of the device, for reports and cache keys.
    fn info(&self) -> DeviceInfo;

    /// `len` zeros.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn zeros<T: Element>(&self, len: usize) -> Result<Self::Buffer<T>, DeviceError>;

    /// A new buffer with the values of `source`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn upload<T: Element>(&self, source: &[T]) -> Result<Self::Buffer<T>, DeviceError>;

    /// Overwrites all of `target` with `source`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`].
    fn write<T: Element>(
        &self,
        source: &[T],
        target: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// Copies all of `source` into `target`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`].
    fn read<T: Element>(
        &self,
        source: &Self::Buffer<T>,
        target: &mut [T],
    ) -> Result<(), DeviceError>;

    /// Waits until all work issued so far is done.
    ///
    /// # Errors
    /// Those of any work since the last call, for devices that report late.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Runs `body` inside the device's own threads.
    ///
    /// Loops over many small pieces of work should enter once, to save a thread switch for every piece.
    fn enter<R: Send>(&self, body: impl FnOnce() -> R + Send) -> R
    where
        Self: Sized,
    {
        body()
    }
}

/// Fails unless `found == expected`; `what` names the array whose length was `found`.
///
/// # Errors
/// [`DeviceError::LengthMismatch`].
pub fn check_len(what: &'static str, found: usize, expected: usize) -> Result<(), DeviceError> {
    if found == expected {
        Ok(())
    } else {
        Err(DeviceError::LengthMismatch {
            what,
            found,
            expected,
        })
    }
}
