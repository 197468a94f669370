//! Newton's method on small equations whose answers are known.

use super::systems::{CELLS, Outcome, circle, heat, run, scalar, solve_algebraic};
use super::*;
use crate::solve::gmres::GmresFailure;
use crate::solve::{JacobiError, cg::CgFailure};
use femto_platform::device::host::Host;

const EXACT: NewtonParams = NewtonParams {
    relative_tolerance: 1e-13,
    absolute_tolerance: 0.0,
    max_iterations: 50,
    linear: LinearSolver::Gmres {
        max_iterations: 1000,
        restart: 30,
    },
    forcing: Forcing::Fixed(1e-12),
    line_search: LineSearch {
        max_cuts: 25,
        decrease: 1e-4,
    },
};

const CG: LinearSolver = LinearSolver::Cg {
    max_iterations: 1000,
};

/// The orders of convergence that the last residuals above `floor` show.
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
    let [x, y] = [info.u[0], info.u[1]];
    assert!((x * x + y * y - 4.0).abs() < 1e-12 && (x * y - 1.0).abs() < 1e-12);
    let info = info.result.unwrap();
    let orders = orders(&info.residual_history, 1e-14);
    let last = *orders.last().unwrap();
    assert!((1.8..2.3).contains(&last), "{info:?}");
    assert!(info.iterations() <= 7, "{info:?}");
    assert!(info.steps.iter().all(|step| step.length == 1.0));
    assert_eq!(info.residual_history.len(), info.iterations() + 1);
    assert_eq!(info.reason, Reason::Relative);
}

/// Convergence stays faster than linear where directions are only as exact as is worth while, and the
/// linear solver needs fewer steps.
#[test]
fn forcing_terms_spare_linear_steps() {
    let solve_with = |forcing, linear| {
        let params = NewtonParams {
            relative_tolerance: 1e-12,
            forcing,
            linear,
            ..EXACT
        };
        let outcome = solve_algebraic(&mut heat(), &[0.0; CELLS], &params);
        let found = (heat().residual)(&outcome.u);
        assert!(found.iter().all(|r| r.abs() < 1e-10), "{found:?}");
        outcome.result.unwrap()
    };
    for linear in [CG, EXACT.linear] {
        let exact = solve_with(EXACT.forcing, linear);
        let inexact = solve_with(Forcing::default(), linear);
        let (more, fewer) = (exact.linear_iterations(), inexact.linear_iterations());
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
            outcome.result.unwrap().linear_iterations()
        });
        assert!(jacobi < plain, "{jacobi} of {plain}");
    }
}

fn atan() -> systems::Algebraic {
    scalar(|u| vec![u[0].atan()], |u| vec![1.0 / (1.0 + u[0] * u[0])])
}

/// Newton's own steps from 10 lead ever further away.
#[test]
fn the_line_search_makes_far_starts_converge() {
    let outcome = solve_algebraic(&mut atan(), &[10.0], &EXACT);
    assert!(outcome.u[0].abs() < 1e-12);
    let info = outcome.result.unwrap();
    assert!(info.steps[0].length < 0.5, "{info:?}");
    let falls = |pair: &[f64]| pair[1] < pair[0];
    assert!(info.residual_history.windows(2).all(falls), "{info:?}");

    let params = NewtonParams {
        line_search: LineSearch {
            max_cuts: 0,
            ..EXACT.line_search
        },
        ..EXACT
    };
    let outcome = solve_algebraic(&mut atan(), &[10.0], &params);
    assert_eq!(outcome.u, [10.0]);
    let failure = outcome.failure();
    assert!(
        matches!(failure, NewtonFailure::LineSearch { length: 1.0, residual } if residual > 1.5)
    );
}

/// A full step from 3 leads to ln of a negative number.
#[test]
fn a_residual_that_is_no_number_makes_the_step_shorter() {
    let mut problem = scalar(|u| vec![u[0].ln()], |u| vec![1.0 / u[0]]);
    let outcome = solve_algebraic(&mut problem, &[3.0], &EXACT);
    assert!((outcome.u[0] - 1.0).abs() < 1e-12);
    assert_eq!(outcome.result.unwrap().steps[0].length, 0.5);

    let failure = solve_algebraic(&mut problem, &[-1.0], &EXACT).failure();
    assert!(
        matches!(failure, NewtonFailure::Breakdown { value, .. } if value.is_nan()),
        "{failure}"
    );
    let mut nowhere = scalar(
        |u| vec![if u[0] == 3.0 { 1.0 } else { f64::NAN }],
        |_| vec![1.0],
    );
    let outcome = solve_algebraic(&mut nowhere, &[3.0], &EXACT);
    assert_eq!(outcome.u, [3.0]);
    let error = outcome.result.unwrap_err();
    assert!(error.to_string().contains("it is NaN"), "{error}");
    assert!(
        matches!(error.failure, NewtonFailure::LineSearch { length, .. } if length < 1e-7),
        "{error}"
    );
}

#[test]
fn a_singular_jacobian_is_an_error() {
    let square = || scalar(|u| vec![u[0] * u[0] + 1.0], |u| vec![2.0 * u[0]]);
    let failure = solve_algebraic(&mut square(), &[0.0], &EXACT).failure();
    let NewtonFailure::Linear(LinearError::Gmres(error)) = failure else {
        panic!("{failure}");
    };
    assert!(matches!(error.failure, GmresFailure::Singular { .. }));
    let params = NewtonParams {
        linear: CG,
        ..EXACT
    };
    let failure = solve_algebraic(&mut square(), &[0.0], &params).failure();
    let NewtonFailure::Linear(LinearError::Cg(error)) = failure else {
        panic!("{failure}");
    };
    assert!(matches!(
        error.failure,
        CgFailure::NotPositiveDefinite { .. }
    ));
    // There is no solution: whatever is done, an end is made of it.
    let outcome = solve_algebraic(&mut square(), &[3.0], &EXACT);
    assert!(outcome.u[0].abs() < 1.0, "{outcome:?}");
    outcome.result.unwrap_err();
}

/// x² = 0 has a singular Jacobian at the solution: convergence is linear, by a half for x.
#[test]
fn a_double_root_is_found_slowly() {
    let mut problem = scalar(|u| vec![u[0] * u[0]], |u| vec![2.0 * u[0]]);
    let info = solve_algebraic(&mut problem, &[1.0], &EXACT)
        .result
        .unwrap();
    let orders = orders(&info.residual_history, 0.0);
    assert!(orders.iter().all(|order| (order - 1.0).abs() < 1e-6));
    assert!(info.iterations() > 20);
}

/// A Jacobian that is not that of the residual points uphill.
#[test]
fn a_wrong_jacobian_is_noticed() {
    let mut wrong = scalar(|u| vec![u[0] - 1.0], |_| vec![-1.0]);
    let failure = solve_algebraic(&mut wrong, &[3.0], &EXACT).failure();
    assert!(
        matches!(failure, NewtonFailure::LineSearch { .. }),
        "{failure}"
    );
}

/// One step of GMRES gives a direction that will do, though not as exact as was asked for.
#[test]
fn directions_may_be_less_exact_than_asked_for() {
    let params = NewtonParams {
        linear: LinearSolver::Gmres {
            max_iterations: 1,
            restart: 30,
        },
        relative_tolerance: 1e-6,
        max_iterations: 500,
        ..EXACT
    };
    let outcome = solve_algebraic(&mut circle(), &[1.7, 0.9], &params);
    let info = outcome.result.unwrap();
    assert!(info.steps.iter().any(|step| !step.linear_converged));
    assert!(info.steps.iter().all(|step| step.linear_iterations <= 1));
}

#[test]
fn a_bad_diagonal_is_named() {
    let mut problem = heat();
    problem.diagonal = true;
    problem.jacobian = |u| vec![-1.0; u.len() * u.len()];
    let failure = solve_algebraic(&mut problem, &[0.0; CELLS], &EXACT).failure();
    let NewtonFailure::Preconditioner(error) = failure else {
        panic!("{failure}");
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
    assert_eq!(outcome.u, [2.0]);
    assert_eq!(outcome.result.unwrap().residual_history, [0.0]);
    let params = NewtonParams {
        absolute_tolerance: 0.1,
        ..EXACT
    };
    let info = solve_algebraic(&mut problem, &[2.05], &params)
        .result
        .unwrap();
    assert_eq!((info.iterations(), info.reason), (0, Reason::Absolute));
    let mut none = systems::Algebraic::new(0, |_| vec![], |_| vec![]);
    solve_algebraic(&mut none, &[], &EXACT).result.unwrap();
}

#[test]
fn steps_are_counted() {
    let params = NewtonParams {
        max_iterations: 3,
        ..EXACT
    };
    let outcome = solve_algebraic(&mut circle(), &[3.0, 0.3], &params);
    let norm = (circle().residual)(&outcome.u)
        .iter()
        .map(|r| r * r)
        .sum::<f64>()
        .sqrt();
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, NewtonFailure::NotConverged { .. }));
    assert_eq!((error.iterations(), error.residual_history.len()), (3, 4));
    assert!((norm - error.residual_history[3]).abs() < 1e-12);
}

/// Solves [`heat`] until the observer has its way.
fn watched(stop: fn(Progress) -> bool) -> (Outcome<f64>, Vec<Progress>) {
    let mut seen = Vec::new();
    let mut observer = |progress| {
        seen.push(progress);
        match stop(progress) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let host = Host::with_threads(1).unwrap();
    let outcome = run(&host, &mut heat(), &[0.0; CELLS], &EXACT, &mut observer);
    (outcome, seen)
}

#[test]
fn the_observer_sees_every_step_and_can_stop() {
    let (outcome, seen) = watched(|_| false);
    let info = outcome.result.unwrap();
    let newton = seen.iter().filter_map(|progress| match progress {
        Progress::Newton(iteration) => Some(*iteration),
        Progress::Linear(_) => None,
    });
    let newton: Vec<_> = newton.collect();
    let residuals: Vec<_> = newton.iter().map(|iteration| iteration.residual).collect();
    assert_eq!(residuals, info.residual_history);
    assert_eq!(newton[0].step, None);
    assert_eq!(newton[1].step, Some(info.steps[0]));
    // The linear solver tells of its start, too.
    let linear = seen.len() - newton.len();
    assert_eq!(linear, info.linear_iterations() + info.iterations());

    let (outcome, _) =
        watched(|progress| matches!(progress, Progress::Newton(at) if at.number == 1));
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, NewtonFailure::Interrupted));
    assert_eq!(error.iterations(), 1);
    let (outcome, _) =
        watched(|progress| matches!(progress, Progress::Linear(at) if at.number == 3));
    assert_eq!(outcome.u, [0.0; CELLS]);
    assert!(matches!(outcome.failure(), NewtonFailure::Interrupted));
}

#[test]
fn bad_parameters_and_lengths_are_errors() {
    let bad = [
        NewtonParams {
            relative_tolerance: -1.0,
            ..EXACT
        },
        NewtonParams {
            absolute_tolerance: f64::NAN,
            ..EXACT
        },
        NewtonParams {
            forcing: Forcing::Fixed(0.0),
            ..EXACT
        },
        NewtonParams {
            forcing: Forcing::EisenstatWalker {
                first: 0.3,
                most: 1.0,
            },
            ..EXACT
        },
        NewtonParams {
            line_search: LineSearch {
                max_cuts: 3,
                decrease: 1.0,
            },
            ..EXACT
        },
    ];
    for params in bad {
        let failure = solve_algebraic(&mut circle(), &[1.0; 2], &params).failure();
        assert!(
            matches!(failure, NewtonFailure::InvalidParameter { .. }),
            "{failure}"
        );
    }
    let failure = solve_algebraic(&mut circle(), &[1.0; 3], &EXACT).failure();
    let wanted = "the start of the solution holds 3 numbers where 2 are needed";
    assert_eq!(failure.to_string(), wanted);

    let host = Host::with_threads(1).unwrap();
    let mut u = host.zeros(2).unwrap();
    let mut workspace = NewtonWorkspace::new(&host, 2, &EXACT).unwrap();
    let params = NewtonParams {
        linear: CG,
        ..EXACT
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    let error = solve(&host, &mut circle(), &mut u, &mut workspace, &params, go_on).unwrap_err();
    assert!(matches!(error.failure, NewtonFailure::Workspace));
}
