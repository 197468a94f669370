//! `Assembled` equations and the stages of their solution.

use super::boundary_values::BoundaryValues;
use super::iterate::{Discrete, Outcome};
use super::monitor::Stages;
use super::multigrid::{AnyPreconditioner, MakeMultigrid};
use super::null_space::{NullSpace, Unheld};
use super::patience::Patience;
use super::{
    Discretization, ErrorNorms, Exact, FreeFunctions, GridFunction, Memory, Method, MultigridLevel,
    PreconditionerChoice, ProblemError, Solution, SolverParams, Stage, StageMonitor, Unsolved,
};
use crate::operator::{Application, Backend, Scatter};
use crate::solve::{Jacobi, Monitor, Preconditioning};
use crate::vector::{Projector, VectorOps};
use crate::{Number, Operator, Quadrature};
use femto_fem::geometry::CornerWarning;
use femto_fem::space::{Block, Constraints};
use femto_platform::device::DeviceError;

/// A problem with its equations on a device, ready for the iterations.
pub struct Assembled<'a, T: Number, B: Backend> {
    pub(super) device: B,
    pub(super) blocks: Vec<Block>,
    pub(super) warnings: Vec<CornerWarning>,
    pub(super) operator: Operator<T, B>,
    pub(super) equation: Equation<T, B>,
    pub(super) preconditioner: PreconditionerChoice,
    pub(super) quadrature: Quadrature,
    pub(super) time: f64,
    pub(super) scatter: Scatter,
    /// The right-hand side, an L-vector; for linear forms projected, with the boundary values' part.
    pub(super) b: B::Buffer<T>,
    pub(super) constraints: Constraints,
    /// The projection to vectors that are zero where they are constrained.
    pub(super) projector: Projector<T, B>,
    pub(super) boundary_values: BoundaryValues,
    /// What the equations leave out of each component of u.
    pub(super) constants: Vec<f64>,
    /// Makes multigrid if Jacobi is watched and turns out slow.
    pub(super) multigrid: Option<(Box<MakeMultigrid<'a, T, B>>, Patience)>,
    /// What the constraints leave free.
    pub(super) null_space: Option<(NullSpace, FreeFunctions)>,
    /// What else is not held, or hardly.
    pub(super) unheld: Unheld,
    /// The initial iterate, an L-vector.
    pub(super) start: Option<Vec<f64>>,
    pub(super) exact: Option<Exact<'a>>,
    pub(super) solver: SolverParams,
    /// Whether fields or terms on facets may make some rows far larger than others.
    pub(super) may_be_uneven: bool,
}

/// Linear or nonlinear equations, with method and preconditioner or Jacobian.
pub(super) enum Equation<T: Number, B: Backend> {
    /// A x = b by conjugate gradients or GMRES.
    Linear(Method, LinearPreconditioner<T, B>),
    /// A(u) = b by Newton's method.
    Newton(Box<NewtonEquation<T, B>>),
}

/// The preconditioner of a linear form.
pub(super) enum LinearPreconditioner<T: Number, B: Backend> {
    Identity,
    Jacobi(Jacobi<T, B>),
    Multigrid(AnyPreconditioner<T, B>),
}

impl<T: Number, B: Backend> LinearPreconditioner<T, B> {
    /// For a linear solver.
    pub(super) fn preconditioning(&self) -> Result<Preconditioning<'_, T, B>, DeviceError> {
        match self {
            Self::Identity => Ok(Preconditioning::Identity),
            Self::Jacobi(jacobi) => Ok(Preconditioning::Jacobi(jacobi)),
            Self::Multigrid(multigrid) => multigrid.preconditioning(),
        }
    }
}

/// The Jacobian, its multigrid preconditioner if that is wanted, and the method for directions.
pub(super) struct NewtonEquation<T: Number, B: Backend> {
    pub(super) jacobian: Operator<T, B>,
    pub(super) multigrid: Option<AnyPreconditioner<T, B>>,
    pub(super) krylov: Method,
}

impl<T: Number, B: Backend> Equation<T, B> {
    fn multigrid(&self) -> Option<&AnyPreconditioner<T, B>> {
        match self {
            Self::Linear(_, LinearPreconditioner::Multigrid(multigrid)) => Some(multigrid),
            Self::Linear(..) => None,
            Self::Newton(newton) => newton.multigrid.as_ref(),
        }
    }
}

impl<T, B> Assembled<'_, T, B>
where
    T: Number,
    B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
{
    /// The blocks of the space.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The entries of L-vectors with given values.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// The operator of the form.
    pub fn operator(&self) -> &Operator<T, B> {
        &self.operator
    }

    /// The operator that the linear solver applies: that of the form, or its Jacobian.
    pub fn linear_operator(&self) -> &Operator<T, B> {
        match &self.equation {
            Equation::Linear(..) => &self.operator,
            Equation::Newton(newton) => &newton.jacobian,
        }
    }

    /// The levels of the multigrid preconditioner, finest first; empty without one. Levels of aggregates are
    /// known once it is set up, for nonlinear forms at the first linearisation.
    pub fn multigrid_levels(&self) -> Vec<MultigridLevel> {
        self.equation
            .multigrid()
            .map_or_else(Vec::new, |it| it.levels())
    }

    /// One cycle of the multigrid preconditioner's levels from a level on, to be timed; `None` without one that is set up.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError> {
        match self.equation.multigrid() {
            Some(multigrid) => multigrid.cycle_from(level),
            None => Ok(None),
        }
    }

    /// The preconditioner, and why it is in use.
    pub fn preconditioner(&self) -> &PreconditionerChoice {
        &self.preconditioner
    }

    /// What the boundary conditions of a linear symmetric form leave free, if anything.
    pub fn free(&self) -> Option<FreeFunctions> {
        self.null_space.as_ref().map(|(_, free)| *free)
    }

    /// The right-hand side, an L-vector: for linear forms less the form applied to the boundary values, less
    /// constants if these have no part in it, and zero at constrained entries.
    pub fn right_hand_side(&self) -> &B::Buffer<T> {
        &self.b
    }

    /// The method of solution.
    pub fn method(&self) -> Method {
        match self.equation {
            Equation::Linear(method, _) => method,
            Equation::Newton(_) => Method::Newton,
        }
    }

    /// Solves the equations:
    ///
    /// 7. solve: conjugate gradients, GMRES or Newton's method, from the start
    /// 8. extend: the boundary values at the constrained entries → the L-vector u
    /// 9. errors: u and the exact solution → norms
    ///
    /// # Errors
    /// [`ProblemError::Unsolved`], with the last iterate; or not enough memory.
    pub fn solve(&mut self, monitor: &mut dyn StageMonitor) -> Result<Solution, ProblemError> {
        if monitor.stop() {
            let stage = Stage::Solve;
            return Err(ProblemError::Interrupted { stage });
        }
        monitor.begin(Stage::Solve);
        let outcome = self.iterate(monitor);
        monitor.end(Stage::Solve);
        let Outcome {
            x: mut values,
            result: outcome,
            settling,
            undecided,
        } = outcome?;
        let mut stages = Stages(monitor);
        stages.last(Stage::Extend, || {
            self.extend(&mut values);
            if let Some((null_space, _)) = &self.null_space {
                null_space.project(&mut values);
                self.boundary_values.insert(&self.constraints, &mut values);
            }
        });
        let u = GridFunction {
            blocks: self.blocks.clone(),
            values,
        };
        let exact = self.exact.as_ref();
        let errors = exact.map(|exact| stages.last(Stage::Errors, || self.errors(&u, exact)));
        let (warnings, memory) = (self.warnings.clone(), self.memory());
        let (preconditioner, free) = (self.preconditioner.clone(), self.free());
        match outcome {
            Err(error) => Err(ProblemError::Unsolved(Box::new(Unsolved {
                error,
                u,
                errors,
                warnings,
                memory,
                preconditioner,
                free,
                loose_parts: self.unheld.loose,
            }))),
            Ok(info) => Ok(Solution {
                u,
                info,
                errors,
                warnings,
                memory,
                preconditioner,
                levels: self.multigrid_levels(),
                free,
                settling,
                undecided,
                barely_held: self.unheld.barely,
                loose_parts: self.unheld.loose,
            }),
        }
    }

    /// u, an L-vector, from a solution of the equations.
    pub(super) fn extend(&self, x: &mut [f64]) {
        add_constants(x, &self.constants, 1.0);
        self.boundary_values.insert(&self.constraints, x);
    }

    fn iterate(&mut self, monitor: &mut dyn Monitor) -> Result<Outcome, ProblemError> {
        let values = (self.boundary_values).less(&self.constraints, &self.constants);
        let discrete = Discrete {
            device: &self.device,
            operator: &self.operator,
            solver: &self.solver,
            b: &self.b,
            constraints: &self.constraints,
            projector: &self.projector,
            boundary_values: &values,
            start: self.start.as_deref(),
            multigrid: self.multigrid.as_ref().map(|(make, it)| (&**make, *it)),
            null_space: self.null_space.as_ref().map(|(null_space, _)| null_space),
            weak: (&self.blocks, &self.unheld.weak),
            may_be_uneven: self.may_be_uneven,
        };
        let choice = &mut self.preconditioner;
        match &mut self.equation {
            Equation::Linear(method, preconditioner) => {
                discrete.krylov(*method, (preconditioner, choice), monitor)
            }
            Equation::Newton(newton) => discrete.newton((newton, choice), monitor),
        }
    }

    fn errors(&self, u: &GridFunction, exact: &Exact<'_>) -> Result<ErrorNorms, ProblemError> {
        let on = Discretization {
            scatter: self.scatter,
            ..u.discretization(self.quadrature, self.time)
        };
        self.device
            .enter(|| on.errors(&self.device, &u.values, exact))
    }

    fn memory(&self) -> Memory {
        let dofs = self.operator.dofs();
        let multigrid = self.equation.multigrid();
        let restart = self.solver.restart.min(dofs);
        // Besides b and x on the device, and u on the host.
        let krylov = |method| match method {
            // r, z, p, A p and the diagonal.
            Method::Cg => 5,
            // The basis, z and the diagonal, or at most as many directions as vectors of the basis.
            Method::Gmres | Method::Newton => match multigrid {
                None => restart + 3,
                Some(_) => 2 * restart + 2,
            },
        };
        let (numbers, jacobian) = match &self.equation {
            Equation::Linear(method, _) => ((2 + krylov(*method)) * dofs, 0),
            // Newton's five vectors and the state.
            Equation::Newton(newton) => {
                let numbers = (8 + krylov(newton.krylov)) * dofs;
                (numbers, newton.jacobian.bytes())
            }
        };
        let (levels, cycle) = multigrid.map_or((0, 0), |it| (it.bytes(), it.vector_bytes()));
        let blocks = self.blocks.iter();
        let of_space = |block: &Block| block.space.bytes() - block.space.restriction().bytes();
        Memory {
            geometry: blocks.clone().map(|block| block.geometry.bytes()).sum(),
            space: blocks.map(of_space).sum(),
            operator: self.operator.bytes() + jacobian + levels,
            vectors: numbers * T::BYTES + cycle + dofs * size_of::<f64>() + self.projector.bytes(),
        }
    }
}

/// u = u + `factor` constants, for an L-vector u.
pub(super) fn add_constants(u: &mut [f64], constants: &[f64], factor: f64) {
    if constants.iter().any(|&constant| constant != 0.0) {
        for row in u.chunks_exact_mut(constants.len()) {
            let components = row.iter_mut().zip(constants);
            components.for_each(|(u, constant)| *u += factor * constant);
        }
    }
}
