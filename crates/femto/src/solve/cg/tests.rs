//! Conjugate gradients on small systems whose answers are known.

use super::systems::{Dense, Outcome, Poisson, Setup};
use super::*;
use crate::solve::{Identity, Jacobi, LinearOperator, OperatorError, Preconditioner, Product};
use femto_platform::device::host::{Host, HostBuffer};

fn failure(outcome: &Outcome<f64>) -> &CgFailure {
    &outcome.result.as_ref().unwrap_err().failure
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!(
            (found - wanted).abs() <= tolerance,
            "entry {i}: {found} {wanted}"
        );
    }
}

fn ramp(size: usize) -> Vec<f64> {
    (0..size).map(|i| 1.0 + i as f64 / 4.0).collect()
}

#[test]
fn dense_systems_are_solved_within_their_size() {
    for size in 1..12 {
        let matrix = Dense::positive_definite(size, 1.0);
        let wanted = ramp(size);
        let setup = Setup {
            params: CgParams {
                relative_tolerance: 1e-11,
                ..CgParams::default()
            },
            ..Setup::default()
        };
        let outcome = setup.solve(&matrix, &matrix.times(&wanted));
        let info = outcome.result.unwrap();
        assert!(info.iterations <= size + 2, "{} of {size}", info.iterations);
        assert_eq!(info.residual_history.len(), info.iterations + 1);
        assert_eq!(info.reason, Reason::Relative);
        assert_close(&outcome.x, &wanted, 1e-9);
    }
}

#[test]
fn a_diagonal_takes_one_jacobi_step() {
    let matrix = Dense::new(20, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
    let mut setup = Setup::default();
    let plain = setup.solve(&matrix, &[1.0; 20]).result.unwrap();
    let diagonal = setup.host.upload(&matrix.diagonal()).unwrap();
    let jacobi = Jacobi::new(&setup.host, &diagonal).unwrap();
    setup.preconditioner = &jacobi;
    let outcome = setup.solve(&matrix, &[1.0; 20]);
    assert_eq!(outcome.result.unwrap().iterations, 1);
    assert!(plain.iterations > 10);
    let wanted: Vec<f64> = (1..=20).map(|i| 1.0 / f64::from(i)).collect();
    assert_close(&outcome.x, &wanted, 1e-15);
}

#[test]
fn poisson_in_one_dimension_takes_half_as_many_steps_as_unknowns() {
    let poisson = Poisson { size: 100 };
    let outcome = Setup::default().solve(&poisson, &[1.0; 100]);
    // The right-hand side is symmetric, and so are all directions: 50 of them are independent.
    assert_eq!(outcome.result.unwrap().iterations, 50);
    assert_close(&outcome.x, &poisson.exact(), 1e-8);
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let poisson = Poisson { size: 30_000 };
    let b: Vec<f64> = (0..poisson.size).map(|i| (i as f64).sin()).collect();
    let outcomes = [1, 2, 3].map(|threads| {
        let setup = Setup {
            host: Host::with_threads(threads).unwrap(),
            params: CgParams {
                max_iterations: 30,
                ..CgParams::default()
            },
            ..Setup::default()
        };
        let outcome = setup.solve(&poisson, &b);
        let bits: Vec<u64> = outcome.x.iter().map(|x| x.to_bits()).collect();
        (outcome.result.unwrap_err().residual_history, bits)
    });
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}

#[test]
fn the_start_is_what_x_holds() {
    let poisson = Poisson { size: 100 };
    let setup = Setup::default();
    let system = System {
        device: &setup.host,
        operator: &poisson,
        preconditioner: &Identity,
    };
    let b = setup.host.upload(&[1.0; 100]).unwrap();
    let mut x = setup.host.upload(&poisson.exact()).unwrap();
    let mut workspace = CgWorkspace::new(&setup.host, 100).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let info = solve(&system, &b, &mut x, &mut workspace, &setup.params, go_on).unwrap();
    assert_eq!(info.iterations, 0);
}

#[test]
fn a_zero_right_hand_side_has_a_zero_solution() {
    let outcome = Setup::default().solve(&Poisson { size: 9 }, &[0.0; 9]);
    let info = outcome.result.unwrap();
    assert_eq!(
        (info.iterations, info.reason),
        (0, Reason::ZeroRightHandSide)
    );
    assert_eq!(outcome.x[..], [0.0; 9]);
}

#[test]
fn nothing_to_solve_is_solved() {
    let outcome = Setup::default().solve(&Poisson { size: 0 }, &[]);
    assert_eq!(outcome.result.unwrap().iterations, 0);
}

#[test]
fn a_singular_consistent_system_is_solved() {
    // A ring of springs: constants are in the null space, and b has no constant part.
    let size = 12;
    let ring = Dense::new(size, |i, j| match (i + size - j) % size {
        0 => 2.0,
        1 | 11 => -1.0,
        _ => 0.0,
    });
    let b: Vec<f64> = (0..size).map(|i| i as f64 - 5.5).collect();
    let outcome = Setup::default().solve(&ring, &b);
    outcome.result.unwrap();
    assert_close(&ring.times(&outcome.x), &b, 1e-7);
}

#[test]
fn an_indefinite_operator_is_an_error_with_its_history() {
    let matrix = Dense::new(4, |i, j| match (i == j, i) {
        (true, 3) => -5.0,
        (true, _) => 1.0 + i as f64,
        _ => 0.0,
    });
    let outcome = Setup::default().solve(&matrix, &[1.0, 1.0, 1.0, 0.1]);
    let error = outcome.result.unwrap_err();
    let CgFailure::NotPositiveDefinite { curvature } = error.failure else {
        panic!("{error}");
    };
    assert!(curvature < 0.0);
    assert!(error.iterations() >= 1);
    assert!(
        error.to_string().contains("not positive definite"),
        "{error}"
    );
}

#[test]
fn an_indefinite_preconditioner_is_another_error() {
    struct Minus;
    impl Preconditioner<f64, Host> for Minus {
        fn apply(
            &self,
            host: &Host,
            r: &HostBuffer<f64>,
            z: &mut HostBuffer<f64>,
            Product { sums, slot }: Product<'_, Host>,
        ) -> Result<(), OperatorError> {
            host.fill(0.0, z)?;
            host.axpy(-1.0, r, z)?;
            Ok(host.dot_into(r, z, sums, slot)?)
        }
    }
    let setup = Setup {
        preconditioner: &Minus,
        ..Setup::default()
    };
    let outcome = setup.solve(&Poisson { size: 3 }, &[1.0; 3]);
    let failure = failure(&outcome);
    assert!(
        matches!(failure, CgFailure::PreconditionerNotPositiveDefinite { product } if *product == -3.0)
    );
}

#[test]
fn no_convergence_keeps_the_last_iterate() {
    let poisson = Poisson { size: 100 };
    let setup = Setup {
        params: CgParams {
            max_iterations: 7,
            ..CgParams::default()
        },
        ..Setup::default()
    };
    let outcome = setup.solve(&poisson, &[1.0; 100]);
    let mut ax = setup.host.zeros(100).unwrap();
    poisson.apply(&outcome.x, &mut ax).unwrap();
    let residual = ax.iter().map(|ax| (1.0 - ax).powi(2)).sum::<f64>().sqrt();
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, CgFailure::NotConverged { target } if target == 1e-7));
    assert_eq!(error.iterations(), 7);
    let last = *error.residual_history.last().unwrap();
    assert!(
        (last - residual).abs() < 1e-12 * residual,
        "{last} {residual}"
    );
}

#[test]
fn the_observer_sees_every_iteration_and_can_stop() {
    let mut seen = Vec::new();
    let mut observer = |iteration: Iteration| {
        seen.push(iteration);
        match iteration.number {
            5 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let setup = Setup::default();
    let outcome = setup.solve_watched(&Poisson { size: 100 }, &[1.0; 100], &mut observer);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, CgFailure::Interrupted));
    assert_eq!(error.iterations(), 5);
    assert!(outcome.x[50] > 0.0);
    let numbers: Vec<_> = seen.iter().map(|iteration| iteration.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    let residuals: Vec<_> = seen.iter().map(|iteration| iteration.residual).collect();
    assert_eq!(residuals, error.residual_history);
}

#[test]
fn numbers_that_are_none_are_errors() {
    let setup = Setup::default();
    let outcome = setup.solve(&Poisson { size: 2 }, &[1.0, f64::NAN]);
    assert!(matches!(failure(&outcome), CgFailure::Breakdown { value, .. } if value.is_nan()));
    let matrix = Dense::new(2, |i, _| if i == 0 { 1.0 } else { f64::NAN });
    let outcome = setup.solve(&matrix, &[1.0, 1.0]);
    assert!(matches!(failure(&outcome), CgFailure::Breakdown { .. }));
}

#[test]
fn bad_tolerances_and_lengths_are_errors() {
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        let mut setup = Setup::default();
        setup.params.absolute_tolerance = value;
        let outcome = setup.solve(&Poisson { size: 2 }, &[1.0; 2]);
        assert!(matches!(
            failure(&outcome),
            CgFailure::InvalidTolerance {
                name: "absolute",
                ..
            }
        ));
    }
    let outcome = Setup::default().solve(&Poisson { size: 2 }, &[1.0; 3]);
    let wanted = "the right-hand side holds 3 numbers where 2 are needed";
    assert_eq!(outcome.result.unwrap_err().to_string(), wanted);
}

#[test]
fn the_absolute_tolerance_counts_where_it_is_larger() {
    let mut setup = Setup::default();
    setup.params.absolute_tolerance = 0.5;
    let info = setup
        .solve(&Poisson { size: 50 }, &[1.0; 50])
        .result
        .unwrap();
    assert_eq!(info.reason, Reason::Absolute);
    assert!(*info.residual_history.last().unwrap() <= 0.5);
}

#[test]
fn the_true_residual_is_that_of_the_solution() {
    let matrix = Dense::positive_definite(30, 1.0);
    let outcome = Setup::default().solve(&matrix, &ramp(30));
    let info = outcome.result.unwrap();
    let residual = distance(&matrix.times(&outcome.x), &ramp(30));
    assert!((info.true_residual - residual).abs() <= 1e-6 * residual);
    let recurrence = *info.residual_history.last().unwrap();
    assert!((recurrence - residual).abs() <= 1e-3 * residual);
}

/// The first iterates are so large that their rounding errors are all that is left of b - A x.
#[test]
fn a_residual_that_drifted_away_is_replaced() {
    let poisson = Poisson { size: 60 };
    let setup = Setup::default();
    let system = System {
        device: &setup.host,
        operator: &poisson,
        preconditioner: &Identity,
    };
    let b = setup.host.upload(&[1.0; 60]).unwrap();
    let start: Vec<f64> = (0..60).map(|i| 1e12 * f64::from(i).sin()).collect();
    let mut x = setup.host.upload(&start).unwrap();
    let mut workspace = CgWorkspace::new(&setup.host, 60).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let info = solve(&system, &b, &mut x, &mut workspace, &setup.params, go_on).unwrap();
    let target = 1e-8 * 60_f64.sqrt();
    assert!(info.true_residual <= 10.0 * target, "{info:?}");
    assert_eq!(info.residual_history.len(), info.iterations + 1);
    let history = &info.residual_history;
    let replaced = (1..history.len()).find(|&i| history[i] > 100.0 * target && history[i] < 1.0);
    assert!(replaced.is_some(), "{history:?}");
    assert_close(&x, &poisson.exact(), 1e-4);
}

/// A system in single precision whose solution has no exact one: how it went, and |b - A x|.
fn single_precision(relative_tolerance: f64) -> (Result<CgInfo, CgError>, f64) {
    let host = Host::with_threads(2).unwrap();
    let matrix = Dense::positive_definite(40, 2.0);
    let wanted: Vec<f64> = (0..40).map(|i| (f64::from(i) + 0.3).sin()).collect();
    let b: Vec<f32> = matrix.times(&wanted).iter().map(|&b| b as f32).collect();
    let system = System {
        device: &host,
        operator: &matrix,
        preconditioner: &Identity,
    };
    let params = CgParams {
        relative_tolerance,
        ..CgParams::default()
    };
    let b = host.upload(&b).unwrap();
    let mut x = host.zeros::<f32>(40).unwrap();
    let mut workspace = CgWorkspace::new(&host, 40).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let result = solve(&system, &b, &mut x, &mut workspace, &params, go_on);
    let x: Vec<f64> = x.iter().copied().map(f64::from).collect();
    assert!(distance(&x, &wanted) < 1e-3, "{x:?} {result:?}");
    let b: Vec<f64> = b.iter().copied().map(f64::from).collect();
    (result, distance(&matrix.times(&x), &b))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn single_precision_converges_to_its_own_accuracy() {
    let (result, residual) = single_precision(1e-6);
    let found = result.unwrap().true_residual;
    assert!((found - residual).abs() <= 0.5 * residual, "{found}");
}

/// A x is rounded to single precision, so that |b - A x| is only known to its order.
#[test]
fn more_than_single_precision_is_an_error() {
    for tolerance in [1e-9, 1e-12] {
        let (result, residual) = single_precision(tolerance);
        let error = result.unwrap_err();
        let CgFailure::Stagnated {
            true_residual,
            target,
        } = error.failure
        else {
            panic!("{error}");
        };
        assert!(true_residual > 10.0 * target, "{error}");
        let ratio = true_residual / residual;
        assert!((0.5..2.0).contains(&ratio), "{true_residual} {residual}");
        assert_eq!(error.residual_history.last(), Some(&true_residual));
        assert!(error.iterations() < 500, "{}", error.iterations());
    }
}
