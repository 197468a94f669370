//! Solutions corrected along constants and motions that are weakly held.

use super::iterate::Discrete;
use super::newton::Equations;
use super::null_space::{Correction, WeakFunction, weakly_held};
use super::{Method, ProblemError};
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::SolveInfo;
use crate::solve::cg::SLACK;
use crate::solve::newton::NonlinearProblem as _;
use crate::vector::VectorOps;
use femto_platform::device::Buffer;

impl<T: Number, B: Backend + VectorOps<T>> Discrete<'_, T, B> {
    /// Corrects a solution of linear equations, of this size, unless the operator is not symmetric. Returns what is left
    /// undecided, relative to it; `None` if nothing is weakly held or that cannot be found.
    pub(super) fn correct_linear(
        &self,
        method: Method,
        residual: impl Fn(&B::Buffer<T>) -> Result<B::Buffer<T>, OperatorError>,
        (x, size): (&mut B::Buffer<T>, f64),
        info: &mut SolveInfo,
    ) -> Option<f64> {
        let is_symmetric = self.operator.is_symmetric();
        let found = match is_symmetric {
            true => Vec::new(),
            false => weakly_held(self.weak.0, self.operator, self.constraints).ok()?,
        };
        let (functions, limit) = match (is_symmetric, method) {
            (true, Method::Cg) => (self.weak.1, Some(f64::INFINITY)),
            // It may be indefinite.
            (true, _) => (self.weak.1, Some(self.limit(info))),
            _ => (&found[..], None),
        };
        if functions.is_empty() {
            return None;
        }
        let left = (self.correction(functions, limit))
            .apply(&residual, (&mut *x, size))
            .ok();
        let changed = residual(x).and_then(|r| Ok(self.device.norm(&r)?));
        info.true_residual = changed.unwrap_or(info.true_residual);
        left
    }

    /// The largest residual that a solution may have after a correction.
    fn limit(&self, info: &SolveInfo) -> f64 {
        let relative = self.solver.tolerance(T::PRECISION) * info.history.reference;
        let target = relative.max(self.solver.absolute_tolerance);
        SLACK * target.max(info.true_residual)
    }

    fn correction<'c>(
        &'c self,
        functions: &'c [WeakFunction],
        limit: Option<f64>,
    ) -> Correction<'c, B> {
        Correction {
            device: self.device,
            functions,
            blocks: self.weak.0,
            constraints: self.constraints,
            tolerance: self.solver.tolerance(T::PRECISION),
            limit,
        }
    }

    /// Corrects a solution of Newton's method along what its Jacobian holds weakly, as far as the residual allows. Returns
    /// what is left undecided, relative to the solution.
    pub(super) fn correct_newton(
        &self,
        equations: &mut Equations<'_, T, B>,
        u: &mut B::Buffer<T>,
        info: &mut SolveInfo,
    ) -> Result<Option<f64>, ProblemError> {
        equations.move_to(u)?;
        let functions = weakly_held(self.weak.0, equations.jacobian, self.constraints)?;
        if functions.is_empty() {
            return Ok(None);
        }
        let is_symmetric = equations.jacobian.is_symmetric();
        let limit = is_symmetric.then(|| self.limit(info));
        let size = self.device.norm(u)?;
        let mut residual = |u: &B::Buffer<T>| {
            let [mut r, mut forces] = [self.device.zeros(u.len())?, self.device.zeros(u.len())?];
            equations.residual(u, &mut forces)?;
            self.device.axpy(-1.0, &forces, &mut r)?;
            Ok(r)
        };
        let left = self
            .correction(&functions, limit)
            .apply(&mut residual, (u, size))?;
        info.true_residual = self.device.norm(&residual(u)?)?;
        Ok(Some(left))
    }
}
