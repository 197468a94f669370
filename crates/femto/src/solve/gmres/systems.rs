//! Small systems for the tests, and short ways to solve them.

use super::*;
use crate::solve::{LinearOperator, OperatorError, Preconditioner};
use femto_platform::device::host::{Host, HostBuffer};
use std::hash::{BuildHasher, RandomState};

/// A dense matrix, `[row][column]`.
pub(super) struct Dense {
    pub(super) size: usize,
    entries: Vec<f64>,
}

impl Dense {
    pub(super) fn new(size: usize, entry: impl FnMut((usize, usize)) -> f64) -> Self {
        let places = (0..size * size).map(|i| (i / size, i % size));
        Self {
            size,
            entries: places.map(entry).collect(),
        }
    }

    /// Random numbers, and `shift` more on the diagonal.
    pub(super) fn random(size: usize, shift: f64, random: &mut Random) -> Self {
        Self::new(size, |(i, j)| {
            random.number() + if i == j { shift } else { 0.0 }
        })
    }

    /// Entry i of A u is entry i + 1 of u.
    pub(super) fn cyclic(size: usize) -> Self {
        Self::new(size, |(i, j)| f64::from(u8::from(j == (i + 1) % size)))
    }

    pub(super) fn times<T: Number>(&self, u: &[T]) -> Vec<T> {
        let row = |row: &[f64]| row.iter().zip(u).map(|(a, u)| a * u.to_f64()).sum();
        let rows = self.entries.chunks(self.size.max(1));
        rows.map(|r| T::from_f64(row(r))).collect()
    }

    pub(super) fn distance<T: Number>(&self, x: &[T], b: &[T]) -> f64 {
        let ax = self.times(x);
        let squares = (ax.iter().zip(b)).map(|(ax, b)| (ax.to_f64() - b.to_f64()).powi(2));
        squares.sum::<f64>().sqrt()
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

/// Numbers between -1 and 1, other ones in every run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().hash_one(0) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    pub(super) fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self, size: usize) -> Vec<f64> {
        (0..size).map(|_| self.number()).collect()
    }
}

/// What a solve left behind.
pub(super) struct Outcome<T> {
    pub(super) result: Result<GmresInfo, GmresError>,
    pub(super) x: Vec<T>,
}

impl<T> Outcome<T> {
    pub(super) fn failure(self) -> GmresFailure {
        self.result.unwrap_err().failure
    }
}

pub(super) fn restart(restart: usize) -> GmresParams {
    GmresParams {
        restart,
        ..GmresParams::default()
    }
}

/// Solves from zero, in a workspace full of what is no number.
pub(super) fn run<T: Number, D: VectorOps<T>>(
    system: &System<'_, T, D>,
    b: &[T],
    params: &GmresParams,
    observer: &mut Observer<'_>,
) -> Outcome<T> {
    let device = system.device;
    let mut workspace = GmresWorkspace::new(device, b.len(), params).unwrap();
    let poison = vec![T::from_f64(f64::NAN); b.len()];
    for vector in workspace.basis.iter_mut().chain([&mut workspace.z]) {
        device.write(&poison, vector).unwrap();
    }
    let (b, mut x) = (device.upload(b).unwrap(), device.zeros(b.len()).unwrap());
    let result = solve(system, &b, &mut x, &mut workspace, params, observer);
    let mut values = poison;
    device.read(&x, &mut values).unwrap();
    Outcome { result, x: values }
}

pub(super) fn solve_on_host<T: Number>(
    operator: &dyn LinearOperator<T, Host>,
    preconditioner: &dyn Preconditioner<T, Host>,
    b: &[T],
    params: &GmresParams,
) -> Outcome<T> {
    let device = &Host::with_threads(1).unwrap();
    let system = System {
        device,
        operator,
        preconditioner,
    };
    run(&system, b, params, &mut |_| ControlFlow::Continue(()))
}
