//! Small systems for the tests, and a short way to solve them.

use super::*;
use crate::solve::{Identity, LinearOperator, OperatorError, Preconditioner};
use femto_platform::device::host::{Host, HostBuffer};

/// A dense matrix, `[row][column]`.
pub(super) struct Dense {
    pub(super) size: usize,
    entries: Vec<f64>,
}

impl Dense {
    pub(super) fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..size * size).map(|i| entry(i / size, i % size));
        Self {
            size,
            entries: entries.collect(),
        }
    }

    /// Bᵀ B + shift · 1 of a matrix B of scattered numbers.
    pub(super) fn positive_definite(size: usize, shift: f64) -> Self {
        let b = |i: usize, j: usize| ((7 * i * i + 13 * i * j + 5 * j + 1) % 19) as f64 / 9.0 - 1.0;
        let identity = |i, j| if i == j { shift } else { 0.0 };
        Self::new(size, |i, j| {
            identity(i, j) + (0..size).map(|k| b(k, i) * b(k, j)).sum::<f64>()
        })
    }

    pub(super) fn diagonal(&self) -> Vec<f64> {
        (0..self.size)
            .map(|i| self.entries[i * (self.size + 1)])
            .collect()
    }

    pub(super) fn times<T: Number>(&self, u: &[T]) -> Vec<T> {
        let row = |row: &[f64]| row.iter().zip(u).map(|(a, u)| a * u.to_f64()).sum();
        self.entries
            .chunks(self.size)
            .map(|r| T::from_f64(row(r)))
            .collect()
    }
}

impl<T: Number> LinearOperator<T, Host> for Dense {
    fn size(&self) -> usize {
        self.size
    }
    fn apply(&self, u: &HostBuffer<T>, v: &mut HostBuffer<T>) -> Result<(), OperatorError> {
        v.copy_from_slice(&self.times(u));
        Ok(())
    }
}

/// What a solve left behind.
pub(super) struct Outcome<T: Number> {
    pub(super) result: Result<CgInfo, CgError>,
    pub(super) x: HostBuffer<T>,
}

pub(super) struct Setup<'a> {
    pub(super) host: Host,
    pub(super) preconditioner: &'a dyn Preconditioner<f64, Host>,
    pub(super) params: CgParams,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            host: Host::with_threads(1).unwrap(),
            preconditioner: &Identity,
            params: CgParams::default(),
        }
    }
}

impl Setup<'_> {
    pub(super) fn solve(
        &self,
        operator: &dyn LinearOperator<f64, Host>,
        b: &[f64],
    ) -> Outcome<f64> {
        self.solve_watched(operator, b, &mut |_| ControlFlow::Continue(()))
    }

    pub(super) fn solve_watched(
        &self,
        operator: &dyn LinearOperator<f64, Host>,
        b: &[f64],
        observer: &mut Observer<'_>,
    ) -> Outcome<f64> {
        let system = System {
            device: &self.host,
            operator,
            preconditioner: self.preconditioner,
        };
        let mut workspace = CgWorkspace::new(&self.host, b.len()).unwrap();
        let mut x = self.host.zeros(b.len()).unwrap();
        let b = self.host.upload(b).unwrap();
        let result = solve(&system, &b, &mut x, &mut workspace, &self.params, observer);
        Outcome { result, x }
    }
}

/// -u'' = 1 on (0,1) with u = 0 at both ends; differences give the parabola exactly at the nodes.
pub(super) struct Poisson {
    pub(super) size: usize,
}

impl Poisson {
    pub(super) fn exact(&self) -> Vec<f64> {
        let h = 1.0 / (self.size + 1) as f64;
        let x = |i: usize| (i + 1) as f64 * h;
        (0..self.size)
            .map(|i| x(i) * (1.0 - x(i)) / 2.0 / (h * h))
            .collect()
    }
}

impl LinearOperator<f64, Host> for Poisson {
    fn size(&self) -> usize {
        self.size
    }
    fn apply(&self, u: &HostBuffer<f64>, v: &mut HostBuffer<f64>) -> Result<(), OperatorError> {
        for i in 0..self.size {
            let left = if i > 0 { u[i - 1] } else { 0.0 };
            let right = u.get(i + 1).copied().unwrap_or(0.0);
            v[i] = 2.0 * u[i] - left - right;
        }
        Ok(())
    }
}
