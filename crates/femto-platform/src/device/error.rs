//! What a device can refuse.

use thiserror::Error;

/// Why a device did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The memory is not there.
    #[error(
        "the {device} device has no memory for {len} numbers of {bytes_each} bytes ({:.3} GiB)",
        gibibytes(*len, *bytes_each)
    )]
    OutOfMemory {
        /// The kind of the device.
        device: &'static str,
        /// How many numbers were asked for.
        len: usize,
        /// Bytes of one number.
        bytes_each: usize,
    },
    /// Two arrays that belong together differ in length.
    #[error("{what} holds {found} numbers where {expected} are needed")]
    LengthMismatch {
        /// The array that does not fit.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that was needed.
        expected: usize,
    },
    /// A number of threads that no machine has.
    #[error("{asked} threads were asked for; between 1 and {most} are possible")]
    ThreadCount {
        /// The number asked for.
        asked: usize,
        /// The largest that is accepted.
        most: usize,
    },
    /// The operating system gave no threads.
    #[error("the operating system did not start {asked} threads: {reason}")]
    ThreadStart {
        /// The number asked for.
        asked: usize,
        /// What it said.
        reason: String,
    },
    /// A device name that does not exist.
    #[error("there is no device {name:?}; these exist: {known}")]
    UnknownDevice {
        /// The name asked for.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
}

fn gibibytes(len: usize, bytes_each: usize) -> f64 {
    len as f64 * bytes_each as f64 / (1u64 << 30) as f64
}
