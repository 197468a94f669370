//! Measurements. Only this module and the tuner read clocks.
//!
//! The benchmarks of the field as data ([`Benchmark`]), one measurement as a struct of parameters
//! ([`Params`]) that becomes a [`Row`]: all that is needed to repeat it, its exact work, its rate,
//! and what the ceilings of the machine allow.
//!
//! ```
//! use femto::Host;
//! use femto::bench::{Benchmark, MeshShape, Params, Sampling, Size, roofline, run};
//!
//! let host = Host::with_threads(1)?;
//! # let ceilings = femto::kernel::roofline::Ceilings { copy: 1e10, read: 1e10, write: 1e10,
//! #     fma_fp64: 1e11, fma_fp32: 2e11, shared: None };
//! # #[cfg(any())]
//! let ceilings = roofline::ceilings(&host)?.ceilings;
//! let params = Params {
//!     degree: 3,
//!     size: Size::Elements(8),
//!     sampling: Sampling { samples: 3, seconds: 0.0 },
//!     ..Params::new(Benchmark::Bp5)
//! };
//! let row = run(&host, &params, &ceilings)?;
//! assert_eq!(row.dofs, 7 * 7 * 7);
//! println!("{:.1} {}", row.rate * 1e-6, row.rate_unit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(clippy::disallowed_methods)] // the clock

mod benchmark;
mod error;
pub mod ladder;
mod memory;
mod problem;
pub mod roofline;
mod row;
mod run;
pub mod simplices;
mod subject;
#[cfg(test)]
mod tests;
mod timing;

pub use benchmark::{Benchmark, Physics, VectorKind};
pub use error::BenchError;
pub use problem::{MeshShape, Size};
pub use row::Row;
pub use run::{Bench, Measured, Params, Testbed, compile_all, run};
pub use timing::{Sampling, Timing, time_apply};
