//! The families: ways to evaluate element operators.

pub mod batch;
pub mod fields;
pub mod simplex_quadrature;
pub mod tensor_hex;
