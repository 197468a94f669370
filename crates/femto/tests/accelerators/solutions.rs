//! Solutions on accelerators against the host: constraints on slanted planes, and the change from Jacobi to multigrid.

use crate::common::forms::Cubic;
use crate::common::{bound::accelerator, difference, interpreted};
use femto::Host;
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::form::{LinearElasticity, Poisson};
use femto::problem::{
    AlongNormal, Boundary, PreconditionerKind, PreconditionerReason, Problem, ProblemForm,
    Solution, SolverParams,
};

#[test]
fn slanted_planes_hold_as_on_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let (s, c) = 0.6_f64.sin_cos();
    let mesh = AnyBox {
        cells: vec![3, 2, 2],
        ..AnyBox::unit(Cell::Hexahedron, 1)
    };
    let mesh = mesh.build(|[x, y, z]| [c * x - s * y, s * x + c * y, z]);
    let mesh = mesh.unwrap();
    let along = |tag: &str, value| AlongNormal {
        tag: tag.to_owned(),
        value,
    };
    for preconditioner in [PreconditionerKind::Jacobi, PreconditionerKind::Multigrid] {
        let problem = Problem {
            source: vec![&0.1, &-0.3, &0.2],
            along_normal: vec![
                along("xmin", &0.0),
                along("ymax", &0.05),
                along("zmin", &0.0),
            ],
            preconditioner,
            solver: SolverParams {
                relative_tolerance: Some(1e-10),
                ..SolverParams::default()
            },
            ..interpreted(&mesh, 3, LinearElasticity::<3>::from_young(1.0, 0.3))
        };
        let wanted = problem.solve::<f64, _>(&host, &mut ()).unwrap();
        let found = problem.solve::<f64, _>(&device, &mut ()).unwrap();
        let error = difference(&found.u.values, &wanted.u.values);
        assert!(error < 1e-8, "{preconditioner:?}: {error:e}");
    }
}

/// Iterations that are allowed: fewer than multigrid's set-up takes, and enough for its cycles.
const ALLOWED: usize = 240;

/// The reason to take multigrid in place of Jacobi, which takes many more iterations, and the
/// solution, which is compared with the host's.
fn taken_over(form: &ProblemForm) -> Option<(PreconditionerReason, Solution)> {
    let device = accelerator()?;
    let mesh = AnyBox::unit(Cell::Quadrilateral, 36);
    let mesh = mesh.build(|[x, y, z]| [4.0 * x, y + 0.1 * x * y, z]);
    let mesh = mesh.unwrap();
    let problem = |preconditioner| Problem {
        source: vec![&1.0],
        dirichlet: vec![Boundary::new("xmin", &0.0)],
        preconditioner,
        solver: SolverParams {
            max_iterations: ALLOWED,
            ..SolverParams::default()
        },
        ..Problem::of_form(&mesh, 4, form.clone())
    };
    let found = problem(PreconditionerKind::Automatic);
    let found = found.solve::<f64, _>(&device, &mut ()).unwrap();
    let choice = found.preconditioner.clone();
    assert_eq!(
        choice.kind,
        PreconditionerKind::Multigrid,
        "{}",
        choice.reason
    );
    assert!(!found.levels.is_empty());
    let host = Host::with_threads(2).unwrap();
    let wanted = problem(PreconditionerKind::Multigrid);
    let wanted = wanted.solve::<f64, _>(&host, &mut ()).unwrap();
    let error = difference(&found.u.values, &wanted.u.values);
    assert!(error < 1e-5, "{error:e}");
    Some((choice.reason, found))
}

#[test]
fn multigrid_takes_over_where_jacobi_is_slow() {
    let form = ProblemForm::interpreted(&Poisson::<2>).unwrap();
    let Some((reason, found)) = taken_over(&form) else {
        return;
    };
    let PreconditionerReason::Slow {
        iterations,
        expected,
    } = reason
    else {
        panic!("{reason}")
    };
    assert!(
        iterations == ALLOWED / 2 && expected > ALLOWED as f64,
        "{iterations} {expected}"
    );
    let all = found.info.iterations();
    assert!(
        (iterations + 5..iterations + 200).contains(&all),
        "{all} {iterations}"
    );
}

/// 101 761 unknowns, 319 along each axis: Jacobi would take over a thousand iterations.
#[test]
fn multigrid_begins_where_there_are_many_unknowns() {
    let Some(device) = accelerator() else { return };
    let square = AnyBox::unit(Cell::Quadrilateral, 80).build(|x| x).unwrap();
    let problem = Problem {
        source: vec![&1.0],
        dirichlet: ["xmin", "xmax", "ymin", "ymax"]
            .map(|side| Boundary::new(side, &0.0))
            .into(),
        ..interpreted(&square, 4, Poisson::<2>)
    };
    let found = problem.solve::<f64, _>(&device, &mut ()).unwrap();
    let reason = &found.preconditioner.reason;
    let expected = match reason {
        PreconditionerReason::Large { expected } => *expected,
        other => panic!("{other}"),
    };
    assert!((expected - 4.0 * 319.0).abs() < 1e-6, "{reason}");
    assert!(found.info.iterations() < 12, "{:?}", found.info);
}

#[test]
fn multigrid_takes_over_where_directions_are_slow() {
    let form = ProblemForm::interpreted::<_, 2, 1>(&Cubic).unwrap();
    let Some((reason, found)) = taken_over(&form) else {
        return;
    };
    let PreconditionerReason::SlowDirections { iterations } = reason else {
        panic!("{reason}")
    };
    // Within the first direction, which is then found by multigrid.
    assert_eq!(iterations, ALLOWED);
    let steps = &found.info.history.newton_steps;
    assert_eq!(steps.len(), found.info.iterations());
    assert!(
        steps.iter().all(|step| step.linear_iterations < 100),
        "{steps:?}"
    );
}
