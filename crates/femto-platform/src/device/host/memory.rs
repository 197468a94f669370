//! Aligned, zeroed host memory, first touched by its user.
//!
//! Small buffers come from the global allocator, aligned to a cache line. Large ones on Linux are mapped
//! from the kernel, aligned to and advised for huge pages: pages appear, zeroed, on the memory node of the
//! thread that first writes them.

use super::super::{Buffer, DeviceError, DeviceKind, Element};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::num::NonZero;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Every buffer starts at a multiple of this: a cache line, and the widest vector register.
const ALIGNMENT: usize = 64;

/// Host memory: a slice that starts at a multiple of 64 bytes.
pub struct HostBuffer<T: Element> {
    start: NonNull<T>,
    len: usize,
    memory: Memory,
}

/// The owner of the bytes, which releases them.
enum Memory {
    /// None: no bytes.
    Empty,
    /// The global allocator.
    Heap(Layout),
    /// The kernel, which reclaims it when the mapping is dropped.
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapped { _mapping: mapping::Mapping },
}

impl<T: Element> HostBuffer<T> {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> Result<Self, DeviceError> {
        let error = DeviceError::OutOfMemory {
            device: DeviceKind::Host.name(),
            len,
            bytes_each: size_of::<T>(),
        };
        let layout = Layout::array::<T>(len).and_then(|layout| layout.align_to(ALIGNMENT));
        let Ok(layout) = layout else {
            return Err(error);
        };
        let (start, memory) = allocate(layout).ok_or(error)?;
        Ok(Self {
            start: start.cast(),
            len,
            memory,
        })
    }
}

/// Zeroed memory for `layout`, whose alignment is [`ALIGNMENT`]; `None` if there is not enough.
fn allocate(layout: Layout) -> Option<(NonNull<u8>, Memory)> {
    if layout.size() == 0 {
        let aligned = NonZero::new(layout.align())?;
        return Some((NonNull::without_provenance(aligned), Memory::Empty));
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    if layout.size() >= mapping::SMALLEST {
        let _mapping = mapping::Mapping::new(layout.size())?;
        return Some((_mapping.start(), Memory::Mapped { _mapping }));
    }
    // SAFETY: the size of the layout is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    Some((NonNull::new(start)?, Memory::Heap(layout)))
}

#[cfg(all(target_os = "linux", not(miri)))]
mod mapping {
    use crate::memory::ask_for_huge_pages;
    use std::ffi::c_void;
    use std::ptr::{NonNull, null_mut};

    const HUGE_PAGE: usize = 2 << 20;
    /// Below this, a separate mapping costs more than huge pages gain.
    pub(super) const SMALLEST: usize = 2 * HUGE_PAGE;

    /// Anonymous memory of this process, released when dropped.
    pub(super) struct Mapping {
        base: *mut c_void,
        bytes: usize,
    }

    impl Mapping {
        /// At least `bytes` zeroed bytes from [`Mapping::start`] on.
        pub(super) fn new(bytes: usize) -> Option<Self> {
            // Room to align the start; the slack is never touched and so never becomes memory.
            let bytes = bytes.checked_add(HUGE_PAGE)?;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new anonymous mapping at an address of the kernel's choice overlaps nothing.
            let base = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
            if base == libc::MAP_FAILED {
                return None;
            }
            ask_for_huge_pages(base.cast(), bytes);
            Some(Self { base, bytes })
        }

        /// The first huge-page boundary inside the mapping.
        pub(super) fn start(&self) -> NonNull<u8> {
            let base = self.base.cast::<u8>();
            let offset = (HUGE_PAGE - base.addr() % HUGE_PAGE) % HUGE_PAGE;
            // SAFETY: the offset is less than HUGE_PAGE, by which the mapping is larger than asked
            // for; a successful mapping does not start at zero.
            unsafe { NonNull::new_unchecked(base.add(offset)) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: this range was mapped by `new`, and its owner is being dropped.
            unsafe { libc::munmap(self.base, self.bytes) };
        }
    }
}

impl<T: Element> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        if let Memory::Heap(layout) = self.memory {
            // SAFETY: `start` came from the global allocator with this layout.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

// SAFETY: the buffer owns its memory as a `Vec<T>` does, and `T: Element` is plain data.
unsafe impl<T: Element> Send for HostBuffer<T> {}
// SAFETY: as above; a shared reference only reads.
unsafe impl<T: Element> Sync for HostBuffer<T> {}

impl<T: Element> Deref for HostBuffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and followed by `len` numbers that this buffer owns; they were
        // zeroed when allocated, and all zero bits are a value of every `Element`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for HostBuffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the exclusive borrow makes it the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> Buffer<T> for HostBuffer<T> {
    fn len(&self) -> usize {
        self.len
    }
}

impl<T: Element> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer[{}]", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers_are_aligned_zeros() {
        let large = if cfg!(miri) { 1000 } else { 3 << 20 };
        for len in [0, 1, 7, 1000, large] {
            let mut buffer = HostBuffer::<f64>::zeros(len).unwrap();
            assert_eq!(buffer.as_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(buffer.len(), len);
            assert!(buffer.iter().all(|&value| value == 0.0));
            buffer.fill(1.0);
            assert!(buffer.iter().all(|&value| value == 1.0));
        }
    }

    #[test]
    fn too_much_memory_is_an_error() {
        for len in [
            usize::MAX,
            usize::MAX / 8,
            isize::MAX as usize / 8 - 64,
            1 << 50,
        ] {
            let error = HostBuffer::<f64>::zeros(len).unwrap_err();
            let wanted = DeviceError::OutOfMemory {
                device: "host",
                len,
                bytes_each: 8,
            };
            assert_eq!(error, wanted);
        }
    }

    #[test]
    fn a_buffer_can_move_to_another_thread() {
        let mut buffer = HostBuffer::<u32>::zeros(100).unwrap();
        buffer[99] = 7;
        let last = std::thread::spawn(move || buffer[99]).join().unwrap();
        assert_eq!(last, 7);
    }
}
