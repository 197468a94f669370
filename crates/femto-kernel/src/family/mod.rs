//! The families: ways to evaluate element operators.

pub mod batch;
pub mod cell_quadrature;
mod context;
pub mod fields;
pub mod hex_published;
mod limits;
pub mod operand;
pub mod shared_nodes;
pub mod sum_factorization;
mod vectors;

pub use context::{EvalContext, FactorPrecision};
pub use limits::{Limits, MOST_CONSTANT_BYTES, ScheduleError};
pub use operand::{KernelSource, Operand};
pub use vectors::{Scatter, Vectors};
