//! Small equations with known solutions, and helpers to solve them.

mod accelerators;
mod algebraic;
mod cg;
mod gmres;
mod krylov;
mod newton;
mod newton_preconditioners;

use super::krylov::{KrylovParams, KrylovWorkspace, LinearSolver};
use super::*;
use femto_platform::device::host::{Host, HostBuffer};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

/// A dense matrix, `[row][column]`.
struct Dense {
    size: usize,
    entries: Vec<f64>,
}

impl Dense {
    fn new(size: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let entries = (0..size * size).map(|i| entry(i / size, i % size));
        Self {
            size,
            entries: entries.collect(),
        }
    }

    /// Bᵀ B + shift · 1 for a scattered B.
    fn positive_definite(size: usize, shift: f64) -> Self {
        let b = |i: usize, j: usize| ((7 * i * i + 13 * i * j + 5 * j + 1) % 19) as f64 / 9.0 - 1.0;
        let identity = |i, j| if i == j { shift } else { 0.0 };
        Self::new(size, |i, j| {
            identity(i, j) + (0..size).map(|k| b(k, i) * b(k, j)).sum::<f64>()
        })
    }

    /// Random numbers, with `shift` added on the diagonal.
    fn random(size: usize, shift: f64, random: &mut Random) -> Self {
        Self::new(size, |i, j| {
            random.number() + if i == j { shift } else { 0.0 }
        })
    }

    /// Entry i of A u is entry i + 1 of u.
    fn cyclic(size: usize) -> Self {
        Self::new(size, |i, j| f64::from(u8::from(j == (i + 1) % size)))
    }

    /// A ring of 12 springs: constants are in the null space.
    fn ring() -> Self {
        Self::new(12, |i, j| match (i + 12 - j) % 12 {
            0 => 2.0,
            1 | 11 => -1.0,
            _ => 0.0,
        })
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.size)
            .map(|i| self.entries[i * (self.size + 1)])
            .collect()
    }

    fn times<T: Number>(&self, u: &[T]) -> Vec<T> {
        let row = |row: &[f64]| row.iter().zip(u).map(|(a, u)| a * u.to_f64()).sum();
        let rows = self.entries.chunks(self.size.max(1));
        rows.map(|r| T::from_f64(row(r))).collect()
    }

    /// |b - A x|.
    fn distance<T: Number>(&self, x: &[T], b: &[T]) -> f64 {
        distance(&self.times(x), b)
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

fn distance<T: Number>(a: &[T], b: &[T]) -> f64 {
    let squares = a.iter().zip(b);
    let squares = squares.map(|(a, b)| (a.to_f64() - b.to_f64()).powi(2));
    squares.sum::<f64>().sqrt()
}

/// -u'' = 1 on (0,1) with u = 0 at both ends; differences are exact at the nodes for the parabola.
struct Poisson {
    size: usize,
}

impl Poisson {
    fn exact(&self) -> Vec<f64> {
        let h = 1.0 / (self.size + 1) as f64;
        let x = |i: usize| (i + 1) as f64 * h;
        (0..self.size)
            .map(|i| x(i) * (1.0 - x(i)) / 2.0 / (h * h))
            .collect()
    }

    fn times(&self, u: &[f64]) -> Vec<f64> {
        let at = |i: usize| u.get(i).copied().unwrap_or(0.0);
        (0..self.size)
            .map(|i| 2.0 * u[i] - at(i.wrapping_sub(1)) - at(i + 1))
            .collect()
    }

    /// Solves for a solution of ones from a given start.
    fn solve(
        &self,
        start: &[f64],
        params: impl Into<KrylovParams>,
        monitor: &mut dyn Monitor,
    ) -> Outcome<f64> {
        let system = System {
            device: &Host::with_threads(1).unwrap(),
            operator: self,
            preconditioning: Preconditioning::Identity,
        };
        run(system, &vec![1.0; self.size], start, params, monitor)
    }
}

impl LinearOperator<f64, Host> for Poisson {
    fn size(&self) -> usize {
        self.size
    }
    fn apply(&self, u: &HostBuffer<f64>, v: &mut HostBuffer<f64>) -> Result<(), OperatorError> {
        v.copy_from_slice(&self.times(u));
        Ok(())
    }
}

/// Random numbers between -1 and 1, seeded differently in every run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = RandomState::new().hash_one(0) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, size: usize) -> Vec<f64> {
        (0..size).map(|_| self.number()).collect()
    }
}

/// A multiple of the identity as an opaque preconditioner, with a workspace vector.
struct Multiple<D> {
    device: D,
    size: usize,
    factor: f64,
}

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Multiple<D> {
    type Workspace = D::Buffer<T>;

    fn workspace(&self, device: &D) -> Result<D::Buffer<T>, DeviceError> {
        device.zeros(self.size)
    }
    fn apply(
        &self,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        workspace: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        self.device.fill(0.0, workspace)?;
        self.device.axpy(self.factor, r, workspace)?;
        Ok(self.device.copy(workspace, z)?)
    }
}

/// The outcome of a solve.
#[derive(Debug)]
struct Outcome<T> {
    result: Result<SolveInfo, SolveError>,
    x: Vec<T>,
}

impl<T> Outcome<T> {
    fn iterations(&self) -> usize {
        self.result.as_ref().unwrap().iterations()
    }

    /// Why it failed.
    fn reason(&self) -> StopReason {
        self.result.as_ref().err().unwrap().reason.clone()
    }
}

const CG: LinearSolver = LinearSolver::Cg;

fn restart(restart: usize) -> LinearSolver {
    LinearSolver::Gmres { restart }
}

impl From<LinearSolver> for KrylovParams {
    fn from(solver: LinearSolver) -> Self {
        let stop = StopCriteria::default();
        Self { solver, stop }
    }
}

/// A solver with changed stop criteria.
fn stopping(solver: LinearSolver, change: impl FnOnce(&mut StopCriteria)) -> KrylovParams {
    let mut params = KrylovParams::from(solver);
    change(&mut params.stop);
    params
}

/// A solver with another relative tolerance.
fn relative(solver: LinearSolver, tolerance: f64) -> KrylovParams {
    stopping(solver, |stop| stop.relative_tolerance = tolerance)
}

fn assert_close<T: Number>(found: &[T], wanted: &[T], tolerance: f64) {
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let (found, wanted) = (found.to_f64(), wanted.to_f64());
        let close = (found - wanted).abs() <= tolerance;
        assert!(close, "entry {i}: {found} {wanted}");
    }
}

fn upload<T: Number, D: Device>(device: &D, values: &[f64]) -> D::Buffer<T> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    device.upload(&values).unwrap()
}

fn download<T: Number, D: Device>(device: &D, buffer: &D::Buffer<T>) -> Vec<T> {
    let mut values = vec![T::from_f64(f64::NAN); buffer.len()];
    device.read(buffer, &mut values).unwrap();
    values
}

/// Fills vectors with NaN: solvers must write their workspace before reading it.
fn poison<T: Number, D: Device>(device: &D, vectors: Vec<&mut D::Buffer<T>>) {
    for vector in vectors {
        let values = vec![T::from_f64(f64::NAN); vector.len()];
        device.write(&values, vector).unwrap();
    }
}

/// Solves from `start` in a poisoned workspace.
fn run<T: Number, D: VectorOps<T>>(
    mut system: System<'_, T, D>,
    b: &[T],
    start: &[T],
    params: impl Into<KrylovParams>,
    monitor: &mut dyn Monitor,
) -> Outcome<T> {
    let (device, params) = (system.device, params.into());
    let mut workspace = KrylovWorkspace::new(device, b.len(), params.solver).unwrap();
    poison(device, workspace.vectors());
    let (b, mut x) = (device.upload(b).unwrap(), device.upload(start).unwrap());
    let result =
        crate::solve::krylov::solve(&mut system, &b, &mut x, &mut workspace, &params, monitor);
    let x = download(device, &x);
    Outcome { result, x }
}

/// Solves from zero on the host.
fn solve<T: Number>(
    operator: &dyn LinearOperator<T, Host>,
    preconditioning: Preconditioning<'_, T, Host>,
    b: &[T],
    params: impl Into<KrylovParams>,
) -> Outcome<T> {
    let system = System {
        device: &Host::with_threads(1).unwrap(),
        operator,
        preconditioning,
    };
    run(system, b, &vec![T::default(); b.len()], params, &mut ())
}

/// A monitor that records everything and stops when `stop` says so.
struct Notes<F> {
    seen: Vec<Iteration>,
    stop: F,
}

impl<F: Fn(&Iteration) -> bool> Notes<F> {
    fn until(stop: F) -> Self {
        let seen = Vec::new();
        Self { seen, stop }
    }

    fn numbers(&self) -> Vec<usize> {
        self.seen.iter().map(|iteration| iteration.number).collect()
    }
}

impl<F: Fn(&Iteration) -> bool + Send> Monitor for Notes<F> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.seen.push(iteration);
        match (self.stop)(&iteration) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
