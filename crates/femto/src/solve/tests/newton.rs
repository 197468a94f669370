//! Newton's method.

use super::algebraic::{Algebraic, CELLS, circle, heat, run_newton, scalar, solve_algebraic};
use super::*;
use crate::solve::newton::{self, Forcing, LineSearch, NewtonParams, NewtonWorkspace};

pub(super) const EXACT: NewtonParams = NewtonParams {
    stop: StopCriteria {
        relative_tolerance: 1e-13,
        absolute_tolerance: 0.0,
        max_iterations: 50,
        max_stalled: usize::MAX,
    },
    linear: LinearSolver::Gmres { restart: 30 },
    max_linear_iterations: 1000,
    forcing: Forcing::Fixed(1e-12),
    line_search: LineSearch {
        max_cuts: 25,
        decrease: 1e-4,
    },
};

/// [`EXACT`] with a change.
pub(super) fn but(change: impl FnOnce(&mut NewtonParams)) -> NewtonParams {
    let mut params = EXACT;
    change(&mut params);
    params
}

/// The orders of convergence of the last residuals above `floor`.
fn orders(history: &[f64], floor: f64) -> Vec<f64> {
    let logs: Vec<f64> = history
        .iter()
        .filter(|&&norm| norm > floor)
        .map(|norm| norm.ln())
        .collect();
    let order = |log: &[f64]| (log[2] - log[1]) / (log[1] - log[0]);
    logs.windows(3).map(order).collect()
}

#[test]
fn convergence_is_quadratic() {
    let info = solve_algebraic(&mut circle(), &[3.0, 0.3], &EXACT);
    let [x, y] = [info.x[0], info.x[1]];
    assert!((x * x + y * y - 4.0).abs() < 1e-12 && (x * y - 1.0).abs() < 1e-12);
    let info = info.result.unwrap();
    let orders = orders(&info.history.residuals, 1e-14);
    let last = *orders.last().unwrap();
    assert!((1.8..2.3).contains(&last), "{info:?}");
    assert!(info.iterations() <= 7, "{info:?}");
    assert!(
        info.history
            .newton_steps
            .iter()
            .all(|step| step.length == 1.0)
    );
    assert_eq!(info.history.residuals.len(), info.iterations() + 1);
    assert_eq!(info.reason, StopReason::RelativeTolerance);
}

/// With adaptive directions convergence stays superlinear, and the linear solver needs fewer steps.
#[test]
fn forcing_terms_spare_linear_steps() {
    let solve_with = |forcing, linear| {
        let params = but(|params| {
            params.stop.relative_tolerance = 1e-12;
            (params.forcing, params.linear) = (forcing, linear);
        });
        let outcome = solve_algebraic(&mut heat(), &[0.0; CELLS], &params);
        let found = (heat().residual)(&outcome.x);
        assert!(found.iter().all(|r| r.abs() < 1e-10), "{found:?}");
        outcome.result.unwrap()
    };
    for linear in [CG, EXACT.linear] {
        let exact = solve_with(EXACT.forcing, linear);
        let inexact = solve_with(Forcing::default(), linear);
        let (more, fewer) = (
            exact.history.linear_iterations(),
            inexact.history.linear_iterations(),
        );
        assert!(fewer < more, "{fewer} of {more}");
        assert!(inexact.iterations() <= exact.iterations() + 6);
    }
}

#[test]
fn the_diagonal_spares_linear_steps() {
    for linear in [CG, EXACT.linear] {
        let params = NewtonParams { linear, ..EXACT };
        let [plain, jacobi] = [false, true].map(|diagonal| {
            let mut problem = heat();
            problem.diagonal = diagonal;
            let outcome = solve_algebraic(&mut problem, &[0.0; CELLS], &params);
            outcome.result.unwrap().history.linear_iterations()
        });
        assert!(jacobi < plain, "{jacobi} of {plain}");
    }
}

fn atan() -> Algebraic {
    scalar(|u| vec![u[0].atan()], |u| vec![1.0 / (1.0 + u[0] * u[0])])
}

/// Full Newton steps from 10 diverge.
#[test]
fn the_line_search_makes_far_starts_converge() {
    let outcome = solve_algebraic(&mut atan(), &[10.0], &EXACT);
    assert!(outcome.x[0].abs() < 1e-12);
    let info = outcome.result.unwrap();
    assert!(info.history.newton_steps[0].length < 0.5, "{info:?}");
    let falls = |pair: &[f64]| pair[1] < pair[0];
    assert!(info.history.residuals.windows(2).all(falls), "{info:?}");

    let params = but(|params| params.line_search.max_cuts = 0);
    let outcome = solve_algebraic(&mut atan(), &[10.0], &params);
    assert_eq!(outcome.x, [10.0]);
    let reason = outcome.reason();
    assert!(matches!(reason, StopReason::LineSearch { length: 1.0, residual } if residual > 1.5));
}

/// A full step from 3 leads to ln of a negative number.
#[test]
fn a_residual_that_is_not_finite_shortens_the_step() {
    let mut problem = scalar(|u| vec![u[0].ln()], |u| vec![1.0 / u[0]]);
    let outcome = solve_algebraic(&mut problem, &[3.0], &EXACT);
    assert!((outcome.x[0] - 1.0).abs() < 1e-12);
    assert_eq!(outcome.result.unwrap().history.newton_steps[0].length, 0.5);

    let reason = solve_algebraic(&mut problem, &[-1.0], &EXACT).reason();
    assert!(
        matches!(reason, StopReason::Breakdown { value, .. } if value.is_nan()),
        "{reason}"
    );
    let mut nowhere = scalar(
        |u| vec![if u[0] == 3.0 { 1.0 } else { f64::NAN }],
        |_| vec![1.0],
    );
    let outcome = solve_algebraic(&mut nowhere, &[3.0], &EXACT);
    assert_eq!(outcome.x, [3.0]);
    let error = outcome.result.unwrap_err();
    assert!(error.to_string().contains("it is NaN"), "{error}");
    assert!(
        matches!(error.reason, StopReason::LineSearch { length, .. } if length < 1e-7),
        "{error}"
    );
}

#[test]
fn a_singular_jacobian_is_an_error() {
    let square = || scalar(|u| vec![u[0] * u[0] + 1.0], |u| vec![2.0 * u[0]]);
    let reason = solve_algebraic(&mut square(), &[0.0], &EXACT).reason();
    let StopReason::Direction(error) = reason else {
        panic!("{reason}");
    };
    assert!(matches!(error.reason, StopReason::Singular { .. }));
    let params = but(|params| params.linear = CG);
    let reason = solve_algebraic(&mut square(), &[0.0], &params).reason();
    let StopReason::Direction(error) = reason else {
        panic!("{reason}");
    };
    assert!(matches!(
        error.reason,
        StopReason::NotPositiveDefinite { .. }
    ));
    // There is no solution: the iteration must still end.
    let outcome = solve_algebraic(&mut square(), &[3.0], &EXACT);
    assert!(outcome.x[0].abs() < 1.0, "{outcome:?}");
    outcome.result.unwrap_err();
}

/// x² = 0 has a singular Jacobian at the solution: convergence is linear, halving x.
#[test]
fn a_double_root_is_found_slowly() {
    let mut problem = scalar(|u| vec![u[0] * u[0]], |u| vec![2.0 * u[0]]);
    let info = solve_algebraic(&mut problem, &[1.0], &EXACT)
        .result
        .unwrap();
    let orders = orders(&info.history.residuals, 0.0);
    assert!(orders.iter().all(|order| (order - 1.0).abs() < 1e-6));
    assert!(info.iterations() > 20);
}

/// A Jacobian that does not match the residual points uphill.
#[test]
fn a_wrong_jacobian_is_noticed() {
    let mut wrong = scalar(|u| vec![u[0] - 1.0], |_| vec![-1.0]);
    let reason = solve_algebraic(&mut wrong, &[3.0], &EXACT).reason();
    assert!(matches!(reason, StopReason::LineSearch { .. }), "{reason}");
}

/// One step of GMRES gives a usable direction, though less accurate than requested.
#[test]
fn directions_may_be_less_exact_than_asked_for() {
    let params = but(|params| {
        params.max_linear_iterations = 1;
        params.stop.relative_tolerance = 1e-6;
        params.stop.max_iterations = 500;
    });
    let outcome = solve_algebraic(&mut circle(), &[1.7, 0.9], &params);
    let info = outcome.result.unwrap();
    assert!(
        info.history
            .newton_steps
            .iter()
            .any(|step| !step.linear_converged)
    );
    assert!(
        info.history
            .newton_steps
            .iter()
            .all(|step| step.linear_iterations <= 1)
    );
}

#[test]
fn a_bad_diagonal_is_named() {
    let mut problem = heat();
    problem.diagonal = true;
    problem.jacobian = |u| vec![-1.0; u.len() * u.len()];
    let reason = solve_algebraic(&mut problem, &[0.0; CELLS], &EXACT).reason();
    let StopReason::Diagonal(error) = reason else {
        panic!("{reason}");
    };
    let wanted = JacobiError::NotPositive {
        index: 0,
        value: -1.0,
    };
    assert_eq!(*error, wanted);
}

#[test]
fn a_start_that_is_a_solution_stays() {
    let mut problem = scalar(|u| vec![u[0] - 2.0], |_| vec![1.0]);
    let outcome = solve_algebraic(&mut problem, &[2.0], &EXACT);
    assert_eq!(outcome.x, [2.0]);
    assert_eq!(outcome.result.unwrap().history.residuals, [0.0]);
    let params = but(|params| params.stop.absolute_tolerance = 0.1);
    let outcome = solve_algebraic(&mut problem, &[2.05], &params);
    assert_eq!(outcome.iterations(), 0);
    let reason = outcome.result.unwrap().reason;
    assert_eq!(reason, StopReason::AbsoluteTolerance);
    let mut none = Algebraic::new(0, |_| vec![], |_| vec![]);
    solve_algebraic(&mut none, &[], &EXACT).result.unwrap();
}

#[test]
fn steps_are_counted() {
    let params = but(|params| params.stop.max_iterations = 3);
    let outcome = solve_algebraic(&mut circle(), &[3.0, 0.3], &params);
    let norm = distance(&(circle().residual)(&outcome.x), &[0.0; 2]);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.reason, StopReason::NotConverged { .. }));
    assert_eq!((error.iterations(), error.history.residuals.len()), (3, 4));
    assert!((norm - error.history.residuals[3]).abs() < 1e-12);
}

#[test]
fn the_monitor_sees_every_step_and_can_stop() {
    let host = Host::with_threads(1).unwrap();
    let solve =
        |monitor: &mut dyn Monitor| run_newton(&host, &mut heat(), &[0.0; CELLS], &EXACT, monitor);
    let mut notes = Notes::until(|_| false);
    let info = solve(&mut notes).result.unwrap();
    let (newton, linear): (Vec<Iteration>, Vec<Iteration>) = notes
        .seen
        .iter()
        .partition(|iteration| !iteration.is_direction);
    let residuals = newton.iter().map(|step| step.residual);
    assert!(residuals.eq(info.history.residuals.iter().copied()));
    // The linear solver reports its initial state, too.
    let steps = info.history.linear_iterations() + info.iterations();
    assert_eq!(linear.len(), steps);

    let mut first = Notes::until(|it| !it.is_direction && it.number == 1);
    let error = solve(&mut first).result.unwrap_err();
    assert_eq!(error.reason, StopReason::Interrupted);
    assert_eq!(error.iterations(), 1);
    let outcome = solve(&mut Notes::until(|it| it.is_direction && it.number == 3));
    assert_eq!(outcome.x, [0.0; CELLS]);
    assert_eq!(outcome.reason(), StopReason::Interrupted);
}

#[test]
fn bad_parameters_and_lengths_are_errors() {
    let bad = [
        but(|params| params.stop.relative_tolerance = -1.0),
        but(|params| params.stop.absolute_tolerance = f64::NAN),
        but(|params| params.forcing = Forcing::Fixed(0.0)),
        but(|params| {
            let (first, most) = (0.3, 1.0);
            params.forcing = Forcing::EisenstatWalker { first, most };
        }),
        but(|params| params.line_search.decrease = 1.0),
    ];
    for params in bad {
        let reason = solve_algebraic(&mut circle(), &[1.0; 2], &params).reason();
        assert!(
            matches!(reason, StopReason::InvalidParameter { .. }),
            "{reason}"
        );
    }
    let reason = solve_algebraic(&mut circle(), &[1.0; 3], &EXACT).reason();
    let wanted = "the start of the solution holds 3 numbers where 2 are needed";
    assert_eq!(reason.to_string(), wanted);

    let host = Host::with_threads(1).unwrap();
    let mut u = host.zeros(2).unwrap();
    let mut workspace = NewtonWorkspace::new(&host, 2, &EXACT).unwrap();
    let params = but(|params| params.linear = CG);
    let problem = &mut circle();
    let error = newton::solve(&host, problem, &mut u, &mut workspace, &params, &mut ());
    assert_eq!(error.unwrap_err().reason, StopReason::Workspace);
}
