//! Newton's method where numbers are small beside the rounding of others.

use super::host;
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::mesh::boxes::{AnyBox, SimplexBox};
use femto::kernel::form::{NonlinearDiffusion, Poisson};
use femto::problem::{Boundary, Function, PreconditionerKind, Problem, ProblemError, StopReason};

/// Loads whose squares are zero are not zero.
#[test]
fn loads_without_squares_are_refused() {
    let mesh = SimplexBox::unit_square(4).build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&1e-200],
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        ..interpreted(&mesh, 1, NonlinearDiffusion::<2>::default())
    };
    let error = problem.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    let ProblemError::Unsolved(unsolved) = error else {
        panic!("{error}")
    };
    assert!(matches!(
        unsolved.error.reason,
        StopReason::Underflow { .. }
    ));
}

/// The default tolerance is within reach of fp32, on meshes where rounding leaves a few times as much.
#[test]
fn single_precision_solves_with_the_default_tolerance() {
    for (n, degree) in [(4, 4), (16, 2), (32, 2), (64, 1)] {
        let mesh = AnyBox::unit(Cell::Quadrilateral, n).build(|x| x).unwrap();
        let given = |[x, y, _]: [f64; 3]| x + 0.3 * y;
        let problem = Problem {
            source: vec![&|[x, y, _]: [f64; 3]| 10.0 * x * y],
            dirichlet: ["xmin", "ymax"]
                .map(|tag| Boundary::new(tag, &given))
                .into(),
            ..interpreted(&mesh, degree, NonlinearDiffusion::<2>::default())
        };
        let exact = problem.solve::<f64, _>(&host(), &mut ()).unwrap().u.values;
        let found = problem.solve::<f32, _>(&host(), &mut ()).unwrap().u.values;
        let size = exact.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let apart = found.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        let error = apart.fold(0.0, f64::max) / size;
        assert!(error < 1e-4, "{n} {degree}: {error:e}");
    }
}

/// Nor are loads and boundary values that fp32 rounds to zero.
#[test]
fn what_fp32_rounds_to_zero_is_refused() {
    let mesh = SimplexBox::unit_square(4).build(|x| x).unwrap();
    let tiny: &dyn Function = &1e-60;
    for (source, given, is_lost) in [
        (vec![&0.0 as &dyn Function], 0.0, false),
        (vec![tiny], 0.0, true),
        (vec![&0.0], 1e-60, true),
        (vec![tiny], 1.0, false),
    ] {
        for problem in [
            interpreted(&mesh, 1, Poisson::<2>),
            interpreted(&mesh, 1, NonlinearDiffusion::<2>::default()),
        ] {
            let problem = Problem {
                source: source.clone(),
                dirichlet: vec![Boundary::new("xmin", &given)],
                ..problem
            };
            let error = problem.solve::<f32, _>(&host(), &mut ()).err();
            let found = matches!(error, Some(ProblemError::RoundedToZero { .. }));
            assert_eq!(found, is_lost, "{given}: {error:?}");
            assert!(is_lost || error.is_none(), "{error:?}");
        }
    }
}

/// A long bar of 300 at one end, heated so little that fp32 cannot tell the loads from rounding: its middle would be colder, or
/// hardly warmer.
#[test]
fn loads_below_the_rounding_of_a_long_bar_are_no_solution() {
    let form = NonlinearDiffusion::<2> {
        kappa: [1.0, 1e-7, 0.0],
    };
    for (cells, heat) in [(100, 1e-4), (50, 8e-4)] {
        let bar = AnyBox {
            cells: vec![cells, 1],
            upper: vec![cells as f64, 1.0],
            ..AnyBox::unit(Cell::Quadrilateral, 1)
        };
        let mesh = bar.build(|x| x).unwrap();
        let problem = Problem {
            source: vec![&heat],
            dirichlet: vec![Boundary::new("xmin", &300.0)],
            preconditioner: PreconditionerKind::Jacobi,
            ..interpreted(&mesh, 2, form)
        };
        match problem.solve::<f32, _>(&host(), &mut ()).unwrap_err() {
            ProblemError::Unsolved(unsolved) => assert!(
                matches!(unsolved.error.reason, StopReason::Stagnated { .. }),
                "{:?}",
                unsolved.error
            ),
            other => panic!("{other}"),
        }
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        let warmest = solution
            .u
            .values
            .iter()
            .fold(0.0, |most: f64, u| most.max(*u));
        assert!(warmest > 300.0 && warmest < 300.0 + heat * (cells * cells) as f64);
    }
}
