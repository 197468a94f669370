//! Numbers, forms and kernels: everything evaluated per element or per point.
//!
//! This crate is pure: no clock, no file, no environment, no device, and it never sees a mesh.
#![forbid(unsafe_code)]

pub mod dialect;
pub mod expr;
pub mod family;
pub mod form;
pub mod roofline;
pub mod scalar;
pub mod vector;
