//! Errors of devices and of kernels.

use thiserror::Error;

/// Why a request to a device failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// Not enough memory.
    #[error(
        "the {device} device has no memory for {len} numbers of {bytes_each} bytes ({:.3} GiB)",
        gibibytes(*len, *bytes_each)
    )]
    OutOfMemory {
        /// The kind of the device.
        device: &'static str,
        /// Count of numbers requested.
        len: usize,
        /// Bytes of one number.
        bytes_each: usize,
    },
    /// Two related arrays differ in length.
    #[error("{what} holds {found} numbers where {expected} are needed")]
    LengthMismatch {
        /// The array with the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// An invalid number of threads.
    #[error("{asked} threads were asked for; between 1 and {most} are possible")]
    ThreadCount {
        /// Requested number.
        asked: usize,
        /// Maximum accepted.
        most: usize,
    },
    /// The operating system did not start the threads.
    #[error("the operating system did not start {asked} threads: {reason}")]
    ThreadStart {
        /// Requested number.
        asked: usize,
        /// The system's error.
        reason: String,
    },
    /// A device name that does not exist.
    #[error("there is no device {name:?}; these exist: {known}")]
    UnknownDevice {
        /// Requested name.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A library required by a kind of device is not installed.
    #[error("no {device} here: {looked_for} was not found; {install}")]
    DriverMissing {
        /// The kind of the device.
        device: &'static str,
        /// The libraries and places searched.
        looked_for: String,
        /// What to install.
        install: &'static str,
    },
    /// A library is installed, but too old.
    #[error("{library} does not know {needed}; {known}")]
    DriverTooOld {
        /// The library and its version.
        library: String,
        /// A function or an architecture.
        needed: String,
        /// The versions it does support, or what to install.
        known: String,
    },
    /// The kind exists, but not this many of it.
    #[error("there is no device {device}:{index}; {found} of this kind were found")]
    NoSuchDevice {
        /// The kind of the device.
        device: &'static str,
        /// Requested index.
        index: usize,
        /// Number of devices of this kind.
        found: usize,
    },
    /// The device does not support this at all.
    #[error("the {device} device cannot {what}")]
    Unsupported {
        /// The kind of the device.
        device: &'static str,
        /// The requested operation.
        what: &'static str,
    },
    /// Memory, a kernel or an event of one device was given to another.
    #[error("{what} belongs to another device than {device}")]
    OtherDevice {
        /// The device it was given to.
        device: &'static str,
        /// The object.
        what: &'static str,
    },
    /// The device is unusable; every later call fails too.
    #[error("the {device} device is lost: {reason}")]
    Lost {
        /// The kind of the device.
        device: &'static str,
        /// The driver's name for the error.
        reason: String,
    },
    /// A driver error without a variant of its own.
    #[error("the {device} driver refused to {action}: {reason}")]
    Driver {
        /// The kind of the device.
        device: &'static str,
        /// The attempted operation.
        action: &'static str,
        /// The driver's name for the error.
        reason: String,
    },
    /// The time of an event was requested before it was recorded.
    #[error("an event was not recorded")]
    NotRecorded,
    /// A kernel could not be compiled or started.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Why a kernel could not be compiled or launched.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KernelError {
    /// The compiler rejected the text.
    #[error("{compiler} does not compile {kernel} for {architecture}:\n{log}")]
    Compile {
        /// Name and version of the compiler.
        compiler: String,
        /// The name of the text.
        kernel: String,
        /// The target architecture.
        architecture: String,
        /// The compiler's messages; lines refer to the texts named by `#line`.
        log: String,
    },
    /// The text needs 64-bit floating-point numbers, which the device does not support.
    #[error("{kernel} needs fp64, which {architecture} does not have")]
    NoFp64 {
        /// The name of the text.
        kernel: String,
        /// The device.
        architecture: String,
    },
    /// The module has no kernel of this name.
    #[error("{kernel} has no kernel {entry:?}")]
    NoEntry {
        /// The name of the text.
        kernel: String,
        /// Requested name.
        entry: String,
    },
    /// A block is larger than the device or the compiled kernel allows, or empty.
    #[error("{kernel}: a block of {asked:?} threads; this kernel on this device allows {most}")]
    Threads {
        /// The name of the kernel.
        kernel: String,
        /// Requested threads, along x, y, z.
        asked: [u32; 3],
        /// The limit, in words.
        most: String,
    },
    /// No blocks, or more than a launch can have.
    #[error("{kernel}: {asked} blocks; between 1 and {most} are possible")]
    Blocks {
        /// The name of the kernel.
        kernel: String,
        /// Requested blocks.
        asked: u32,
        /// Maximum supported.
        most: u32,
    },
    /// A block needs more shared memory than the device has for it.
    #[error("{kernel}: {asked} bytes of shared memory a block; this device has {most}")]
    SharedMemory {
        /// The name of the kernel.
        kernel: String,
        /// Requested bytes.
        asked: u64,
        /// Maximum bytes of a block.
        most: u64,
    },
    /// The number of arguments differs from the kernel's.
    #[error("{kernel}: {found} arguments where it has {expected}")]
    Arguments {
        /// The name of the kernel.
        kernel: String,
        /// Number given.
        found: usize,
        /// Number expected.
        expected: usize,
    },
    /// The driver did not launch the kernel.
    #[error("{kernel} was not started: {reason}")]
    Launch {
        /// The name of the kernel.
        kernel: String,
        /// The driver's name for the error.
        reason: String,
    },
}

fn gibibytes(len: usize, bytes_each: usize) -> f64 {
    len as f64 * bytes_each as f64 / (1u64 << 30) as f64
}
