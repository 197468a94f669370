//! Properties shared by conjugate gradients and GMRES.

use super::*;
use Preconditioning::Identity;

fn solvers() -> [LinearSolver; 2] {
    [CG, restart(5)]
}

#[test]
fn a_zero_right_hand_side_has_a_zero_solution() {
    for solver in solvers() {
        let outcome = solve(&Poisson { size: 9 }, Identity, &[0.0; 9], solver);
        assert_eq!(outcome.x, [0.0; 9]);
        assert_eq!(outcome.iterations(), 0);
        let reason = outcome.result.unwrap().reason;
        assert_eq!(reason, StopReason::ZeroRightHandSide);
    }
}

#[test]
fn empty_systems_are_solved() {
    for solver in solvers() {
        let outcome = solve(&Poisson { size: 0 }, Identity, &[], solver);
        assert_eq!(outcome.iterations(), 0);
    }
}

#[test]
fn a_singular_consistent_system_is_solved() {
    // b has no constant part.
    let b: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    for solver in [CG, restart(30)] {
        let outcome = solve(&Dense::ring(), Identity, &b, solver);
        assert!(Dense::ring().distance(&outcome.x, &b) < 1e-7);
        outcome.result.unwrap();
    }
}

#[test]
fn no_convergence_keeps_the_last_iterate() {
    let poisson = Poisson { size: 100 };
    for solver in solvers() {
        let params = stopping(solver, |stop| stop.max_iterations = 7);
        let outcome = solve(&poisson, Identity, &[1.0; 100], params);
        let residual = distance(&poisson.times(&outcome.x), &[1.0; 100]);
        let error = outcome.result.unwrap_err();
        assert_eq!(error.reason, StopReason::NotConverged { target: 1e-7 });
        assert_eq!(error.iterations(), 7);
        let last = *error.history.residuals.last().unwrap();
        let close = (last - residual).abs() < 1e-12 * residual;
        assert!(close, "{last} {residual}");
    }
}

#[test]
fn the_monitor_sees_every_iteration_and_can_stop() {
    let poisson = Poisson { size: 100 };
    for solver in solvers() {
        let mut notes = Notes::until(|iteration| iteration.number == 8);
        let outcome = poisson.solve(&[0.0; 100], solver, &mut notes);
        assert!(outcome.x[50] > 0.0);
        let error = outcome.result.unwrap_err();
        assert_eq!(error.reason, StopReason::Interrupted);
        assert_eq!(error.iterations(), 8);
        assert_eq!(notes.numbers(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        if solver == CG {
            let residuals = notes.seen.iter().map(|iteration| iteration.residual);
            assert!(residuals.eq(error.history.residuals));
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_errors() {
    let matrix = Dense::new(2, |i, _| if i == 0 { 1.0 } else { f64::NAN });
    for solver in solvers() {
        for reason in [
            solve(&Poisson { size: 2 }, Identity, &[1.0, f64::NAN], solver).reason(),
            solve(&matrix, Identity, &[1.0, 1.0], solver).reason(),
        ] {
            assert!(matches!(reason, StopReason::Breakdown { value, .. } if value.is_nan()));
        }
    }
}

#[test]
fn bad_tolerances_and_lengths_are_errors() {
    let poisson = Poisson { size: 2 };
    for solver in solvers() {
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            let absolute = stopping(solver, |stop| stop.absolute_tolerance = value);
            for (params, wanted) in [
                (absolute, "absolute tolerance"),
                (relative(solver, value), "relative tolerance"),
            ] {
                let reason = solve(&poisson, Identity, &[1.0; 2], params).reason();
                let StopReason::InvalidParameter { name, .. } = reason else {
                    panic!("{reason}");
                };
                assert_eq!(name, wanted);
            }
        }
        let outcome = solve(&poisson, Identity, &[1.0; 3], solver);
        let wanted = "the right-hand side holds 3 numbers where 2 are needed";
        assert_eq!(outcome.result.unwrap_err().to_string(), wanted);
    }
}

#[test]
fn the_absolute_tolerance_counts_where_it_is_larger() {
    for solver in [CG, restart(50)] {
        let params = stopping(solver, |stop| stop.absolute_tolerance = 0.5);
        let outcome = solve(&Poisson { size: 50 }, Identity, &[1.0; 50], params);
        let info = outcome.result.unwrap();
        assert_eq!(info.reason, StopReason::AbsoluteTolerance);
        assert!(*info.history.residuals.last().unwrap() <= 0.5);
    }
}

#[test]
fn a_workspace_for_the_other_solver_is_an_error() {
    let host = Host::with_threads(1).unwrap();
    let mut system = System {
        device: &host,
        operator: &Poisson { size: 3 },
        preconditioning: Identity,
    };
    let (b, mut x) = (host.zeros(3).unwrap(), host.zeros(3).unwrap());
    for (solver, other) in [(CG, restart(3)), (restart(3), CG)] {
        let (mut workspace, params) = (
            KrylovWorkspace::new(&host, 3, other).unwrap(),
            KrylovParams::from(solver),
        );
        let (workspace, params) = (&mut workspace, &params);
        let result =
            crate::solve::krylov::solve(&mut system, &b, &mut x, workspace, params, &mut ());
        assert_eq!(result.unwrap_err().reason, StopReason::Workspace);
    }
}
