//! Exact amounts of work.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul};
use serde::Serialize;

/// The data moved and the operations done by one application, from the schedule and the sizes, but for wavefronts never
/// from a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Work {
    /// Bytes read from memory, each counted once however often it is used.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
    /// Floating-point operations; a fused multiply-add is two.
    pub flops: u64,
    /// Bytes read from and written to shared memory.
    pub shared_bytes: u64,
    /// Use of the L1 data path; zero unless the kernels' texts were run to count it.
    pub wavefronts: Wavefronts,
}

/// Wavefronts of the L1 data path of a GPU, through which accesses to shared and to global memory pass: what a unit
/// serves in one clock, at most [`Wavefronts::BYTES`] of one access of a warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Wavefronts {
    /// Of shared memory, and of copies from global memory to it.
    pub shared: u64,
    /// Of loads from and stores to global memory.
    pub global: u64,
    /// Of atomic additions to global memory.
    pub reductions: u64,
}

impl Wavefronts {
    /// The most that one wavefront carries.
    pub const BYTES: u64 = 128;

    /// All of them.
    pub fn total(&self) -> u64 {
        self.shared + self.global + self.reductions
    }

    /// Those of `factor` times as much work, to the nearest.
    pub fn scaled(self, factor: f64) -> Self {
        let [shared, global, reductions] = [self.shared, self.global, self.reductions]
            .map(|count| (count as f64 * factor).round() as u64);
        Self {
            shared,
            global,
            reductions,
        }
    }

    /// Themselves, if they were counted: every kernel has some.
    pub fn counted(self) -> Option<Self> {
        (self.total() > 0).then_some(self)
    }
}

impl Work {
    /// Bytes read and written together.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }
}

impl Add for Wavefronts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            shared: self.shared + other.shared,
            global: self.global + other.global,
            reductions: self.reductions + other.reductions,
        }
    }
}

impl Add for Work {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_written: self.bytes_written + other.bytes_written,
            flops: self.flops + other.flops,
            shared_bytes: self.shared_bytes + other.shared_bytes,
            wavefronts: self.wavefronts + other.wavefronts,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The same work, repeated.
impl Mul<u64> for Work {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self {
            bytes_read: self.bytes_read * times,
            bytes_written: self.bytes_written * times,
            flops: self.flops * times,
            shared_bytes: self.shared_bytes * times,
            wavefronts: Wavefronts {
                shared: self.wavefronts.shared * times,
                global: self.wavefronts.global * times,
                reductions: self.wavefronts.reductions * times,
            },
        }
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}
