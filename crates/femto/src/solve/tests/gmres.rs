//! GMRES.

use super::*;
use Preconditioning::Identity;

#[test]
fn dense_systems_are_solved_within_their_size() {
    let mut random = Random::new();
    for size in 1..12 {
        let matrix = Dense::random(size, 2.0, &mut random);
        let wanted = random.vector(size);
        let b = matrix.times(&wanted);
        let outcome = solve(&matrix, Identity, &b, restart(30));
        let info = outcome.result.unwrap();
        assert!(info.iterations() <= size, "{} of {size}", info.iterations());
        assert_eq!(info.history.residuals.len(), info.iterations() + 1);
        let falls = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-9);
        assert!(info.history.residuals.windows(2).all(falls), "{info:?}");
        let norm = b.iter().map(|b| b * b).sum::<f64>().sqrt();
        assert!(info.true_residual <= 1e-7 * norm, "{info:?}");
        let residual = matrix.distance(&outcome.x, &b);
        assert!((info.true_residual - residual).abs() <= 1e-12 * norm);
    }
}

/// Without restarts the residual is minimal; of two restart lengths the shorter may happen to do better.
#[test]
fn no_restart_needs_fewest_steps() {
    let mut random = Random::new();
    let matrix = Dense::random(60, 12.0, &mut random);
    let b = random.vector(60);
    let [whole, ten, three] = [60, 10, 3].map(|steps| {
        let outcome = solve(&matrix, Identity, &b, restart(steps));
        assert!(matrix.distance(&outcome.x, &b) <= 1e-7 * 8.0);
        outcome.iterations()
    });
    assert!(
        3 < whole && whole <= ten.min(three),
        "{whole}, {ten}, {three}"
    );
}

/// -u'' + 40 u' = 1 by central differences: far from symmetric.
#[test]
fn convection_is_solved() {
    let (size, peclet) = (80, 0.25);
    let matrix = Dense::new(size, |i, j| match (i as i32 - j as i32, i == j) {
        (_, true) => 2.0,
        (1, _) => -1.0 - peclet,
        (-1, _) => -1.0 + peclet,
        _ => 0.0,
    });
    let b = vec![1.0; size];
    let info = solve(&matrix, Identity, &b, restart(80));
    assert!(matrix.distance(&info.x, &b) <= 1e-6);
    assert!(info.iterations() <= 80);
}

/// -u'' = 1 with restarts after two steps: a hundred steps halve the residual once.
#[test]
fn hardly_any_progress_is_an_end_if_that_is_asked_for() {
    let matrix = Dense::new(80, |i, j| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    let b = vec![1.0; 80];
    let solve = |max_stalled| {
        let params = stopping(restart(2), |stop| {
            (stop.max_stalled, stop.max_iterations) = (max_stalled, 400);
        });
        solve(&matrix, Identity, &b, params).reason()
    };
    for patient in [1000, usize::MAX] {
        assert!(matches!(solve(patient), StopReason::NotConverged { .. }));
    }
    let StopReason::Stalled { steps } = solve(10) else {
        panic!("{}", solve(10))
    };
    assert!((10..12).contains(&steps), "{steps}");
}

/// With M⁻¹ = A⁻¹ for a diagonal A, the reported residual is that of A x = b.
#[test]
fn the_diagonal_is_taken_from_the_right() {
    let mut random = Random::new();
    let host = Host::with_threads(1).unwrap();
    let diagonal: Vec<f64> = (0..40).map(|i| 10.0_f64.powi(i % 7)).collect();
    let matrix = Dense::new(40, |i, j| if i == j { diagonal[i] } else { 0.0 });
    let b = random.vector(40);
    let jacobi = Jacobi::new(&host, &host.upload(&diagonal).unwrap()).unwrap();
    let outcome = solve(&matrix, Preconditioning::Jacobi(&jacobi), &b, restart(30));
    assert_eq!(outcome.iterations(), 1);

    let matrix = Dense::new(40, |i, j| match (i == j, i < j) {
        (true, _) => diagonal[i],
        (_, true) => 0.4,
        _ => -0.1,
    });
    let outcome = solve(&matrix, Preconditioning::Jacobi(&jacobi), &b, restart(5));
    let info = outcome.result.unwrap();
    let residual = matrix.distance(&outcome.x, &b);
    assert!((info.true_residual - residual).abs() <= 1e-12, "{info:?}");
    assert!(info.iterations() < 40);
}

#[test]
fn a_multiple_as_preconditioner_changes_nothing() {
    let mut random = Random::new();
    let matrix = Dense::random(30, 6.0, &mut random);
    let b = random.vector(30);
    let plain = solve(&matrix, Identity, &b, restart(7));
    let host = Host::with_threads(1).unwrap();
    let minus = Multiple {
        device: host.clone(),
        size: 30,
        factor: -0.5,
    };
    let minus = Preconditioning::any(&host, &minus).unwrap();
    let minus = solve(&matrix, minus, &b, restart(7));
    for (plain, minus) in plain.x.iter().zip(&minus.x) {
        assert!((plain - minus).abs() < 1e-6);
    }
    let [plain, minus] = [plain, minus].map(|outcome| outcome.iterations());
    assert_eq!(plain, minus);
}

#[test]
fn a_residual_that_stays_is_noticed() {
    let mut b = vec![0.0; 20];
    b[3] = 1.0;
    let outcome = solve(&Dense::cyclic(20), Identity, &b, restart(19));
    let reason = outcome.reason();
    assert!(
        matches!(reason, StopReason::NoProgress { restart: 19 }),
        "{reason}"
    );
    let outcome = solve(&Dense::cyclic(20), Identity, &b, restart(20));
    assert_eq!(outcome.iterations(), 20);
    assert_eq!(outcome.x[4], 1.0);
}

#[test]
fn consistent_singular_systems_are_solved() {
    let ring = Dense::ring();
    let mut b: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    let outcome = solve(&ring, Identity, &b, restart(30));
    assert!(ring.distance(&outcome.x, &b) < 1e-6);
    outcome.result.unwrap();
    b[0] += 6.0;
    let outcome = solve(&ring, Identity, &b, restart(30));
    // The minimal residual is the constant part of b.
    let least = 6.0 / 12.0_f64.sqrt();
    assert!((ring.distance(&outcome.x, &b) - least).abs() < 1e-6);
    let reason = outcome.reason();
    assert!(
        matches!(reason, StopReason::Singular { residual } if (residual - least).abs() < 1e-6),
        "{reason}"
    );
}

#[test]
fn an_operator_that_is_zero_is_singular() {
    let outcome = solve(
        &Dense::new(3, |_, _| 0.0),
        Identity,
        &[1.0, 2.0, 2.0],
        restart(3),
    );
    assert_eq!(outcome.x, [0.0; 3]);
    assert!(matches!(outcome.reason(), StopReason::Singular { residual } if residual == 3.0));
}

#[test]
fn a_restart_of_no_steps_is_an_error() {
    let reason = solve(&Dense::cyclic(2), Identity, &[1.0; 2], restart(0)).reason();
    assert!(matches!(
        reason,
        StopReason::InvalidParameter {
            name: "restart length",
            ..
        }
    ));
}

/// Vectors come with the steps.
#[test]
fn no_restarts_at_all_take_no_memory_beforehand() {
    let outcome = solve(&Dense::cyclic(9), Identity, &[1.0; 9], restart(usize::MAX));
    assert!(outcome.result.is_ok());
}

#[test]
fn more_than_single_precision_is_an_error() {
    let mut random = Random::new();
    let matrix = Dense::random(40, 8.0, &mut random);
    let b: Vec<f32> = random.vector(40).iter().map(|&b| b as f32).collect();
    for (tolerance, steps) in [(1e-5, 40), (1e-5, 7), (1e-12, 40), (1e-12, 7)] {
        let params = relative(restart(steps), tolerance);
        let outcome = solve(&matrix, Identity, &b, params);
        assert!(matrix.distance(&outcome.x, &b) < 1e-4);
        match outcome.result {
            Ok(info) => assert!(tolerance == 1e-5, "{info:?}"),
            Err(error) => {
                assert!(tolerance == 1e-12, "{error}");
                let stagnated = matches!(error.reason, StopReason::Stagnated { .. });
                assert!(stagnated && error.iterations() < 200, "{error}");
            }
        }
    }
}
