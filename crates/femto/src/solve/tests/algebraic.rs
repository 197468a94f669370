//! Equations with a dense Jacobian, solved by Newton's method.

use super::*;
use crate::solve::newton::{self, NewtonParams, NewtonWorkspace, NonlinearProblem};

/// R(u), or its Jacobian at u.
pub(super) type Map = fn(&[f64]) -> Vec<f64>;

/// Equations with their Jacobian as a dense matrix.
pub(super) struct Algebraic {
    pub(super) residual: Map,
    /// `[row][column]`, row by row.
    pub(super) jacobian: Map,
    size: usize,
    /// Whether it is preconditioned by its diagonal.
    pub(super) diagonal: bool,
    at: Vec<f64>,
    jacobi: Option<Jacobi<f64, Host>>,
}

impl Algebraic {
    pub(super) fn new(size: usize, residual: Map, jacobian: Map) -> Self {
        Self {
            residual,
            jacobian,
            size,
            diagonal: false,
            at: Vec::new(),
            jacobi: None,
        }
    }
}

impl NonlinearProblem<f64, Host> for Algebraic {
    fn size(&self) -> usize {
        self.size
    }
    fn residual(
        &mut self,
        u: &HostBuffer<f64>,
        r: &mut HostBuffer<f64>,
    ) -> Result<(), OperatorError> {
        r.copy_from_slice(&(self.residual)(u));
        Ok(())
    }
    fn linearize(&mut self, u: &HostBuffer<f64>) -> Result<(), StopReason> {
        self.at = (self.jacobian)(u);
        if self.diagonal {
            let diagonal = self.at.iter().step_by(self.size + 1).copied();
            let host = Host::with_threads(1)?;
            let diagonal = host.upload(&diagonal.collect::<Vec<f64>>())?;
            self.jacobi = Some(Jacobi::new(&host, &diagonal)?);
        }
        Ok(())
    }
    fn jacobian(&self, w: &HostBuffer<f64>, v: &mut HostBuffer<f64>) -> Result<(), OperatorError> {
        for (v, row) in v.iter_mut().zip(self.at.chunks(self.size)) {
            *v = row.iter().zip(&**w).map(|(a, w)| a * w).sum();
        }
        Ok(())
    }
    fn preconditioning(&self) -> Result<Preconditioning<'_, f64, Host>, StopReason> {
        Ok(Preconditioning::from(self.jacobi.as_ref()))
    }
}

/// Solves in a poisoned workspace.
pub(super) fn run_newton<T: Number, D: VectorOps<T>>(
    device: &D,
    problem: &mut dyn NonlinearProblem<T, D>,
    start: &[T],
    params: &NewtonParams,
    monitor: &mut dyn Monitor,
) -> Outcome<T> {
    let mut workspace = NewtonWorkspace::new(device, start.len(), params).unwrap();
    poison(device, workspace.vectors());
    let mut u = device.upload(start).unwrap();
    let result = newton::solve(device, problem, &mut u, &mut workspace, params, monitor);
    let x = download(device, &u);
    Outcome { result, x }
}

/// Solves on the host.
pub(super) fn solve_algebraic(
    problem: &mut Algebraic,
    start: &[f64],
    params: &NewtonParams,
) -> Outcome<f64> {
    let host = Host::with_threads(1).unwrap();
    run_newton(&host, problem, start, params, &mut ())
}

/// x² + y² = 4, x y = 1: the Jacobian is not symmetric.
pub(super) fn circle() -> Algebraic {
    Algebraic::new(
        2,
        |u| vec![u[0] * u[0] + u[1] * u[1] - 4.0, u[0] * u[1] - 1.0],
        |u| vec![2.0 * u[0], 2.0 * u[1], u[1], u[0]],
    )
}

/// One equation.
pub(super) fn scalar(residual: Map, jacobian: Map) -> Algebraic {
    Algebraic::new(1, residual, jacobian)
}

/// Unknowns of [`heat`].
pub(super) const CELLS: usize = 60;

/// -(κ u')' + u³ = 1 by differences, with a widely varying κ: a symmetric problem with varying diagonal.
pub(super) fn heat() -> Algebraic {
    fn c(i: usize) -> f64 {
        1.0 + (i * i) as f64
    }
    let residual = |u: &[f64]| {
        let at = |i: isize| u.get(i as usize).copied().unwrap_or(0.0);
        let one = |i: usize| {
            let (j, here) = (i as isize, u[i]);
            c(i) * (here - at(j - 1)) + c(i + 1) * (here - at(j + 1)) + here.powi(3) - 1.0
        };
        (0..u.len()).map(one).collect()
    };
    let jacobian = |u: &[f64]| {
        let entry = |i: usize, j: usize| match (i == j, i.abs_diff(j)) {
            (true, _) => c(i) + c(i + 1) + 3.0 * u[i] * u[i],
            (_, 1) => -c(i.max(j)),
            _ => 0.0,
        };
        let n = u.len();
        (0..n * n)
            .map(|place| entry(place / n, place % n))
            .collect()
    };
    Algebraic::new(CELLS, residual, jacobian)
}
