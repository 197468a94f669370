//! Residuals of linear equations in fp32 that are only rounding.

use super::multigrid::poisson;
use super::*;
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::problem::{Given, ProblemError, Robin};
use femto::solve::StopReason;

fn rectangle(cells: [usize; 2]) -> Mesh {
    let rectangle = AnyBox {
        cells: cells.into(),
        upper: cells.map(|it| it as f64 / cells[1] as f64).into(),
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    rectangle.build(|x| x).unwrap()
}

/// The largest difference of the solutions in fp32 and fp64, relative to the latter.
fn difference(problem: &Problem<'_>, found: &[f64]) -> f64 {
    let solution = problem.solve::<f64, _>(&host(), &mut ()).unwrap();
    let exact = &solution.u.values;
    let largest =
        |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |a: f64, b| a.max(b.abs()));
    largest(&mut exact.iter().zip(found).map(|(a, b)| a - b)) / largest(&mut exact.iter().copied())
}

#[test]
fn default_tolerances_are_within_reach_of_fp32() {
    let mesh = rectangle([220, 220]);
    let problem = poisson(&mesh, 2, 1);
    let solution = problem.solve::<f32, _>(&host(), &mut ()).unwrap();
    let info = &solution.info;
    assert_eq!(info.reason, StopReason::Rounding);
    assert!(info.true_residual > 1e-4 * info.history.reference);
    let error = difference(&problem, &solution.u.values);
    assert!(error < 1e-5, "{error:e}");
    // One that is asked for is not.
    let asked = Problem {
        solver: SolverParams {
            relative_tolerance: Some(1e-5),
            ..SolverParams::default()
        },
        ..problem
    };
    let error = asked.solve::<f32, _>(&host(), &mut ()).unwrap_err();
    let ProblemError::Unsolved(unsolved) = error else {
        panic!("{error}")
    };
    let reason = unsolved.error.reason;
    assert!(matches!(reason, StopReason::Stagnated { .. }), "{reason}");
}

/// A bar so long, held at one end, that rounding is as large as the loads.
#[test]
fn loads_that_rounding_hides_are_not_solved_for() {
    let mesh = rectangle([4000, 1]);
    let problem = Problem {
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        ..poisson(&mesh, 2, 1)
    };
    match problem.solve::<f32, _>(&host(), &mut ()) {
        Err(ProblemError::Unsolved(_)) => (),
        Err(error) => panic!("{error}"),
        Ok(solution) => {
            let error = difference(&problem, &solution.u.values);
            panic!("{:?}: {error:e}", solution.info.reason);
        }
    }
}

/// The loads of a Robin term that holds u near 10⁵ do not hide those that bend it.
#[test]
fn loads_of_constants_do_not_count() {
    let mesh = rectangle([150, 150]);
    let held = 1e5;
    let problem = Problem {
        dirichlet: Vec::new(),
        robin: vec![Robin {
            tag: "xmin".into(),
            alpha: Given::All(vec![&1.0]),
            value: Given::All(vec![&held]),
        }],
        ..poisson(&mesh, 2, 2)
    };
    let outcome = problem.solve::<f32, _>(&host(), &mut ());
    assert!(matches!(outcome, Err(ProblemError::Unsolved(_))));
}
