//! Measurements: the only library code that reads clocks.
//!
//! The benchmarks of the field as data ([`Benchmark`]); a measurement as a struct of parameters
//! ([`Params`]) that gives a [`Record`]: everything needed to repeat it, its exact work, its rate, and the
//! bound from the machine's ceilings.
//!
//! ```
//! use femto::{AnyDevice, Host};
//! use femto_bench::{Benchmark, MeshShape, Params, Sampling, Size, roofline, run};
//!
//! let host = AnyDevice::from(Host::with_threads(1)?);
//! # let ceilings = femto::kernel::roofline::Ceilings { copy: 1e10, read: 1e10, write: 1e10,
//! #     fma_fp64: 1e11, fma_fp32: 2e11, shared: None };
//! # #[cfg(any())]
//! let ceilings = roofline::ceilings(&host)?.ceilings;
//! let params = Params {
//!     degree: 3.into(),
//!     size: Size::Elements(8),
//!     sampling: Sampling { samples: 3, seconds: 0.0 },
//!     ..Params::new(Benchmark::Bp5)
//! };
//! let record = run(&host, &params, &ceilings)?;
//! assert_eq!(record.number("dofs"), Some(343.0));
//! println!("{} {}", record.fixed("rate", 1e-6, 1), record.text("rate_unit"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "the clock")]

mod benchmark;
mod compare;
mod compile;
mod element_vectors;
mod error;
mod figure;
pub mod helmholtz;
pub mod ladder;
mod memory;
mod meshed_space;
pub mod paper;
mod params;
mod record;
mod report;
pub mod roofline;
mod run;
pub mod simplices;
mod subject;
pub mod table;
#[cfg(test)]
mod tests;
pub mod tet;
mod texts;
mod timing;
mod view;
mod wavefronts;

pub use benchmark::{Benchmark, Physics, VectorKind};
pub use compile::in_parallel;
pub use error::BenchError;
pub use figure::{check_figure, read_rows};
pub use meshed_space::{MeshShape, Size};
pub use params::{Measured, Params};
pub use record::{Entry, Record};
pub use report::{CeilingsFrom, Progress, Report, RunOptions};
pub use run::{run, run_all};
pub use timing::{Sampling, Timing, time_application, time_apply};
pub use wavefronts::uncounted;
