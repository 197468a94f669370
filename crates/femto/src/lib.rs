//! femto: finite element, matrix-free, tensor operators.
#![forbid(unsafe_code)]

mod number;

pub use femto_fem as fem;
pub use femto_kernel as kernel;
pub use femto_platform as platform;
pub use number::Number;

pub mod solve;
pub mod vector;
