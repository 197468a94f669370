//! Stopping Newton's method.

use super::{accurate, host};
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{AnyBox, SimplexBox};
use femto::kernel::form::{Form, NonlinearDiffusion, Point, Poisson};
use femto::kernel::scalar::Scalar;
use femto::problem::{
    Boundary, Exact, Function, Method, PreconditionerKind, PreconditionerReason, Problem,
    ProblemError, Solution, SolverParams, StageMonitor, StopReason,
};
use femto::solve::{Iteration, Monitor};
use femto::{OperatorParams, Quadrature};
use std::ops::ControlFlow;

/// u = x + y / 2 on all sides: with f = -∇·((1 + u²) ∇u) = -2 u |∇u|².
fn exact([x, y, _]: [f64; 3]) -> f64 {
    x + 0.5 * y
}

fn source(x: [f64; 3]) -> f64 {
    -2.5 * exact(x)
}

/// -∇·((1 + u²) ∇u) = f, of degree 2.
fn diffusion(mesh: &Mesh) -> Problem<'_> {
    let sides = ["xmin", "xmax", "ymin", "ymax"];
    Problem {
        source: vec![&source],
        dirichlet: sides.map(|side| Boundary::new(side, &exact)).into(),
        ..interpreted(mesh, 2, NonlinearDiffusion::<2>::default())
    }
}

/// The solution is equally good from any start; a residual relative to the initial one would not ensure
/// that.
#[test]
fn the_start_does_not_set_the_scale() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let (far, beyond) = (1000.0, -3e5);
    let starts: [&dyn Function; 4] = [&0.0, &far, &beyond, &exact];
    for start in starts {
        let problem = Problem {
            start: Some(vec![start]),
            exact: Some(Exact {
                value: vec![&exact],
                gradient: None,
            }),
            ..diffusion(&mesh)
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        assert!(
            solution.errors.unwrap().unwrap().l2 < 1e-7,
            "{:?}",
            solution.info
        );
        assert_eq!(solution.info.reason, StopReason::RelativeTolerance);
        let forces = solution.info.history.reference;
        assert!((0.1..10.0).contains(&forces), "{forces}");
    }
    // The last start is the solution.
    let problem = Problem {
        start: Some(vec![&exact]),
        solver: accurate(),
        ..diffusion(&mesh)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(solution.info.iterations() <= 1, "{:?}", solution.info);
}

/// Stops the iterations once, at its second call.
struct Second {
    calls: usize,
}

impl Monitor for Second {
    fn record(&mut self, _: Iteration) -> ControlFlow<()> {
        self.calls += 1;
        match self.calls {
            2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl StageMonitor for Second {}

#[test]
fn extending_boundary_values_can_be_stopped() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let problem = Problem {
        preconditioner: PreconditionerKind::Jacobi,
        ..diffusion(&mesh)
    };
    let mut monitor = Second { calls: 0 };
    let error = problem
        .solve::<f64, _>(&host(), &mut monitor)
        .expect_err("stopped");
    assert!(error.is_interruption(), "{error}");
    assert_eq!(monitor.calls, 2);
    let ProblemError::Unsolved(unsolved) = error else {
        panic!("{error}")
    };
    // The boundary values alone, before the first residual.
    assert_eq!(unsolved.error.iterations(), 0);
    let largest = unsolved.u.values.iter().copied().fold(0.0, f64::max);
    assert!((largest - 1.5).abs() < 1e-12, "{largest}");
}

/// A tolerance below single precision is not met, and reported.
#[test]
fn rounding_is_no_excuse_while_there_are_forces() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let problem = Problem {
        solver: accurate(),
        ..diffusion(&mesh)
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
        ..interpreted(&mesh, 1, NonlinearDiffusion::<2>::default())
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(solution.info.iterations() < 20, "{:?}", solution.info);
    assert!(solution.u.values.iter().all(|u| u.abs() < 1e-12));
}

/// -Δu = 1 with the load as a term of the form.
#[derive(Clone, Copy)]
struct LoadInForm;
impl Form<2> for LoadInForm {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].constant(-1.0)]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
        p.grad_u
    }
}

/// u³ + u = 2 + x, without boundary conditions.
#[derive(Clone, Copy)]
struct Reaction;
impl Form<2> for Reaction {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].powi(3) + p.u[0] - 2.0 - p.x[0]]
    }
}

/// The forces of the whole form are zero at the solution, but not those that u makes.
#[test]
fn loads_may_be_terms_of_the_form() {
    let mesh = SimplexBox::unit_square(6).build(|x| x).unwrap();
    let bar = Problem {
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        ..interpreted(&mesh, 2, LoadInForm)
    };
    let solution = bar.solve::<f64, _>(&host(), &mut ()).expect("solved");
    // Affine: one direction, accurate enough.
    assert_eq!(solution.info.iterations(), 1, "{:?}", solution.info);
    let largest = solution
        .u
        .values
        .iter()
        .fold(0.0_f64, |most, u| most.max(*u));
    assert!((largest - 0.5).abs() < 1e-6, "{largest}");
    let reaction = interpreted(&mesh, 2, Reaction);
    let solution = reaction.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let bounds = solution
        .u
        .values
        .iter()
        .fold([2.0_f64, 0.0], |[low, high], &u| [low.min(u), high.max(u)]);
    // u³ + u = 3 at x = 1.
    assert!((bounds[0] - 1.0).abs() < 1e-2, "{bounds:?}");
    assert!((bounds[1] - 1.213_41).abs() < 1e-2, "{bounds:?}");
}

/// A constant solution has no forces at all: what rounding leaves is relative to terms that cancel.
#[test]
fn constants_are_found_to_rounding() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 6).build(|x| x).unwrap();
    let problem = Problem {
        dirichlet: vec![Boundary::new("xmin", &1.0)],
        ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(solution.u.values.iter().all(|u| (u - 1.0).abs() < 1e-12));
}

/// -Δu + √|u|/1000 = 10 eᵘ has no solution, and no derivative where u is held at zero.
#[derive(Clone, Copy)]
struct Explosion;
impl Form<2> for Explosion {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].abs().sqrt() * 1e-3 - p.u[0].exp() * 10.0]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
        p.grad_u
    }
}

#[test]
fn terms_without_a_value_are_no_measure_of_rounding() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 6).build(|x| x).unwrap();
    let problem = Problem {
        dirichlet: ["xmin", "xmax", "ymin", "ymax"]
            .map(|side| Boundary::new(side, &0.0))
            .into(),
        start: Some(vec![&0.5]),
        operator: OperatorParams {
            quadrature: Quadrature::Collocated,
            ..OperatorParams::default()
        },
        solver: SolverParams {
            method: Some(Method::Gmres),
            ..SolverParams::default()
        },
        preconditioner: PreconditionerKind::None,
        ..interpreted(&mesh, 2, Explosion)
    };
    let found = problem.solve::<f64, _>(&host(), &mut ());
    assert!(matches!(found, Err(ProblemError::Unsolved(_))), "{found:?}");
}

/// Without a relative tolerance the absolute one decides, for a linear form too.
#[test]
fn a_linear_form_may_have_an_absolute_tolerance_alone() {
    let mesh = SimplexBox::unit_square(4).build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&1.0],
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        solver: SolverParams {
            method: Some(Method::Newton),
            relative_tolerance: Some(0.0),
            absolute_tolerance: 1e-10,
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, Poisson::<2>)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert_eq!(solution.info.reason, StopReason::AbsoluteTolerance);
}

/// u + [u > 1/2] = 2 by Newton's method, though its derivative is that of u.
struct Jump;

impl Form<2> for Jump {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        let is_low = p.u[0].less(p.x[0].constant(0.5));
        [p.u[0] + S::select(is_low, p.x[0].constant(0.0), p.x[0].constant(1.0))]
    }
}

#[test]
fn jumps_in_the_solution_are_not_linear() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 2).build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&2.0],
        ..interpreted(&mesh, 1, Jump)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let values = solution.u.values.iter();
    assert!(values.clone().all(|u| (u - 1.0).abs() < 1e-7), "{values:?}");
}

/// 2^u - Δu = f with u = x: the solution is in the exponent, and the Jacobian has a diagonal.
struct Exponential;

impl Form<2> for Exponential {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].constant(2.0).powf(p.u[0])]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
        p.grad_u
    }
}

#[test]
fn the_solution_may_be_an_exponent() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 4).build(|x| x).unwrap();
    let source = |[x, _, _]: [f64; 3]| 2_f64.powf(x);
    let x = |[x, _, _]: [f64; 3]| x;
    let sides = ["xmin", "xmax"].map(|side| Boundary::new(side, &x as &dyn Function));
    for preconditioner in [PreconditionerKind::Jacobi, PreconditionerKind::Multigrid] {
        let problem = Problem {
            source: vec![&source],
            dirichlet: sides.clone().into(),
            preconditioner,
            ..interpreted(&mesh, 2, Exponential)
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        assert!(super::worst(&solution.u, x) < 1e-7);
    }
}

/// u = x⁵ with κ = 1 + u², which varies from 1 to 1025: the largest forces, at x = 2, hide the residual elsewhere.
#[test]
fn coefficients_that_vary_with_u_hide_no_error() {
    let mesh = AnyBox {
        cells: vec![16, 8],
        upper: vec![2.0, 1.0],
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let mesh = mesh.build(|x| x).unwrap();
    let exact = |[x, ..]: [f64; 3]| x.powi(5);
    let source = |[x, ..]: [f64; 3]| -20.0 * x.powi(3) - 70.0 * x.powi(13);
    let problem = |relative_tolerance| Problem {
        source: vec![&source],
        dirichlet: ["xmin", "xmax"]
            .map(|side| Boundary::new(side, &exact))
            .into(),
        exact: Some(Exact {
            value: vec![&exact],
            gradient: None,
        }),
        solver: SolverParams {
            relative_tolerance,
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
    };
    let error = |solution: Solution| solution.errors.unwrap().unwrap().l2;
    let accurate = problem(Some(1e-12)).solve::<f64, _>(&host(), &mut ());
    let accurate = error(accurate.unwrap());
    let found = problem(None).solve::<f64, _>(&host(), &mut ()).unwrap();
    assert_eq!(
        found.preconditioner.reason,
        PreconditionerReason::Directions
    );
    assert!(found.settling.unwrap() < 1e-7, "{:?}", found.settling);
    let found = error(found);
    assert!(found < 1.01 * accurate, "{found:e} {accurate:e}");
    let single = problem(None).solve::<f32, _>(&host(), &mut ()).unwrap();
    let found = error(single);
    assert!(found < 1.1 * accurate, "{found:e} {accurate:e}");
    // A tolerance that is asked for is kept, and what is left is known.
    let rough = problem(Some(1e-5)).solve::<f64, _>(&host(), &mut ());
    let rough = rough.unwrap();
    assert!(rough.settling.unwrap() > 1e-4, "{:?}", rough.settling);
}
