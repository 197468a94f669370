//! Matrix-free finite element operators and solvers: the library that joins meshes, forms and devices.
#![forbid(unsafe_code)]

pub mod accelerator;
mod any_device;
mod eigen;
mod elements;
pub mod multigrid;
mod number;
pub mod operator;
mod pool;
pub mod problem;
pub mod solve;
pub mod vector;

pub use any_device::AnyDevice;
pub use femto_element as element;
pub use femto_element::Degree;
pub use femto_fem as fem;
pub use femto_kernel as kernel;
pub use femto_platform as platform;
pub use femto_platform::device::host::Host;
pub use number::Number;
pub use operator::{
    DataLevel, FactorPrecision, Knobs, Operator, OperatorParams, Quadrature, Scatter,
};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
