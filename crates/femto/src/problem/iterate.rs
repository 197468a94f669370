//! Iterations of a linear or nonlinear problem, by its method.

use super::newton::{Equations, Extension};
use super::{Constrained, Method, PreconditionerKind, ProblemError, SolverParams};
use crate::operator::Backend;
use crate::solve::krylov::{self, KrylovWorkspace};
use crate::solve::newton::{self, Forcing, NewtonParams, NewtonWorkspace, NonlinearProblem};
use crate::solve::{
    Iteration, Jacobi, Monitor, Preconditioning, SolveError, SolveInfo, StopCriteria, System,
};
use crate::vector::VectorOps;
use crate::{Number, Operator};
use std::ops::ControlFlow;

/// The residual of the extension of boundary values, relative to that of zeros.
const EXTENSION: f64 = 1e-3;

/// The discrete equations and their solver, for all methods.
pub(super) struct Discrete<'a, T: Number, B: Backend> {
    pub(super) device: &'a B,
    pub(super) operator: &'a Operator<T, B>,
    pub(super) solver: &'a SolverParams,
    pub(super) preconditioner: PreconditionerKind,
    /// A T-vector, for Newton's method an L-vector.
    pub(super) b: &'a [f64],
    pub(super) boundary_values: &'a [f64],
    /// An L-vector.
    pub(super) start: Option<&'a [f64]>,
}

/// The last iterate, an L-vector or T-vector, and how it went.
pub(super) type Outcome = (Vec<f64>, Result<SolveInfo, SolveError>);

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
    /// Conjugate gradients or GMRES on T-vectors.
    pub(super) fn krylov(
        &self,
        method: Method,
        jacobi: Option<&Jacobi<T, B>>,
        monitor: &mut dyn Monitor,
    ) -> Result<Outcome, ProblemError> {
        let (size, b) = (self.b.len(), self.upload(self.b)?);
        let mut x = match self.start {
            Some(start) => self.upload(&start[..size])?,
            None => self.device.zeros(size)?,
        };
        let params = self.solver.krylov(method);
        let mut workspace = KrylovWorkspace::new(self.device, size, params.solver)?;
        let mut system = System {
            device: self.device,
            operator: &Constrained(self.operator),
            preconditioning: Preconditioning::from(jacobi),
        };
        let outcome = krylov::solve(&mut system, &b, &mut x, &mut workspace, &params, monitor);
        Ok((self.read(&x, size)?, outcome))
    }

    /// Newton's method on L-vectors, with directions from `krylov`.
    pub(super) fn newton(
        &self,
        jacobian: &mut Operator<T, B>,
        krylov: Method,
        monitor: &mut dyn Monitor,
    ) -> Result<Outcome, ProblemError> {
        let device = self.device;
        let dofs = self.operator.dofs();
        let mut equations = Equations {
            device,
            operator: self.operator,
            jacobian,
            b: self.upload(self.b)?,
            free: self.mask(1.0)?,
            constrained: self.mask(0.0)?,
            preconditioner: self.preconditioner,
        };
        let params = self.solver.newton(krylov);
        let mut workspace = NewtonWorkspace::new(device, dofs, &params)?;
        let mut u = match self.start {
            Some(_) => self.with_boundary_values()?,
            None => self.extended(&mut equations, &mut workspace, &params, monitor)?,
        };
        let outcome = newton::solve(
            device,
            &mut equations,
            &mut u,
            &mut workspace,
            &params,
            monitor,
        );
        Ok((self.read(&u, dofs)?, outcome))
    }

    /// The boundary values, extended inwards by the Jacobian at zero; by zeros where that has no solution.
    fn extended(
        &self,
        equations: &mut Equations<'_, T, B>,
        workspace: &mut NewtonWorkspace<T, B>,
        params: &NewtonParams,
        monitor: &mut dyn Monitor,
    ) -> Result<B::Buffer<T>, ProblemError> {
        let mut u = self.with_boundary_values()?;
        if self.boundary_values.iter().all(|&value| value == 0.0) {
            return Ok(u);
        }
        equations.linearize(&self.device.zeros(self.operator.dofs())?)?;
        let roughly = NewtonParams {
            stop: StopCriteria {
                relative_tolerance: EXTENSION,
                max_iterations: 1,
                ..params.stop
            },
            forcing: Forcing::Fixed(EXTENSION / 2.0),
            ..*params
        };
        let mut directions = |iteration: Iteration| match iteration.is_direction {
            true => monitor.record(iteration),
            false => ControlFlow::Continue(()),
        };
        let mut extension = Extension(equations);
        match newton::solve(
            self.device,
            &mut extension,
            &mut u,
            workspace,
            &roughly,
            &mut directions,
        ) {
            Ok(_) => Ok(u),
            Err(_) => self.with_boundary_values(),
        }
    }

    /// The start, with the boundary values: an L-vector.
    fn with_boundary_values(&self) -> Result<B::Buffer<T>, ProblemError> {
        let mut u = match self.start {
            Some(start) => start.to_vec(),
            None => vec![0.0; self.operator.dofs()],
        };
        u[self.operator.free_dofs()..].copy_from_slice(self.boundary_values);
        self.upload(&u)
    }

    /// `at_free` at free nodes, one less that at the others.
    fn mask(&self, at_free: f64) -> Result<B::Buffer<T>, ProblemError> {
        let (dofs, free) = (self.operator.dofs(), self.operator.free_dofs());
        let entry = |i: usize| if i < free { at_free } else { 1.0 - at_free };
        let mask: Vec<f64> = (0..dofs).map(entry).collect();
        self.upload(&mask)
    }

    fn upload(&self, values: &[f64]) -> Result<B::Buffer<T>, ProblemError> {
        let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
        Ok(self.device.upload(&values)?)
    }

    fn read(&self, x: &B::Buffer<T>, len: usize) -> Result<Vec<f64>, ProblemError> {
        let mut values = vec![T::default(); len];
        self.device.read(x, &mut values)?;
        Ok(values.iter().map(|value| value.to_f64()).collect())
    }
}
