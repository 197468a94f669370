//! Limits of a device, and the error of a schedule that exceeds them.

use crate::dialect::BlockShape;
use crate::scalar::Precision;
use thiserror::Error;

/// Limits of a device, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of threads of a block.
    pub threads: u32,
    /// Maximum number of threads of a block along x, y and z.
    pub threads_xyz: [u32; 3],
    /// Maximum shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Whether double precision is supported.
    pub fp64: bool,
    /// Whether it has matrix units that multiply in both precisions, faster than it multiplies otherwise.
    pub matrix_units: bool,
}

/// Maximum bytes of constant memory for the tables of a kernel: the minimum of all CUDA and OpenCL devices,
/// less the constants of the families' texts.
pub const MOST_CONSTANT_BYTES: usize = 60 << 10;

impl Default for Limits {
    /// The limits of every CUDA device without opting in to more: those of Świrydowicz et al. 2019.
    fn default() -> Self {
        Self {
            threads: 1024,
            threads_xyz: [1024, 1024, 64],
            shared_bytes: 48 * 1024,
            fp64: true,
            matrix_units: false,
        }
    }
}

impl Limits {
    /// Checks whether the device can run blocks of a shape with numbers of a precision.
    ///
    /// # Errors
    /// Too many threads, too much shared memory, or no fp64.
    pub fn check(&self, block: &BlockShape, precision: Precision) -> Result<(), ScheduleError> {
        if precision == Precision::Fp64 && !self.fp64 {
            return Err(ScheduleError::Fp64);
        }
        let mut sides = block.threads.iter().zip(self.threads_xyz);
        if block.threads() > self.threads || sides.any(|(&asked, most)| asked > most) {
            return Err(ScheduleError::Threads {
                asked: block.threads,
                most: self.threads,
                most_xyz: self.threads_xyz,
            });
        }
        let (asked, most) = (block.shared_bytes(precision), self.shared_bytes);
        match asked > most {
            true => Err(ScheduleError::SharedMemory { asked, most }),
            false => Ok(()),
        }
    }
}

/// The rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// Mutually exclusive knobs.
    #[error("the schedule \"{schedule}\" breaks a rule: {rule}")]
    Rule {
        /// The schedule.
        schedule: String,
        /// The rule.
        rule: &'static str,
    },
    /// Too many threads.
    #[error(
        "a block of {} × {} × {} threads is too large: the device allows {most}, and {} × {} × {} along the axes",
        asked[0], asked[1], asked[2], most_xyz[0], most_xyz[1], most_xyz[2]
    )]
    Threads {
        /// Threads of the block.
        asked: [u32; 3],
        /// Maximum number of threads in total.
        most: u32,
        /// Maximum number of threads along each axis.
        most_xyz: [u32; 3],
    },
    /// Too much shared memory.
    #[error("a block needs {asked} bytes of shared memory, the device allows {most}")]
    SharedMemory {
        /// Bytes needed by a block.
        asked: u32,
        /// Bytes allowed.
        most: u32,
    },
    /// The device does not support fp64.
    #[error("the device has no fp64")]
    Fp64,
    /// The device has no matrix units for these products.
    #[error("the device has no matrix units that are faster in fp64")]
    MatrixUnits,
}
