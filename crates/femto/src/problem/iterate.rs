//! The iterations, by whichever method.

use super::newton::{Equations, Extension};
use super::observer::Watch;
use super::{Free, Method, PreconditionerKind, ProblemError, SolveError, SolveInfo, SolverParams};
use crate::operator::Backend;
use crate::solve::cg::{self, CgWorkspace};
use crate::solve::gmres::{self, GmresWorkspace};
use crate::solve::newton::{
    self, Forcing, NewtonParams, NewtonWorkspace, NonlinearProblem, Progress,
};
use crate::solve::{Iteration, Preconditioner, System};
use crate::vector::VectorOps;
use crate::{Number, Operator};
use std::ops::ControlFlow;

/// How small the residual of the extension of boundary values is made, relative to that of zeros.
const EXTENSION: f64 = 1e-3;

/// What all methods are given.
pub(super) struct Given<'a, T: Number, B: Backend> {
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

impl<T: Number, B: Backend + VectorOps<T>> Given<'_, T, B> {
    /// Conjugate gradients on T-vectors.
    pub(super) fn cg(
        &self,
        inverse: &dyn Preconditioner<T, B>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ProblemError> {
        let (b, mut x) = (self.upload(self.b)?, self.start()?);
        let params = self.solver.cg();
        let mut workspace = CgWorkspace::new(self.device, self.b.len())?;
        let operator = Free(self.operator);
        let system = self.system(&operator, inverse);
        let mut see = |iteration| watch.iteration(iteration);
        let solved = cg::solve(&system, &b, &mut x, &mut workspace, &params, &mut see);
        let outcome = solved.map(Into::into).map_err(Into::into);
        Ok((self.read(&x, self.b.len())?, outcome))
    }

    /// GMRES on T-vectors.
    pub(super) fn gmres(
        &self,
        inverse: &dyn Preconditioner<T, B>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ProblemError> {
        let (b, mut x) = (self.upload(self.b)?, self.start()?);
        let params = self.solver.gmres();
        let mut workspace = GmresWorkspace::new(self.device, self.b.len(), &params)?;
        let operator = Free(self.operator);
        let system = self.system(&operator, inverse);
        let mut see = |iteration| watch.iteration(iteration);
        let solved = gmres::solve(&system, &b, &mut x, &mut workspace, &params, &mut see);
        let outcome = solved.map(Into::into).map_err(Into::into);
        Ok((self.read(&x, self.b.len())?, outcome))
    }

    /// Newton's method on L-vectors, with directions from `krylov`.
    pub(super) fn newton(
        &self,
        jacobian: &mut Operator<T, B>,
        krylov: Method,
        watch: &mut Watch<'_>,
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
            None => self.extended(&mut equations, &mut workspace, &params, watch)?,
        };
        let mut see = |progress| match progress {
            Progress::Linear(iteration) => watch.direction(iteration),
            Progress::Newton(step) => watch.iteration(Iteration {
                number: step.number,
                residual: step.residual,
                target: step.target,
            }),
        };
        let solved = newton::solve(
            device,
            &mut equations,
            &mut u,
            &mut workspace,
            &params,
            &mut see,
        );
        let outcome = solved.map(Into::into).map_err(Into::into);
        Ok((self.read(&u, dofs)?, outcome))
    }

    /// The boundary values, extended inwards by the Jacobian at zero; by zeros where that has no solution.
    fn extended(
        &self,
        equations: &mut Equations<'_, T, B>,
        workspace: &mut NewtonWorkspace<T, B>,
        params: &NewtonParams,
        watch: &mut Watch<'_>,
    ) -> Result<B::Buffer<T>, ProblemError> {
        let mut u = self.with_boundary_values()?;
        if self.boundary_values.iter().all(|&value| value == 0.0) {
            return Ok(u);
        }
        equations.linearize(&self.device.zeros(self.operator.dofs())?)?;
        let roughly = NewtonParams {
            relative_tolerance: EXTENSION,
            forcing: Forcing::Fixed(EXTENSION / 2.0),
            max_iterations: 1,
            ..*params
        };
        let mut see = |progress| match progress {
            Progress::Linear(iteration) => watch.direction(iteration),
            Progress::Newton(_) => ControlFlow::Continue(()),
        };
        let mut extension = Extension(equations);
        match newton::solve(
            self.device,
            &mut extension,
            &mut u,
            workspace,
            &roughly,
            &mut see,
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

    fn system<'s>(
        &'s self,
        operator: &'s Free<'s, T, B>,
        preconditioner: &'s dyn Preconditioner<T, B>,
    ) -> System<'s, T, B> {
        System {
            device: self.device,
            operator,
            preconditioner,
        }
    }

    /// x where it starts.
    fn start(&self) -> Result<B::Buffer<T>, ProblemError> {
        match self.start {
            Some(start) => self.upload(&start[..self.b.len()]),
            None => Ok(self.device.zeros(self.b.len())?),
        }
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

impl Watch<'_> {
    /// Tells the observer of a step of the solver, and asks whether to go on.
    fn iteration(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.0.iteration(iteration);
        self.go_on()
    }

    /// The same of a step towards a direction of Newton's method.
    fn direction(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.0.direction(iteration);
        self.go_on()
    }

    fn go_on(&mut self) -> ControlFlow<()> {
        match self.0.stop() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
