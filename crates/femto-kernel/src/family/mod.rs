//! The families: ways to evaluate element operators.

pub mod tensor_hex;
