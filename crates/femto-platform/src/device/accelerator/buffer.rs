//! Memory of an accelerator.

use super::Accelerator;
use super::driver::{Resource, ResourceKind};
use crate::device::{Buffer, Device, DeviceError, DeviceInfo, Element, check_len};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// `len` numbers in the memory of an accelerator.
pub struct AcceleratorBuffer<T> {
    pub(super) memory: Arc<Resource>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> for AcceleratorBuffer<T> {
    fn len(&self) -> usize {
        self.len
    }
}

impl<T> fmt::Debug for AcceleratorBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AcceleratorBuffer[{}]", self.len)
    }
}

/// The bytes of numbers.
fn bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: an `Element` is plain data without padding, and the length is that of the slice.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of numbers, to be overwritten.
fn bytes_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and every bit pattern is an `Element`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

impl Accelerator {
    /// Uninitialised memory; callers must overwrite it before it can be read.
    fn allocate<T: Element>(&self, len: usize) -> Result<AcceleratorBuffer<T>, DeviceError> {
        let bytes_each = size_of::<T>();
        let possible = len.checked_mul(bytes_each);
        if possible.is_none_or(|bytes| bytes > isize::MAX as usize) {
            let device = self.name();
            return Err(DeviceError::OutOfMemory {
                device,
                len,
                bytes_each,
            });
        }
        self.refuse_while_capturing("allocate memory while work is captured")?;
        let handle = self.driver.allocate(len, bytes_each)?;
        let memory = Resource::new(&self.driver, ResourceKind::Memory, handle);
        Ok(AcceleratorBuffer {
            memory: Arc::new(memory),
            len,
            element: PhantomData,
        })
    }

    /// Copies all of `source` into `target`, on the device.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`], [`DeviceError::OtherDevice`], or a driver error.
    pub fn copy<T: Element>(
        &self,
        source: &AcceleratorBuffer<T>,
        target: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        check_len("the source of a copy", source.len, target.len)?;
        source.memory.check(&self.driver, "the source of a copy")?;
        target.memory.check(&self.driver, "the target of a copy")?;
        let _issuing = self.keep([&source.memory, &target.memory])?;
        if source.len == 0 {
            return Ok(());
        }
        let bytes = source.len * size_of::<T>();
        // SAFETY: both belong to this driver, are alive and hold that many bytes.
        unsafe {
            let (source, target) = (source.memory.handle(), target.memory.handle());
            self.driver.copy(source, target, bytes)
        }
    }

    /// Sets the numbers of a range to zero.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] for a range out of bounds, [`DeviceError::OtherDevice`], or a driver
    /// error.
    pub fn fill_zero<T: Element>(
        &self,
        target: &mut AcceleratorBuffer<T>,
        range: Range<usize>,
    ) -> Result<(), DeviceError> {
        if range.end > target.len {
            check_len("the target of a fill", target.len, range.end)?;
        }
        target.memory.check(&self.driver, "the target of a fill")?;
        let _issuing = self.keep([&target.memory])?;
        if range.is_empty() {
            return Ok(());
        }
        let (offset, bytes) = (range.start * size_of::<T>(), range.len() * size_of::<T>());
        // SAFETY: the memory belongs to this driver, is alive and holds the range.
        unsafe { self.driver.fill_zero(target.memory.handle(), offset, bytes) }
    }
}

impl Device for Accelerator {
    type Buffer<T: Element> = AcceleratorBuffer<T>;

    fn info(&self) -> DeviceInfo {
        self.driver.info()
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<AcceleratorBuffer<T>, DeviceError> {
        let mut buffer = self.allocate(len)?;
        self.fill_zero(&mut buffer, 0..len)?;
        Ok(buffer)
    }

    fn upload<T: Element>(&self, source: &[T]) -> Result<AcceleratorBuffer<T>, DeviceError> {
        let mut buffer = self.allocate(source.len())?;
        self.write(source, &mut buffer)?;
        Ok(buffer)
    }

    fn write<T: Element>(
        &self,
        source: &[T],
        target: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        check_len("the source of a write", source.len(), target.len)?;
        target.memory.check(&self.driver, "the target of a write")?;
        self.refuse_while_capturing("write memory while work is captured")?;
        if source.is_empty() {
            return Ok(());
        }
        // SAFETY: the memory belongs to this driver, is alive and as long as the source.
        unsafe { self.driver.write(bytes(source), target.memory.handle()) }
    }

    fn read<T: Element>(
        &self,
        source: &AcceleratorBuffer<T>,
        target: &mut [T],
    ) -> Result<(), DeviceError> {
        check_len("the target of a read", target.len(), source.len)?;
        source.memory.check(&self.driver, "the source of a read")?;
        self.refuse_while_capturing("read memory while work is captured")?;
        if target.is_empty() {
            return Ok(());
        }
        // SAFETY: the memory belongs to this driver, is alive and as long as the target.
        unsafe { self.driver.read(source.memory.handle(), bytes_mut(target)) }
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.refuse_while_capturing("be waited for while work is captured")?;
        self.driver.synchronize()
    }
}
