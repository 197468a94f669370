//! Newton's method with preconditioners that are replaced.

use super::algebraic::{Algebraic, CELLS, heat, run_newton};
use super::newton::but;
use super::*;
use crate::solve::newton::{NewtonParams, NonlinearProblem};

/// Iterations allowed with the first preconditioner.
const ALLOWED: usize = 5;

/// Equations without a preconditioner, until there have been [`ALLOWED`] iterations.
struct Patient {
    equations: Algebraic,
    /// Whether there is another preconditioner.
    has_other: bool,
    /// Iterations before it was replaced, and the number of solves that reached their tolerance.
    replaced: Vec<usize>,
    solved: usize,
}

impl NonlinearProblem<f64, Host> for Patient {
    fn size(&self) -> usize {
        self.equations.size()
    }
    fn residual(
        &mut self,
        u: &HostBuffer<f64>,
        r: &mut HostBuffer<f64>,
    ) -> Result<(), OperatorError> {
        self.equations.residual(u, r)
    }
    fn linearize(&mut self, u: &HostBuffer<f64>) -> Result<(), StopReason> {
        self.equations.linearize(u)
    }
    fn jacobian(&self, w: &HostBuffer<f64>, v: &mut HostBuffer<f64>) -> Result<(), OperatorError> {
        self.equations.jacobian(w, v)
    }
    fn preconditioning(&self) -> Result<Preconditioning<'_, f64, Host>, StopReason> {
        self.equations.preconditioning()
    }
    fn allowed(&self, _: f64) -> usize {
        match self.replaced.is_empty() {
            true => ALLOWED,
            false => usize::MAX,
        }
    }
    fn solved(&mut self, history: &History) {
        assert!(history.iterations() > 0);
        self.solved += 1;
    }
    fn replace_preconditioner(
        &mut self,
        u: &HostBuffer<f64>,
        failure: &SolveError,
    ) -> Result<bool, StopReason> {
        self.replaced.push(failure.iterations());
        if self.has_other {
            self.equations.diagonal = true;
            self.equations.linearize(u)?;
        }
        Ok(self.has_other)
    }
}

fn solve_patiently(has_other: bool) -> (Patient, SolveInfo) {
    let mut problem = Patient {
        equations: heat(),
        has_other,
        replaced: Vec::new(),
        solved: 0,
    };
    let params: NewtonParams = but(|params| params.stop.relative_tolerance = 1e-10);
    let host = Host::with_threads(1).unwrap();
    let outcome = run_newton(&host, &mut problem, &[0.0; CELLS], &params, &mut ());
    (problem, outcome.result.unwrap())
}

#[test]
fn a_slow_preconditioner_is_replaced_within_a_direction() {
    let (problem, info) = solve_patiently(true);
    assert_eq!(problem.replaced, [ALLOWED]);
    let steps = &info.history.newton_steps;
    assert_eq!(problem.solved, steps.len());
    assert!(steps.iter().all(|step| step.linear_converged));
    // Its iterations count as well.
    assert!(steps[0].linear_iterations > ALLOWED, "{steps:?}");
}

#[test]
fn without_another_one_the_direction_is_less_accurate() {
    let (problem, info) = solve_patiently(false);
    assert_eq!(problem.replaced, [ALLOWED]);
    let first = &info.history.newton_steps[0];
    assert_eq!(
        (first.linear_iterations, first.linear_converged),
        (ALLOWED, false)
    );
    let after = &info.history.newton_steps[1..];
    assert!(after.iter().all(|step| step.linear_iterations > ALLOWED));
}
