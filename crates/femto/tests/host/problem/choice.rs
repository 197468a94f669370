//! The preconditioner that a problem chooses, and what happens if it fails.

use super::multigrid::difference_from_jacobi;
use super::*;
use crate::common::forms::Cubic;
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::kernel::form::{
    Coefficient, ConvectionDiffusion, Diffusion, Form, LinearElasticity, Mass, Point,
};
use femto::kernel::scalar::{Precision, Scalar};
use femto::problem::{
    MultigridParams, PreconditionerKind, PreconditionerReason, ProblemError, ProblemForm, Solution,
    StageMonitor, StopReason, Unsolved,
};
use femto::solve::{Iteration, Monitor};
use std::ops::ControlFlow;

/// 24 389 unknowns at degree 3.
fn ten_cubed() -> Mesh {
    BoxMesh::unit_cube(10).build(|x| x).unwrap()
}

pub(super) fn solve(problem: &Problem<'_>) -> Solution {
    problem.solve::<f64, _>(&host(), &mut ()).unwrap()
}

fn unsolved(problem: &Problem<'_>) -> Unsolved {
    match problem.solve::<f64, _>(&host(), &mut ()) {
        Err(ProblemError::Unsolved(unsolved)) => *unsolved,
        Err(error) => panic!("{error}"),
        Ok(solution) => panic!("solved: {:?}", solution.info),
    }
}

/// u = 0 on all sides, f = 1.
pub(super) fn held(mesh: &Mesh, form: ProblemForm) -> Problem<'_> {
    Problem {
        source: vec![&1.0],
        dirichlet: on_all_sides(&0.0),
        ..Problem::of_form(mesh, 3, form)
    }
}

fn poisson(mesh: &Mesh) -> Problem<'_> {
    held(mesh, ProblemForm::interpreted(&Poisson::<3>).unwrap())
}

#[test]
fn multigrid_is_chosen_for_large_symmetric_forms() {
    let mesh = ten_cubed();
    let problem = poisson(&mesh);
    let solution = solve(&problem);
    assert_eq!(solution.preconditioner.kind, PreconditionerKind::Multigrid);
    assert!(solution.info.iterations() <= 9, "{:?}", solution.info);
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    let small = BoxMesh::unit_cube(2).build(|x| x).unwrap();
    for (problem, reason) in [
        (
            held(&mesh, ProblemForm::interpreted(&Mass::<3>).unwrap()),
            PreconditionerReason::NoGradients,
        ),
        (poisson(&small), PreconditionerReason::Few { unknowns: 125 }),
    ] {
        let solution = solve(&problem);
        assert_eq!(solution.preconditioner.kind, PreconditionerKind::Jacobi);
        assert_eq!(solution.preconditioner.reason, reason);
        assert!(solution.levels.is_empty());
    }
}

/// b·∇u - Δu = 1 with this b along x.
fn wind(mesh: &Mesh, speed: f64) -> Problem<'_> {
    let form = ConvectionDiffusion::<3> {
        kappa: 1.0.into(),
        velocity: [speed, 0.0, 0.0].map(Coefficient::Constant),
    };
    held(mesh, ProblemForm::interpreted::<_, 3, 1>(&form).unwrap())
}

#[test]
fn multigrid_is_chosen_for_little_convection() {
    let mesh = ten_cubed();
    let problem = wind(&mesh, 2.0);
    let solution = solve(&problem);
    let choice = &solution.preconditioner;
    assert_eq!(choice.reason, PreconditionerReason::LittleConvection);
    assert_eq!(choice.kind, PreconditionerKind::Multigrid);
    assert!(solution.info.iterations() <= 12, "{:?}", solution.info);
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    let mut problem = wind(&mesh, 100.0);
    let solution = solve(&problem);
    let choice = &solution.preconditioner;
    let PreconditionerReason::MuchConvection { convection } = choice.reason else {
        panic!("{choice:?}")
    };
    assert!((1.5..4.0).contains(&convection), "{convection}");
    assert_eq!(choice.kind, PreconditionerKind::Jacobi);
    assert!(solution.levels.is_empty());
    // Where it is asked for it stays.
    problem.preconditioner = PreconditionerKind::Multigrid;
    let solution = solve(&problem);
    let level = solution.levels.iter().find_map(|level| level.convection);
    assert_eq!(level, Some(convection));
}

/// b·∇u + u³ - ∇·(1 + u²) ∇u with b along x: its derivative is not symmetric.
#[derive(Clone)]
struct Conductive {
    speed: f64,
}

impl Form<3> for Conductive {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.grad_u[0][0] * self.speed + p.u[0].powi(3)]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        let kappa = p.u[0] * p.u[0] + 1.0;
        [p.grad_u[0].map(|slope| slope * kappa)]
    }
}

#[test]
fn multigrid_is_chosen_for_derivatives_with_little_convection() {
    let mesh = ten_cubed();
    let of_speed = |speed| {
        let form = ProblemForm::interpreted::<_, 3, 1>(&Conductive { speed });
        Problem {
            source: vec![&10.0],
            ..held(&mesh, form.unwrap())
        }
    };
    let problem = of_speed(0.0);
    let solution = solve(&problem);
    let choice = &solution.preconditioner;
    assert_eq!(choice.reason, PreconditionerReason::LittleConvection);
    assert_eq!(choice.kind, PreconditionerKind::Multigrid);
    let steps = &solution.info.history.newton_steps;
    let directions: usize = steps.iter().map(|step| step.linear_iterations).sum();
    assert!(directions <= 20, "{:?}", solution.info);
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    let solution = solve(&of_speed(100.0));
    let choice = &solution.preconditioner;
    let much = matches!(choice.reason, PreconditionerReason::MuchConvection { .. });
    assert!(much, "{choice:?}");
    assert!(solution.levels.is_empty());
}

/// GMRES with cycles that hardly get on, as the smoother amplifies what it should smooth, goes on with Jacobi.
#[test]
fn cycles_of_gmres_that_hardly_get_on_are_given_up() {
    let mesh = ten_cubed();
    let problem = Problem {
        multigrid: MultigridParams {
            safety: 0.1,
            ..MultigridParams::default()
        },
        ..wind(&mesh, 2.0)
    };
    let mut numbers = Numbers::default();
    let solution = problem.solve::<f64, _>(&host(), &mut numbers).unwrap();
    let choice = &solution.preconditioner;
    let PreconditionerReason::GaveUp { iterations, reason } = &choice.reason else {
        panic!("{choice:?} {}", solution.info.iterations())
    };
    assert!(*iterations < 200, "{iterations}: {reason}");
    let is_lack = matches!(
        reason,
        StopReason::Stalled { .. } | StopReason::NoProgress { .. }
    );
    assert!(is_lack, "{reason}");
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
}

/// The numbers of all iterations.
#[derive(Default)]
struct Numbers(Vec<usize>);

impl Monitor for Numbers {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.0.push(iteration.number);
        ControlFlow::Continue(())
    }
}

impl StageMonitor for Numbers {}

/// The smoother amplifies what it should smooth if its bound of the eigenvalues is too low.
#[test]
fn a_cycle_that_is_not_positive_definite_is_given_up() {
    let mesh = ten_cubed();
    for (safety, most) in [(0.85, 4), (0.7, 1), (0.3, 0)] {
        let problem = Problem {
            multigrid: MultigridParams {
                safety,
                ..MultigridParams::default()
            },
            ..poisson(&mesh)
        };
        let mut numbers = Numbers::default();
        let solution = problem.solve::<f64, _>(&host(), &mut numbers).unwrap();
        let PreconditionerReason::GaveUp { iterations, reason } = &solution.preconditioner.reason
        else {
            panic!("{safety}: {:?}", solution.preconditioner);
        };
        assert!(*iterations <= most, "{safety}: {iterations}");
        assert!(
            matches!(reason, StopReason::PreconditionerNotPositiveDefinite { .. }),
            "{reason}"
        );
        let words = solution.preconditioner.reason.to_string();
        let wanted = format!("multigrid was given up after {iterations} iterations: the precondi");
        assert!(words.starts_with(&wanted), "{words}");
        assert_eq!(solution.preconditioner.kind, PreconditionerKind::Jacobi);
        assert!(solution.levels.is_empty());
        assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
        // One history of all iterations; the monitor saw the last iterate with multigrid twice.
        let info = solution.info;
        assert_eq!(info.history.residuals.len(), info.iterations() + 1);
        let mut wanted: Vec<usize> = (0..=info.iterations()).collect();
        wanted.insert(*iterations, *iterations);
        assert_eq!(numbers.0, wanted);
    }
    // Who asks for it gets it.
    let asked = Problem {
        multigrid: MultigridParams {
            safety: 0.7,
            ..MultigridParams::default()
        },
        preconditioner: PreconditionerKind::Multigrid,
        ..poisson(&mesh)
    };
    let error = unsolved(&asked).error.reason;
    assert!(
        matches!(error, StopReason::PreconditionerNotPositiveDefinite { .. }),
        "{error}"
    );
}

/// Numbers below 1e-45 are zero in the cycle's precision.
#[test]
fn loads_too_small_for_the_cycle_are_jacobis() {
    let mesh = ten_cubed();
    let unit = solve(&poisson(&mesh));
    let tiny = 1e-42;
    let problem = Problem {
        source: vec![&tiny],
        ..poisson(&mesh)
    };
    let solution = solve(&problem);
    let reason = &solution.preconditioner.reason;
    assert!(
        matches!(reason, PreconditionerReason::GaveUp { .. }),
        "{reason}"
    );
    let scaled: Vec<f64> = solution.u.values.iter().map(|u| u / tiny).collect();
    assert!(crate::common::difference(&scaled, &unit.u.values) < 1e-6);
}

/// Cycles are given up in the first direction, and all later ones are Jacobi's.
#[test]
fn newtons_directions_choose_too() {
    let mesh = ten_cubed();
    let form = ProblemForm::interpreted::<_, 3, 1>(&Cubic).unwrap();
    let problem = Problem {
        source: vec![&1000.0],
        ..held(&mesh, form)
    };
    let solution = solve(&problem);
    assert_eq!(solution.preconditioner.kind, PreconditionerKind::Multigrid);
    assert!(solution.info.history.linear_iterations() <= 20);
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    for safety in [0.7, 0.3] {
        let problem = Problem {
            multigrid: MultigridParams {
                safety,
                ..MultigridParams::default()
            },
            ..problem.clone()
        };
        let solution = solve(&problem);
        let reason = &solution.preconditioner.reason;
        assert!(
            matches!(
                reason,
                PreconditionerReason::GaveUp {
                    iterations: 0..=2,
                    ..
                }
            ),
            "{reason}"
        );
        assert!(solution.levels.is_empty());
        assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    }
}

/// -Δu - k² u.
#[derive(Clone)]
struct Helmholtz(f64);

impl Form<3> for Helmholtz {
    fn f0<S: Scalar>(&self, point: &Point<S, 3>) -> [S; 1] {
        [point.u[0] * -self.0]
    }
    fn f1<S: Scalar>(&self, point: &Point<S, 3>) -> [[S; 3]; 1] {
        point.grad_u
    }
}

/// The smallest eigenvalue of -Δ is 3π² = 29.6; slightly above, only the iterations find out.
#[test]
fn an_indefinite_form_is_never_solved_silently() {
    let mesh = ten_cubed();
    let form = |k2| ProblemForm::interpreted::<_, 3, 1>(&Helmholtz(k2)).unwrap();
    let skew = |[x, y, z]: [f64; 3]| 1.0 + x + y * z;
    for (k2, is_set_up) in [(31.0, true), (100.0, false)] {
        let problem = Problem {
            source: vec![&skew],
            ..held(&mesh, form(k2))
        };
        let unsolved = unsolved(&problem);
        let reason = &unsolved.preconditioner.reason;
        match reason {
            PreconditionerReason::GaveUp { .. } if is_set_up => (),
            PreconditionerReason::NoMultigrid(_) if !is_set_up => (),
            _ => panic!("{k2}: {reason}"),
        }
        let error = unsolved.error.reason;
        assert!(
            matches!(error, StopReason::NotPositiveDefinite { .. }),
            "{error}"
        );
    }
}

/// Numbers beyond 1e38 are infinite in fp32.
#[test]
fn coefficients_too_large_for_fp32_have_cycles_in_fp64() {
    let mesh = ten_cubed();
    let unit = solve(&poisson(&mesh));
    let diffusion = Diffusion::<3> { kappa: 1e45.into() };
    let form = ProblemForm::interpreted::<_, 3, 1>(&diffusion).unwrap();
    let solution = solve(&held(&mesh, form));
    assert_eq!(solution.preconditioner.kind, PreconditionerKind::Multigrid);
    assert_eq!(solution.levels[0].precision, Precision::Fp64);
    let scaled: Vec<f64> = solution.u.values.iter().map(|u| u * 1e45).collect();
    assert!(crate::common::difference(&scaled, &unit.u.values) < 1e-6);
}

/// Near ν = 1/2 the residual grows a thousandfold first and cycles converge slowly; yet Jacobi would take 30
/// times as many iterations.
#[test]
fn a_slow_cycle_is_kept() {
    let mesh = AnyBox {
        cell: Cell::Quadrilateral,
        cells: vec![100, 25],
        lower: vec![0.0; 2],
        upper: vec![4.0, 1.0],
        geometry_degree: 1,
        irregular: None,
    };
    let mesh = mesh.build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&0.0, &-1.0],
        dirichlet: vec![Boundary::vector("xmin", [&0.0, &0.0])],
        solver: SolverParams {
            relative_tolerance: Some(1e-5),
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, LinearElasticity::<2>::from_young(1.0, 0.4999))
    };
    let solution = solve(&problem);
    let residuals = &solution.info.history.residuals;
    assert_eq!(solution.preconditioner.kind, PreconditionerKind::Multigrid);
    assert!(residuals.iter().any(|&norm| norm > 100.0 * residuals[0]));
    assert!(
        solution.info.iterations() > 50,
        "{:?}",
        solution.info.iterations()
    );
}
