//! Conjugate gradients.

use super::*;
use Preconditioning::Identity;
use femto_platform::device::null::{Null, NullBuffer};

fn ramp(size: usize) -> Vec<f64> {
    (0..size).map(|i| 1.0 + i as f64 / 4.0).collect()
}

#[test]
fn dense_systems_are_solved_within_their_size() {
    for size in 1..12 {
        let matrix = Dense::positive_definite(size, 1.0);
        let wanted = ramp(size);
        let outcome = solve(
            &matrix,
            Identity,
            &matrix.times(&wanted),
            relative(CG, 1e-11),
        );
        assert_close(&outcome.x, &wanted, 1e-9);
        let info = outcome.result.unwrap();
        let iterations = info.iterations();
        assert!(iterations <= size + 2, "{iterations} of {size}");
        assert_eq!(info.history.residuals.len(), iterations + 1);
        assert_eq!(info.reason, StopReason::RelativeTolerance);
    }
}

#[test]
fn a_diagonal_takes_one_jacobi_step() {
    let matrix = Dense::new(20, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
    let host = Host::with_threads(1).unwrap();
    let jacobi = Jacobi::new(&host, &host.upload(&matrix.diagonal()).unwrap()).unwrap();
    let plain = solve(&matrix, Identity, &[1.0; 20], CG);
    assert!(plain.iterations() > 10);
    let wanted: Vec<f64> = (1..=20).map(|i| 1.0 / f64::from(i)).collect();
    for preconditioning in [
        Preconditioning::Jacobi(&jacobi),
        Preconditioning::any(&host, &jacobi).unwrap(),
    ] {
        let outcome = solve(&matrix, preconditioning, &[1.0; 20], CG);
        assert_close(&outcome.x, &wanted, 1e-15);
        assert_eq!(outcome.iterations(), 1);
    }
}

#[test]
fn poisson_in_one_dimension_takes_half_as_many_steps_as_unknowns() {
    let poisson = Poisson { size: 100 };
    let outcome = solve(&poisson, Identity, &[1.0; 100], CG);
    assert_close(&outcome.x, &poisson.exact(), 1e-8);
    // By symmetry of the right-hand side and of all directions, only 50 of them are independent.
    assert_eq!(outcome.iterations(), 50);
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let poisson = Poisson { size: 30_000 };
    let b: Vec<f64> = (0..poisson.size).map(|i| (i as f64).sin()).collect();
    let outcomes = [1, 2, 3].map(|threads| {
        let system = System {
            device: &Host::with_threads(threads).unwrap(),
            operator: &poisson,
            preconditioning: Identity,
        };
        let outcome = run(
            system,
            &b,
            &vec![0.0; b.len()],
            stopping(CG, |stop| stop.max_iterations = 30),
            &mut (),
        );
        let bits: Vec<u64> = outcome.x.iter().map(|x| x.to_bits()).collect();
        (outcome.result.unwrap_err().history, bits)
    });
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}

#[test]
fn the_start_is_what_x_holds() {
    let poisson = Poisson { size: 100 };
    let outcome = poisson.solve(&poisson.exact(), CG, &mut ());
    assert_eq!(outcome.iterations(), 0);
}

#[test]
fn an_indefinite_operator_is_an_error_with_its_history() {
    let matrix = Dense::new(4, |i, j| match (i == j, i) {
        (true, 3) => -5.0,
        (true, _) => 1.0 + i as f64,
        _ => 0.0,
    });
    let outcome = solve(&matrix, Identity, &[1.0, 1.0, 1.0, 0.1], CG);
    let error = outcome.result.unwrap_err();
    let StopReason::NotPositiveDefinite { curvature } = error.reason else {
        panic!("{error}");
    };
    assert!(curvature < 0.0);
    assert!(error.iterations() >= 1);
    let message = error.to_string();
    assert!(message.contains("not positive definite"), "{message}");
}

#[test]
fn an_indefinite_preconditioner_is_another_error() {
    let host = Host::with_threads(1).unwrap();
    let minus = Multiple {
        device: host.clone(),
        size: 3,
        factor: -1.0,
    };
    let preconditioning = Preconditioning::any(&host, &minus).unwrap();
    let poisson = Poisson { size: 3 };
    let reason = solve(&poisson, preconditioning, &[1.0; 3], CG).reason();
    let wanted = StopReason::PreconditionerNotPositiveDefinite { product: -3.0 };
    assert_eq!(reason, wanted);
}

/// Entries from 1e-8 to 1e8, without order: M has nothing of A, and (r, M⁻¹ r) only its few large entries.
#[test]
fn a_stall_ends_the_iterations_if_asked_for() {
    let poisson = Poisson { size: 400 };
    let host = Host::with_threads(1).unwrap();
    let entry = |i: usize| 10_f64.powi((i * i * 7 % 17) as i32 - 8);
    let diagonal: Vec<f64> = (0..400).map(entry).collect();
    let jacobi = Jacobi::new(&host, &host.upload(&diagonal).unwrap()).unwrap();
    let with = |max_stalled| {
        let params = stopping(CG, |stop| {
            (stop.max_stalled, stop.max_iterations) = (max_stalled, 300);
        });
        let jacobi = Preconditioning::Jacobi(&jacobi);
        solve(&poisson, jacobi, &[1.0; 400], params)
            .result
            .unwrap_err()
    };
    let error = with(20);
    assert_eq!(error.reason, StopReason::Stalled { steps: 20 });
    assert!((20..300).contains(&error.iterations()), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("hardly any progress in 20 steps")
    );
    let patient = with(usize::MAX).reason;
    assert!(
        matches!(patient, StopReason::NotConverged { .. }),
        "{patient}"
    );
}

#[test]
fn the_true_residual_is_that_of_the_solution() {
    let matrix = Dense::positive_definite(30, 1.0);
    let outcome = solve(&matrix, Identity, &ramp(30), CG);
    let info = outcome.result.unwrap();
    let residual = matrix.distance(&outcome.x, &ramp(30));
    assert!((info.true_residual - residual).abs() <= 1e-6 * residual);
    let recurrence = *info.history.residuals.last().unwrap();
    assert!((recurrence - residual).abs() <= 1e-3 * residual);
}

/// The first iterates are so large that b - A x ends up at their rounding errors.
#[test]
fn a_residual_that_drifted_away_is_replaced() {
    let poisson = Poisson { size: 60 };
    let start: Vec<f64> = (0..60).map(|i| 1e12 * f64::from(i).sin()).collect();
    let outcome = poisson.solve(&start, CG, &mut ());
    assert_close(&outcome.x, &poisson.exact(), 1e-4);
    let info = outcome.result.unwrap();
    let target = 1e-8 * 60_f64.sqrt();
    assert!(info.true_residual <= 10.0 * target, "{info:?}");
    let residuals = &info.history.residuals;
    assert_eq!(residuals.len(), info.iterations() + 1);
    let replaced = |&norm: &f64| norm > 100.0 * target && norm < 1.0;
    assert!(residuals[1..].iter().any(replaced), "{residuals:?}");
}

/// If rounding leaves a few times the target, the iteration restarts before it reports success.
#[test]
fn a_residual_that_drifted_a_little_is_mended() {
    let poisson = Poisson { size: 60 };
    for scale in [1e7, 3e7, 1e8, 3e8, 1e9, 3e9, 1e10] {
        let start: Vec<f64> = (0..60).map(|i| scale * f64::from(i).sin()).collect();
        let info = poisson.solve(&start, CG, &mut ()).result.unwrap();
        let target = 1e-8 * 60_f64.sqrt();
        assert!(info.true_residual <= 1.1 * target, "{scale} {info:?}");
    }
}

/// A single-precision system whose exact solution is not representable: its outcome, and |b - A x|.
fn single_precision(relative_tolerance: f64) -> (Result<SolveInfo, SolveError>, f64) {
    let matrix = Dense::positive_definite(40, 2.0);
    let wanted: Vec<f64> = (0..40).map(|i| (f64::from(i) + 0.3).sin()).collect();
    let b: Vec<f32> = matrix.times(&wanted).iter().map(|&b| b as f32).collect();
    let system = System {
        device: &Host::with_threads(2).unwrap(),
        operator: &matrix,
        preconditioning: Identity,
    };
    let outcome = run(
        system,
        &b,
        &[0.0; 40],
        relative(CG, relative_tolerance),
        &mut (),
    );
    let [x, b] = [outcome.x, b].map(|v| v.into_iter().map(f64::from).collect::<Vec<_>>());
    assert!(distance(&x, &wanted) < 1e-3, "{x:?} {:?}", outcome.result);
    (outcome.result, matrix.distance(&x, &b))
}

#[test]
fn single_precision_converges_to_its_own_accuracy() {
    let (result, residual) = single_precision(1e-6);
    let found = result.unwrap().true_residual;
    assert!((found - residual).abs() <= 0.5 * residual, "{found}");
}

/// A x is rounded to single precision, so that |b - A x| is known only to its order of magnitude.
#[test]
fn more_than_single_precision_is_an_error() {
    for tolerance in [1e-9, 1e-12] {
        let (result, residual) = single_precision(tolerance);
        let error = result.unwrap_err();
        let StopReason::Stagnated {
            true_residual,
            target,
        } = error.reason
        else {
            panic!("{error}");
        };
        assert!(true_residual > 10.0 * target, "{error}");
        let ratio = true_residual / residual;
        assert!((0.5..2.0).contains(&ratio), "{true_residual} {residual}");
        assert_eq!(error.history.residuals.last(), Some(&true_residual));
        assert!(error.iterations() < 500, "{}", error.iterations());
    }
}

/// An operator that does no work.
struct Free(usize);

impl LinearOperator<f64, Null> for Free {
    fn size(&self) -> usize {
        self.0
    }
    fn apply(&self, _: &NullBuffer<f64>, _: &mut NullBuffer<f64>) -> Result<(), OperatorError> {
        Ok(())
    }
}

/// A Jacobi step passes over no more vectors than an unpreconditioned one, except over the diagonal twice.
#[test]
fn a_step_launches_each_fused_update_once() {
    let null = Null::new();
    let jacobi = Jacobi::new(&null, &null.zeros(10).unwrap()).unwrap();
    let plain = (80 * (3 + 2 + 2), 80 * (2 + 1));
    let scaled = (plain.0 + 80 * 2, plain.1);
    for (preconditioning, names, work) in [
        (
            Identity,
            ["update_direction", "dot", "update_residual"],
            plain,
        ),
        (
            Preconditioning::Jacobi(&jacobi),
            ["update_direction_scaled", "dot", "update_residual_scaled"],
            scaled,
        ),
    ] {
        let mut system = System {
            device: &null,
            operator: &Free(10),
            preconditioning,
        };
        let mut workspace = crate::solve::cg::CgWorkspace::new(&null, 10).unwrap();
        let mut x = null.zeros(10).unwrap();
        null.reset();
        crate::solve::cg::step(&mut system, &mut workspace, &mut x).unwrap();
        let launches = null.launches();
        assert!(launches.iter().map(|launch| &*launch.name).eq(names));
        let sum = |bytes: fn(&femto_platform::device::null::Launch) -> u64| {
            launches.iter().map(bytes).sum::<u64>()
        };
        let found = (
            sum(|launch| launch.bytes_read),
            sum(|launch| launch.bytes_written),
        );
        assert_eq!(found, work);
    }
}
