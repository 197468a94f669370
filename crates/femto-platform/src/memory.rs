//! The memory of this process.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, asking for huge pages for large blocks: the first touch of a small page takes some
/// microseconds on a virtual machine, more than filling it. For programs that set up large problems:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: femto_platform::memory::HugePages = femto_platform::memory::HugePages;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HugePages;

/// Smaller blocks have hardly a whole huge page inside.
const SMALLEST: usize = 4 << 20;

/// Asks for huge pages for a large block of this process, as far as the system has them.
pub(crate) fn ask_for_huge_pages(block: *mut u8, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= SMALLEST && !block.is_null() {
        const PAGE: usize = 4096;
        let offset = block.addr().wrapping_neg() % PAGE;
        let (start, bytes) = (block.wrapping_add(offset).cast(), bytes - offset);
        // SAFETY: this advice changes no contents. If the kernel refuses, the pages are small.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (block, bytes);
}

// SAFETY: every block is the system allocator's, unchanged.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system allocator asks for.
        let block = unsafe { System.alloc(layout) };
        ask_for_huge_pages(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { System.alloc_zeroed(layout) };
        ask_for_huge_pages(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { System.realloc(block, layout, size) };
        ask_for_huge_pages(block, size);
        block
    }
}

/// Peak memory of processes so far, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakMemory {
    /// This process.
    pub own: u64,
    /// The largest child process, such as a compiler, that has ended; 0 if there is none.
    pub children: u64,
}

/// Peak memory of this process and its children so far, if the system reports it.
#[cfg(target_os = "linux")]
pub fn peak() -> Option<PeakMemory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    // SAFETY: all zeros are a value of the structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) == 0).then_some(usage)
    };
    let children = usage.map_or(0, |usage| u64::try_from(usage.ru_maxrss).unwrap_or(0));
    Some(PeakMemory {
        own: kibibytes * 1024,
        children: children * 1024,
    })
}

/// Peak memory of this process and its children so far, if the system reports it.
#[cfg(not(target_os = "linux"))]
pub fn peak() -> Option<PeakMemory> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_count_when_they_have_ended() {
        let before = peak().unwrap();
        assert!(before.own > 1 << 20);
        // A shell that holds 64 MB in a variable.
        let hold = "x=$(head -c 64000000 /dev/zero | tr '\\0' x); echo ${#x}";
        let output = Command::new("sh").args(["-c", hold]).output().unwrap();
        assert_eq!(output.stdout, b"64000000\n");
        let after = peak().unwrap();
        assert!(after.children > 60 << 20, "{after:?}");
    }
}
