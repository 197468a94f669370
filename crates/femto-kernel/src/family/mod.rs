//! The families: ways to evaluate element operators.

pub mod affine_simplex;
pub mod batch;
pub mod block_sums;
pub mod cell_quadrature;
mod concatenated;
mod context;
mod contract;
pub mod element_matrix;
pub mod fields;
mod fragments;
pub mod hex_published;
mod knobs;
pub mod ladder;
mod limits;
mod matrix_storage;
pub mod operand;
pub mod oracle;
mod owners;
pub mod prism_column;
pub mod prism_published;
mod registry;
pub mod shared_nodes;
pub mod sum_factorization;
mod vectors;

pub use context::{EvalContext, FactorPrecision};
use contract::legal_candidates;
pub use contract::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    Family, GROUP, MapInput, Role, Target,
};
pub use knobs::{Knob, Knobs, KnobsError};
pub use limits::{Limits, MOST_CONSTANT_BYTES, ScheduleError};
pub use matrix_storage::{Assembly, MatrixLayout, MatrixStorage};
pub use operand::{KernelSource, Operand};
pub use registry::{Block, FamilyId};
pub use vectors::{Scatter, Vectors};
