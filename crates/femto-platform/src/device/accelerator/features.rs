//! Features and limits of an accelerator.

/// The language of a device's kernel texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LanguageKind {
    /// CUDA C++.
    Cuda,
    /// OpenCL C 1.2.
    OpenCl,
}

/// Features and limits of an accelerator. `None` if the driver does not report them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// The language of its texts.
    pub language: LanguageKind,
    /// The target of its compiler: `sm_90`, or the name of the device.
    pub architecture: String,
    /// Name and version of the compiler.
    pub compiler: String,
    /// Version of the driver.
    pub driver: String,
    /// Maximum number of threads of a block.
    pub max_threads: u32,
    /// Maximum number of threads of a block along x, y, z.
    pub max_threads_xyz: [u32; 3],
    /// Maximum bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Threads resident on a compute unit at the same time.
    pub threads_per_unit: Option<u32>,
    /// Multiprocessors, or compute units in OpenCL's terms.
    pub compute_units: u32,
    /// Cycles per second of their clock, at most.
    pub clock_rate: u64,
    /// Threads that execute in lockstep; 1 on processors.
    pub warp: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Bytes of the cache shared by all compute units; 0 if there is none.
    pub cache_bytes: u64,
    /// Whether it has 64-bit floating-point numbers.
    pub fp64: bool,
    /// Whether work can be captured in a launch graph.
    pub graphs: bool,
}
