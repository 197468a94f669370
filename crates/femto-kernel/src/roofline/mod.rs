//! Bounds: exact work against the ceilings of a device.
//!
//! ```
//! use femto_kernel::roofline::{Ceilings, Limit, Work, bound};
//! use femto_kernel::scalar::Precision;
//!
//! let ceilings = Ceilings { copy: 20e9, read: 15e9, write: 12e9, fma_fp64: 1e11, fma_fp32: 2e11, shared: None };
//! let work = Work { bytes_read: 3_000, bytes_written: 1_000, flops: 500, ..Work::default() };
//! let bound = bound(&work, &ceilings, Precision::Fp64);
//! assert_eq!(bound.limit, Limit::Memory);
//! assert_eq!(bound.seconds, 2_000.0 / 20e9 + 2_000.0 / 15e9);
//! assert_eq!(bound.fraction(2.0 * bound.seconds), 0.5);
//! ```

mod ceilings;
pub mod probe;
pub mod probe_text;
mod work;

pub use ceilings::Ceilings;
pub use work::{Wavefronts, Work};

use crate::scalar::Precision;
use core::fmt;

/// The resource that limits the speed of some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Bytes to and from memory.
    Memory,
    /// Arithmetic.
    Flops,
    /// Bytes to and from shared memory, where wavefronts are not counted.
    Shared,
    /// Wavefronts of the L1 data path.
    Wavefronts,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Flops => "arithmetic",
            Self::Shared => "shared memory",
            Self::Wavefronts => "L1 wavefronts",
        })
    }
}

/// The shortest time that the ceilings allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The longest of the times below, as if they overlapped perfectly.
    pub seconds: f64,
    /// The resource with the longest time.
    pub limit: Limit,
    /// Seconds for the bytes to and from memory.
    pub memory_seconds: f64,
    /// Seconds for the arithmetic, counted as fused multiply-adds.
    pub flop_seconds: f64,
    /// Seconds for the bytes to and from shared memory; zero if the device has none.
    pub shared_seconds: f64,
    /// Seconds for the wavefronts of the L1 data path, at the rate of shared memory; zero if they are not counted.
    pub wavefront_seconds: f64,
}

impl Bound {
    /// `bound / measured`: 1 is as fast as the ceilings allow.
    ///
    /// Never clamped: a value above 1 means that the work or a ceiling is wrong, or that the data were in a
    /// cache.
    pub fn fraction(&self, measured_seconds: f64) -> f64 {
        self.seconds / measured_seconds
    }
}

/// The shortest time for `work` in `precision`.
///
/// Reads and writes overlap as in a copy, and the rest runs at its own rate: with R bytes read and W
/// written, memory takes `2 min(R,W)/copy + (R - min(R,W))/read + (W - min(R,W))/write`. For R = W this is
/// the bound of the sum_factorization paper (design §5), (R + W) divided by the rate of a copy of as many
/// bytes.
///
/// A zero amount takes no time, whatever its ceiling; an amount with a zero or negative ceiling takes
/// forever.
pub fn bound(work: &Work, ceilings: &Ceilings, precision: Precision) -> Bound {
    let both = work.bytes_read.min(work.bytes_written);
    let memory_seconds = seconds(both, ceilings.copy) * 2.0
        + seconds(work.bytes_read - both, ceilings.read)
        + seconds(work.bytes_written - both, ceilings.write);
    let flop_seconds = seconds(work.flops, ceilings.fma(precision));
    let at_shared_rate = |bytes| ceilings.shared.map_or(0.0, |rate| seconds(bytes, rate));
    let shared_seconds = at_shared_rate(work.shared_bytes);
    let wavefront_seconds = at_shared_rate(work.wavefronts.total() * Wavefronts::BYTES);

    let mut longest = (memory_seconds, Limit::Memory);
    for other in [
        (flop_seconds, Limit::Flops),
        match work.wavefronts.counted() {
            None => (shared_seconds, Limit::Shared),
            Some(_) => (wavefront_seconds, Limit::Wavefronts),
        },
    ] {
        if other.0 > longest.0 {
            longest = other;
        }
    }
    Bound {
        seconds: longest.0,
        limit: longest.1,
        memory_seconds,
        flop_seconds,
        shared_seconds,
        wavefront_seconds,
    }
}

fn seconds(amount: u64, rate: f64) -> f64 {
    if amount == 0 {
        0.0
    } else if rate > 0.0 {
        amount as f64 / rate
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CEILINGS: Ceilings = Ceilings {
        copy: 16.0,
        read: 8.0,
        write: 4.0,
        fma_fp64: 32.0,
        fma_fp32: 64.0,
        shared: Some(2.0),
    };

    fn seconds_of(bytes_read: u64, bytes_written: u64, flops: u64, shared_bytes: u64) -> Bound {
        let work = Work {
            bytes_read,
            bytes_written,
            flops,
            shared_bytes,
            ..Work::default()
        };
        bound(&work, &CEILINGS, Precision::Fp64)
    }

    #[test]
    fn memory_time_is_a_copy_and_a_rest() {
        assert_eq!(seconds_of(16, 16, 0, 0).seconds, 2.0);
        assert_eq!(seconds_of(24, 16, 0, 0).seconds, 3.0);
        assert_eq!(seconds_of(16, 24, 0, 0).seconds, 4.0);
        assert_eq!(seconds_of(8, 0, 0, 0).seconds, 1.0);
        assert_eq!(seconds_of(0, 4, 0, 0).seconds, 1.0);
    }

    #[test]
    fn the_slowest_resource_sets_the_bound() {
        assert_eq!(seconds_of(16, 16, 64, 4).limit, Limit::Memory);
        assert_eq!(seconds_of(16, 16, 65, 4).limit, Limit::Flops);
        assert_eq!(seconds_of(16, 16, 65, 5).limit, Limit::Shared);
        assert_eq!(seconds_of(0, 0, 64, 0).seconds, 2.0);
        assert_eq!(seconds_of(0, 0, 0, 2).seconds, 1.0);
    }

    #[test]
    fn wavefronts_take_the_time_of_as_many_full_ones_of_shared_memory() {
        // Lanes that read the same number take one wavefront.
        let work = Work {
            shared_bytes: 40 * Wavefronts::BYTES,
            wavefronts: Wavefronts {
                shared: 3,
                global: 2,
                reductions: 1,
            },
            ..Work::default()
        };
        let found = bound(&work, &CEILINGS, Precision::Fp64);
        assert_eq!(found.limit, Limit::Wavefronts);
        assert_eq!(found.seconds, 6.0 * 128.0 / 2.0);
        assert_eq!(found.shared_seconds, 40.0 * 128.0 / 2.0);
    }

    #[test]
    fn precision_chooses_the_ceiling_of_arithmetic() {
        let work = Work {
            flops: 64,
            ..Work::default()
        };
        assert_eq!(bound(&work, &CEILINGS, Precision::Fp32).seconds, 1.0);
    }

    #[test]
    fn a_missing_ceiling_is_never_and_nothing_takes_no_time() {
        let none = Ceilings {
            read: 0.0,
            shared: None,
            ..CEILINGS
        };
        let work = Work {
            bytes_read: 1,
            shared_bytes: 7,
            ..Work::default()
        };
        let bound = super::bound(&work, &none, Precision::Fp64);
        assert_eq!(bound.seconds, f64::INFINITY);
        assert_eq!(bound.shared_seconds, 0.0);
        assert_eq!(seconds_of(0, 0, 0, 0).seconds, 0.0);
    }

    #[test]
    fn the_fraction_is_not_clamped() {
        assert_eq!(seconds_of(16, 16, 0, 0).fraction(1.0), 2.0);
    }
}
