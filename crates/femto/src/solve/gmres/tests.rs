//! GMRES on small systems whose answers are known.

use super::systems::{Dense, Random, restart, run, solve_on_host};
use super::*;
use crate::solve::{Identity, Jacobi, OperatorError, Preconditioner, Product};
use femto_platform::device::host::Host;

#[test]
fn dense_systems_are_solved_within_their_size() {
    let mut random = Random::new();
    for size in 1..12 {
        let matrix = Dense::random(size, 2.0, &mut random);
        let wanted = random.vector(size);
        let b = matrix.times(&wanted);
        let outcome = solve_on_host(&matrix, &Identity, &b, &restart(30));
        let info = outcome.result.unwrap();
        assert!(info.iterations <= size, "{} of {size}", info.iterations);
        assert_eq!(info.residual_history.len(), info.iterations + 1);
        let falls = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-9);
        assert!(info.residual_history.windows(2).all(falls), "{info:?}");
        let norm = b.iter().map(|b| b * b).sum::<f64>().sqrt();
        assert!(info.true_residual <= 1e-7 * norm, "{info:?}");
        let residual = matrix.distance(&outcome.x, &b);
        assert!((info.true_residual - residual).abs() <= 1e-12 * norm);
    }
}

/// The residual without restarts is the least of all; a short restart may by chance do better than a longer
/// one.
#[test]
fn no_restart_needs_fewest_steps() {
    let mut random = Random::new();
    let matrix = Dense::random(60, 12.0, &mut random);
    let b = random.vector(60);
    let [whole, ten, three] = [60, 10, 3].map(|steps| {
        let outcome = solve_on_host(&matrix, &Identity, &b, &restart(steps));
        assert!(matrix.distance(&outcome.x, &b) <= 1e-7 * 8.0);
        outcome.result.unwrap().iterations
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
    let matrix = Dense::new(size, |(i, j)| match (i as i32 - j as i32, i == j) {
        (_, true) => 2.0,
        (1, _) => -1.0 - peclet,
        (-1, _) => -1.0 + peclet,
        _ => 0.0,
    });
    let b = vec![1.0; size];
    let info = solve_on_host(&matrix, &Identity, &b, &restart(80));
    assert!(matrix.distance(&info.x, &b) <= 1e-6);
    assert!(info.result.unwrap().iterations <= 80);
}

/// M⁻¹ = A⁻¹ of a diagonal A; and what is said of the residual is said of A x = b.
#[test]
fn the_diagonal_is_taken_from_the_right() {
    let mut random = Random::new();
    let host = Host::with_threads(1).unwrap();
    let diagonal: Vec<f64> = (0..40).map(|i| 10.0_f64.powi(i % 7)).collect();
    let matrix = Dense::new(40, |(i, j)| if i == j { diagonal[i] } else { 0.0 });
    let b = random.vector(40);
    let jacobi = Jacobi::new(&host, &host.upload(&diagonal).unwrap()).unwrap();
    let outcome = solve_on_host(&matrix, &jacobi, &b, &restart(30));
    assert_eq!(outcome.result.unwrap().iterations, 1);

    let matrix = Dense::new(40, |(i, j)| match (i == j, i < j) {
        (true, _) => diagonal[i],
        (_, true) => 0.4,
        _ => -0.1,
    });
    let outcome = solve_on_host(&matrix, &jacobi, &b, &restart(5));
    let info = outcome.result.unwrap();
    let residual = matrix.distance(&outcome.x, &b);
    assert!((info.true_residual - residual).abs() <= 1e-12, "{info:?}");
    assert!(info.iterations < 40);
}

/// A preconditioner of no known structure: z = -r / 2.
struct Minus;

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Minus {
    fn apply(
        &self,
        device: &D,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        Product { sums, slot }: Product<'_, D>,
    ) -> Result<(), OperatorError> {
        device.fill(0.0, z)?;
        device.axpy(-0.5, r, z)?;
        Ok(device.dot_into(r, z, sums, slot)?)
    }
}

#[test]
fn a_multiple_as_preconditioner_changes_nothing() {
    let mut random = Random::new();
    let matrix = Dense::random(30, 6.0, &mut random);
    let b = random.vector(30);
    let plain = solve_on_host(&matrix, &Identity, &b, &restart(7));
    let minus = solve_on_host(&matrix, &Minus, &b, &restart(7));
    for (plain, minus) in plain.x.iter().zip(&minus.x) {
        assert!((plain - minus).abs() < 1e-6);
    }
    let [plain, minus] = [plain, minus].map(|outcome| outcome.result.unwrap().iterations);
    assert_eq!(plain, minus);
}

#[test]
fn a_residual_that_stays_is_noticed() {
    let mut b = vec![0.0; 20];
    b[3] = 1.0;
    let outcome = solve_on_host(&Dense::cyclic(20), &Identity, &b, &restart(19));
    let failure = outcome.failure();
    assert!(
        matches!(failure, GmresFailure::NoProgress { restart: 19 }),
        "{failure}"
    );
    let outcome = solve_on_host(&Dense::cyclic(20), &Identity, &b, &restart(20));
    assert_eq!(outcome.result.unwrap().iterations, 20);
    assert_eq!(outcome.x[4], 1.0);
}

#[test]
fn singular_systems_are_solved_where_they_can_be() {
    // A ring of springs: constants are in the null space.
    let ring = Dense::new(12, |(i, j)| match (i + 12 - j) % 12 {
        0 => 2.0,
        1 | 11 => -1.0,
        _ => 0.0,
    });
    let mut b: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    let outcome = solve_on_host(&ring, &Identity, &b, &restart(30));
    assert!(ring.distance(&outcome.x, &b) < 1e-6);
    outcome.result.unwrap();
    b[0] += 6.0;
    let outcome = solve_on_host(&ring, &Identity, &b, &restart(30));
    // The least residual is the constant part of b.
    let least = 6.0 / 12.0_f64.sqrt();
    assert!((ring.distance(&outcome.x, &b) - least).abs() < 1e-6);
    let failure = outcome.failure();
    assert!(
        matches!(failure, GmresFailure::Singular { residual } if (residual - least).abs() < 1e-6),
        "{failure}"
    );
}

#[test]
fn an_operator_that_is_zero_is_singular() {
    let outcome = solve_on_host(
        &Dense::new(3, |_| 0.0),
        &Identity,
        &[1.0, 2.0, 2.0],
        &restart(3),
    );
    assert_eq!(outcome.x, [0.0; 3]);
    assert!(matches!(outcome.failure(), GmresFailure::Singular { residual } if residual == 3.0));
}

#[test]
fn a_zero_right_hand_side_has_a_zero_solution() {
    let outcome = solve_on_host(&Dense::cyclic(9), &Identity, &[0.0; 9], &restart(3));
    assert_eq!(outcome.result.unwrap().reason, Reason::ZeroRightHandSide);
    let outcome = solve_on_host(&Dense::cyclic(0), &Identity, &[0.0; 0], &restart(3));
    assert_eq!(outcome.result.unwrap().iterations, 0);
}

#[test]
fn no_convergence_keeps_the_last_iterate() {
    let mut random = Random::new();
    let matrix = Dense::random(60, 12.0, &mut random);
    let b = random.vector(60);
    let params = GmresParams {
        max_iterations: 7,
        restart: 5,
        ..GmresParams::default()
    };
    let outcome = solve_on_host(&matrix, &Identity, &b, &params);
    let residual = matrix.distance(&outcome.x, &b);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, GmresFailure::NotConverged { .. }));
    assert_eq!(error.iterations(), 7);
    let last = *error.residual_history.last().unwrap();
    assert!((last - residual).abs() < 1e-12, "{last} {residual}");
}

#[test]
fn the_observer_sees_every_iteration_and_can_stop() {
    let mut random = Random::new();
    let matrix = Dense::random(60, 12.0, &mut random);
    let mut seen = Vec::new();
    let mut observer = |iteration: Iteration| {
        seen.push(iteration.number);
        match iteration.number {
            8 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let system = System {
        device: &Host::with_threads(2).unwrap(),
        operator: &matrix,
        preconditioner: &Identity,
    };
    let outcome = run(&system, &random.vector(60), &restart(5), &mut observer);
    assert!(outcome.x[50] != 0.0);
    assert!(matches!(outcome.failure(), GmresFailure::Interrupted));
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn numbers_that_are_none_are_errors() {
    let breaks = |matrix: &Dense, b: &[f64]| {
        let failure = solve_on_host(matrix, &Identity, b, &restart(3)).failure();
        assert!(matches!(failure, GmresFailure::Breakdown { value, .. } if value.is_nan()));
    };
    breaks(&Dense::cyclic(2), &[1.0, f64::NAN]);
    breaks(
        &Dense::new(2, |(i, _)| if i == 0 { 1.0 } else { f64::NAN }),
        &[1.0, 1.0],
    );
}

#[test]
fn bad_parameters_and_lengths_are_errors() {
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        let params = GmresParams {
            relative_tolerance: value,
            ..GmresParams::default()
        };
        let failure = solve_on_host(&Dense::cyclic(2), &Identity, &[1.0; 2], &params).failure();
        assert!(matches!(failure, GmresFailure::InvalidTolerance { .. }));
    }
    let failure = solve_on_host(&Dense::cyclic(2), &Identity, &[1.0; 2], &restart(0)).failure();
    assert!(matches!(failure, GmresFailure::InvalidRestart));
    let failure = solve_on_host(&Dense::cyclic(2), &Identity, &[1.0; 3], &restart(2)).failure();
    let wanted = "the right-hand side holds 3 numbers where 2 are needed";
    assert_eq!(failure.to_string(), wanted);
    let host = Host::with_threads(1).unwrap();
    let system = System {
        device: &host,
        operator: &Dense::cyclic(9),
        preconditioner: &Identity,
    };
    let (b, mut x) = (host.upload(&[1.0; 9]).unwrap(), host.zeros(9).unwrap());
    let mut small = GmresWorkspace::new(&host, 9, &restart(4)).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let error = solve(&system, &b, &mut x, &mut small, &restart(5), go_on).unwrap_err();
    let wanted = "the basis holds 5 numbers where 6 are needed";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn more_than_single_precision_is_an_error() {
    let mut random = Random::new();
    let matrix = Dense::random(40, 8.0, &mut random);
    let b: Vec<f32> = random.vector(40).iter().map(|&b| b as f32).collect();
    for (tolerance, steps) in [(1e-5, 40), (1e-5, 7), (1e-12, 40), (1e-12, 7)] {
        let params = GmresParams {
            relative_tolerance: tolerance,
            restart: steps,
            ..GmresParams::default()
        };
        let outcome = solve_on_host(&matrix, &Identity, &b, &params);
        assert!(matrix.distance(&outcome.x, &b) < 1e-4);
        match outcome.result {
            Ok(info) => assert!(tolerance == 1e-5, "{info:?}"),
            Err(error) => {
                assert!(tolerance == 1e-12, "{error}");
                let stagnated = matches!(error.failure, GmresFailure::Stagnated { .. });
                assert!(stagnated && error.iterations() < 200, "{error}");
            }
        }
    }
}
