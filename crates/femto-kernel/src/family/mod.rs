//! The families: ways to evaluate element operators.

pub mod batch;
pub mod tensor_hex;
