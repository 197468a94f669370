//! Stopping Newton's method.

use super::{accurate, host};
use crate::common::interpreted;
use femto::fem::mesh::boxes::SimplexBox;
use femto::kernel::form::NonlinearDiffusion;
use femto::problem::{Boundary, Exact, Function, Problem, ProblemError, StopReason};

/// u = x + y / 2 on all sides: with f = -∇·((1 + u²) ∇u) = -2 u |∇u|².
fn exact([x, y, _]: [f64; 3]) -> f64 {
    x + 0.5 * y
}

fn source(x: [f64; 3]) -> f64 {
    -2.5 * exact(x)
}

/// The solution is equally good from any start; a residual relative to the initial one would not ensure
/// that.
#[test]
fn the_start_does_not_set_the_scale() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let sides = ["xmin", "xmax", "ymin", "ymax"];
    let (far, beyond) = (1000.0, -3e5);
    let starts: [&dyn Function; 4] = [&0.0, &far, &beyond, &exact];
    for start in starts {
        let problem = Problem {
            source: vec![&source],
            dirichlet: sides.map(|side| Boundary::new(side, &exact)).into(),
            start: Some(vec![start]),
            exact: Some(Exact {
                value: vec![&exact],
                gradient: None,
            }),
            ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        assert!(solution.errors.unwrap().l2 < 1e-7, "{:?}", solution.info);
        assert_eq!(solution.info.reason, StopReason::RelativeTolerance);
        let forces = solution.info.history.reference;
        assert!((0.1..10.0).contains(&forces), "{forces}");
    }
    // The last start is the solution.
    let problem = Problem {
        source: vec![&source],
        dirichlet: sides.map(|side| Boundary::new(side, &exact)).into(),
        start: Some(vec![&exact]),
        solver: accurate(),
        ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(solution.info.iterations() <= 1, "{:?}", solution.info);
}

/// A tolerance below single precision is not met, and reported.
#[test]
fn rounding_is_no_excuse_while_there_are_forces() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&source],
        dirichlet: ["xmin", "xmax", "ymin", "ymax"]
            .map(|side| Boundary::new(side, &exact))
            .into(),
        solver: accurate(),
        ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
    };
    let found = problem.solve::<f32, _>(&host(), &mut ());
    match found {
        Err(ProblemError::Unsolved(unsolved)) => {
            let history = &unsolved.error.history;
            let last = history.residuals.last().unwrap() / history.reference;
            assert!(last < 1e-5, "{:?}", unsolved.error);
        }
        other => panic!("{other:?}"),
    }
}

/// Without loads the forces at the solution are zero, so no residual is small relative to them.
#[test]
fn zero_is_found_to_rounding() {
    let mesh = SimplexBox::unit_square(4).build(|x| x).unwrap();
    let problem = Problem {
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        start: Some(vec![&3.0]),
        ..Problem::new(&mesh, 1, NonlinearDiffusion::<2>::default())
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(solution.info.iterations() < 20, "{:?}", solution.info);
    assert!(solution.u.values.iter().all(|u| u.abs() < 1e-12));
}
