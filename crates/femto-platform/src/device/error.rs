//! Errors of devices and of kernels.

use thiserror::Error;

/// Why a request to a device failed.
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
    /// A library that makes a kind of device work is not installed.
    #[error("no {device} here: {looked_for} was not found; {install}")]
    DriverMissing {
        /// The kind of the device.
        device: &'static str,
        /// What was looked for, and where.
        looked_for: String,
        /// What to install.
        install: &'static str,
    },
    /// A library is there, but too old for what is asked of it.
    #[error("{library} does not know {needed}; {known}")]
    DriverTooOld {
        /// The library and its version.
        library: String,
        /// A function or an architecture.
        needed: String,
        /// What it does know, or what to install.
        known: String,
    },
    /// The kind exists, but not so many of it.
    #[error("there is no device {device}:{index}; {found} of this kind were found")]
    NoSuchDevice {
        /// The kind of the device.
        device: &'static str,
        /// The number asked for.
        index: usize,
        /// How many there are.
        found: usize,
    },
    /// The device does not do this at all.
    #[error("the {device} device cannot {what}")]
    Unsupported {
        /// The kind of the device.
        device: &'static str,
        /// What was asked.
        what: &'static str,
    },
    /// Memory, a kernel or an event of one device was given to another.
    #[error("{what} belongs to another device than {device}")]
    OtherDevice {
        /// The device that was asked.
        device: &'static str,
        /// What it was given.
        what: &'static str,
    },
    /// The device cannot go on; every later call fails too.
    #[error("the {device} device is lost: {reason}")]
    Lost {
        /// The kind of the device.
        device: &'static str,
        /// The driver's name of the error.
        reason: String,
    },
    /// A driver call failed in a way that has no variant of its own.
    #[error("the {device} driver refused to {action}: {reason}")]
    Driver {
        /// The kind of the device.
        device: &'static str,
        /// What was tried.
        action: &'static str,
        /// The driver's name of the error.
        reason: String,
    },
    /// An event was asked for its time before it was recorded.
    #[error("an event was not recorded")]
    NotRecorded,
    /// A kernel could not be compiled or started.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Why a kernel could not be compiled or launched.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KernelError {
    /// The compiler refuses the text.
    #[error("{compiler} does not compile {kernel} for {architecture}:\n{log}")]
    Compile {
        /// Name and version of the compiler.
        compiler: String,
        /// The name of the text.
        kernel: String,
        /// What it was compiled for.
        architecture: String,
        /// What the compiler said; its lines name the texts that `#line` named.
        log: String,
    },
    /// The text needs 64-bit floating point numbers, which the device has not.
    #[error("{kernel} needs fp64, which {architecture} has not")]
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
        /// The name asked for.
        entry: String,
    },
    /// A block is larger than the device or the compiled kernel allows, or empty.
    #[error("{kernel}: a block of {asked:?} threads; this kernel on this device allows {most}")]
    Threads {
        /// The name of the kernel.
        kernel: String,
        /// Threads asked for, along x, y, z.
        asked: [u32; 3],
        /// What is allowed, in words.
        most: String,
    },
    /// No blocks, or more than a launch can have.
    #[error("{kernel}: {asked} blocks; between 1 and {most} are possible")]
    Blocks {
        /// The name of the kernel.
        kernel: String,
        /// Blocks asked for.
        asked: u32,
        /// The most.
        most: u32,
    },
    /// A block needs more shared memory than the device has for it.
    #[error("{kernel}: {asked} bytes of shared memory a block; this device has {most}")]
    SharedMemory {
        /// The name of the kernel.
        kernel: String,
        /// Bytes asked for.
        asked: u64,
        /// Bytes that a block may have.
        most: u64,
    },
    /// The number of arguments differs from the kernel's.
    #[error("{kernel}: {found} arguments where it has {expected}")]
    Arguments {
        /// The name of the kernel.
        kernel: String,
        /// How many were given.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// The driver does not start the kernel.
    #[error("{kernel} was not started: {reason}")]
    Launch {
        /// The name of the kernel.
        kernel: String,
        /// The driver's name of the error.
        reason: String,
    },
}

fn gibibytes(len: usize, bytes_each: usize) -> f64 {
    len as f64 * bytes_each as f64 / (1u64 << 30) as f64
}
