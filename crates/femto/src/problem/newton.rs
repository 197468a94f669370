//! A problem's nonlinear equations for Newton's method, and their start.

use super::age::Age;
use super::iterate::MAX_STALLED;
use super::multigrid::AnyPreconditioner;
use super::{Constrained, PreconditionerChoice, PreconditionerKind, PreconditionerReason};
use crate::multigrid::CONVECTIVE;
use crate::operator::{Backend, OperatorError};
use crate::solve::newton::NonlinearProblem;
use crate::solve::{History, Jacobi, LinearOperator, Preconditioning, SolveError, StopReason};
use crate::vector::{Projector, VectorOps};
use crate::{Number, Operator};

/// R(u) = P (A(u) - b): zero where u is constrained and keeps its boundary values.
pub(super) struct Equations<'a, T: Number, B: Backend> {
    pub(super) device: &'a B,
    pub(super) operator: &'a Operator<T, B>,
    /// The Jacobian; the state is its first nodal fields.
    pub(super) jacobian: &'a mut Operator<T, B>,
    /// Whether the state is the iterate already: matrices of elements are assembled anew for each state.
    pub(super) is_at_iterate: bool,
    /// Its multigrid preconditioner, if that is wanted.
    pub(super) multigrid: &'a mut Option<AnyPreconditioner<T, B>>,
    /// The inverse of its diagonal, if that is wanted.
    pub(super) jacobi: Option<Jacobi<T, B>>,
    pub(super) b: &'a B::Buffer<T>,
    /// |b|.
    pub(super) loads: f64,
    /// |A(u)| of the last residual, including the forces at the constrained entries.
    pub(super) forces: f64,
    pub(super) projector: &'a Projector<T, B>,
    pub(super) choice: &'a mut PreconditionerChoice,
    pub(super) age: Age,
}

impl<T: Number, B: Backend + VectorOps<T>> Equations<'_, T, B> {
    /// Sets up multigrid at `u`; Jacobi takes its place if it cannot be.
    fn set_up(&mut self, u: &B::Buffer<T>) -> Result<(), StopReason> {
        let Some(multigrid) = self.multigrid else {
            return Ok(());
        };
        self.age = Age::default();
        multigrid.set_state(u)?;
        match multigrid.set_up() {
            Err(error) if self.choice.is_on_trial() => {
                self.take_jacobi(PreconditionerReason::NoMultigrid(error))
            }
            set_up => {
                set_up?;
                // Directions are solved for roughly, where cycles gain less.
                let levels = multigrid.levels();
                match PreconditionerReason::much_convection(&levels, CONVECTIVE / 2.0) {
                    Some(reason) if self.choice.is_on_trial() => self.take_jacobi(reason),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Makes the iterate `u` the Jacobian's state, once between two residuals.
    pub(super) fn move_to(&mut self, u: &B::Buffer<T>) -> Result<(), OperatorError> {
        if !self.is_at_iterate {
            self.jacobian.set_nodal(0, u)?;
            self.is_at_iterate = true;
        }
        Ok(())
    }

    pub(super) fn constrained_jacobian(&self) -> Constrained<'_, T, B> {
        Constrained::new(self.jacobian, self.projector)
    }

    /// Jacobi instead of multigrid, from this linearisation on.
    fn take_jacobi(&mut self, reason: PreconditionerReason) -> Result<(), StopReason> {
        *self.choice = PreconditionerChoice::jacobi(reason);
        self.age = Age::default();
        *self.multigrid = None;
        self.jacobi = Some(self.constrained_jacobian().jacobi::<StopReason>()?);
        Ok(())
    }
}

impl<T: Number, B: Backend + VectorOps<T>> NonlinearProblem<T, B> for Equations<'_, T, B> {
    fn size(&self) -> usize {
        self.operator.dofs()
    }

    fn residual(&mut self, u: &B::Buffer<T>, r: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.is_at_iterate = false;
        self.operator.apply(u, r)?;
        self.forces = self.device.norm(r)?;
        self.device.axpy(-1.0, self.b, r)?;
        Ok(self.projector.project(self.device, r)?)
    }

    fn forces(
        &mut self,
        u: &B::Buffer<T>,
        scratch: &mut B::Buffer<T>,
    ) -> Result<Option<f64>, OperatorError> {
        // Loads that are terms of the form, as in A(u) = K u - b, cancel in A(u), but not in A'(u) u = K u.
        self.move_to(u)?;
        self.jacobian.apply(u, scratch)?;
        let change = self.device.norm(scratch)?;
        let change = if change.is_finite() { change } else { 0.0 };
        Ok(Some(self.forces.max(self.loads).max(change)))
    }

    fn cancelling(
        &mut self,
        u: &B::Buffer<T>,
        scratch: &mut B::Buffer<T>,
    ) -> Result<f64, OperatorError> {
        self.move_to(u)?;
        self.jacobian.diagonal(scratch)?;
        self.device.multiply(u, scratch)?;
        self.projector.project(self.device, scratch)?;
        Ok(self.device.norm(scratch)?)
    }

    fn linearize(&mut self, u: &B::Buffer<T>) -> Result<(), StopReason> {
        self.move_to(u)?;
        if self.multigrid.is_some() {
            return match self.age.begin() {
                true => Ok(()),
                false => self.set_up(u),
            };
        }
        if self.choice.kind == PreconditionerKind::Jacobi {
            self.jacobi = Some(self.constrained_jacobian().jacobi::<StopReason>()?);
        }
        Ok(())
    }

    fn allowed(&self, tolerance: f64) -> usize {
        self.age.allowed(tolerance)
    }

    fn max_stalled(&self) -> usize {
        match self.choice.is_on_trial() {
            true => MAX_STALLED,
            false => usize::MAX,
        }
    }

    fn solved(&mut self, history: &History) {
        if self.multigrid.is_some() {
            self.age.solved(history);
        }
    }

    fn replace_preconditioner(
        &mut self,
        u: &B::Buffer<T>,
        failure: &SolveError,
    ) -> Result<bool, StopReason> {
        if self.age.is_known() {
            self.set_up(u)?;
            return Ok(true);
        }
        let is_on_trial = self.choice.is_on_trial();
        if is_on_trial {
            self.take_jacobi(PreconditionerReason::GaveUp {
                iterations: failure.iterations(),
                reason: failure.reason.clone(),
            })?;
        }
        Ok(is_on_trial)
    }

    fn jacobian(&self, w: &B::Buffer<T>, v: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.constrained_jacobian().apply(w, v)
    }

    fn preconditioning(&self) -> Result<Preconditioning<'_, T, B>, StopReason> {
        match &self.multigrid {
            Some(multigrid) => Ok(multigrid.preconditioning()?),
            None => Ok(Preconditioning::from(self.jacobi.as_ref())),
        }
    }
}

/// J u = 0 at the free entries, with the current Jacobian: extends boundary values smoothly inwards, so
/// that Newton's method does not start with a jump next to the boundary.
pub(super) struct Extension<'e, 'a, T: Number, B: Backend>(pub(super) &'e mut Equations<'a, T, B>);

impl<T: Number, B: Backend + VectorOps<T>> NonlinearProblem<T, B> for Extension<'_, '_, T, B> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn residual(&mut self, u: &B::Buffer<T>, r: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.0.jacobian(u, r)
    }

    fn linearize(&mut self, _: &B::Buffer<T>) -> Result<(), StopReason> {
        Ok(())
    }

    fn jacobian(&self, w: &B::Buffer<T>, v: &mut B::Buffer<T>) -> Result<(), OperatorError> {
        self.0.jacobian(w, v)
    }

    fn preconditioning(&self) -> Result<Preconditioning<'_, T, B>, StopReason> {
        self.0.preconditioning()
    }

    fn solved(&mut self, history: &History) {
        self.0.solved(history);
    }
}
