//! What the solvers of linear systems have in common.

use super::{LinearOperator, Preconditioner};
use crate::Number;
use femto_platform::device::Device;
use std::ops::ControlFlow;

/// A system to solve: A, M and where they live.
pub struct System<'a, T: Number, D: Device> {
    /// The device of all vectors.
    pub device: &'a D,
    /// The matrix A; for conjugate gradients symmetric positive definite.
    pub operator: &'a dyn LinearOperator<T, D>,
    /// The inverse of M; for conjugate gradients symmetric positive definite.
    pub preconditioner: &'a dyn Preconditioner<T, D>,
}

/// Told to the observer after every iteration, and before the first as number 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// How many steps have been taken.
    pub number: usize,
    /// The Euclidean norm of the residual, as the solver carries it along.
    pub residual: f64,
    /// The norm at which the solver stops.
    pub target: f64,
}

/// Watches the iterations and may end them; an end is a failure called `Interrupted`.
///
/// Runs on a thread of the device.
pub type Observer<'a> = dyn FnMut(Iteration) -> ControlFlow<()> + Send + 'a;

/// Which tolerance was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// |r| ≤ relative tolerance · |b|.
    Relative,
    /// |r| ≤ absolute tolerance.
    Absolute,
    /// b = 0, so x = 0 without any step.
    ZeroRightHandSide,
}
