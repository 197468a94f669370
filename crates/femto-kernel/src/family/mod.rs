//! The families: ways to evaluate element operators.

pub mod affine_simplex;
pub mod batch;
pub mod cell_quadrature;
mod context;
mod contract;
pub mod fields;
pub mod hex_published;
mod limits;
pub mod operand;
pub mod oracle;
mod registry;
pub mod shared_nodes;
pub mod sum_factorization;
mod vectors;

pub use context::{EvalContext, FactorPrecision};
use contract::legal_candidates;
pub use contract::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    Family, MapInput, Target,
};
pub use limits::{Limits, MOST_CONSTANT_BYTES, ScheduleError};
pub use operand::{KernelSource, Operand};
pub use registry::{Block, FamilyId};
pub use sum_factorization::kernel::{Knobs, KnobsError};
pub use vectors::{Scatter, Vectors};
