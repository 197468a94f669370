//! The precision of multigrid's cycles.

use super::multigrid::{poisson, solve};
use super::*;
use crate::common::interpreted;
use crate::common::meshes::refined;
use femto::element::{Cell, MapKind};
use femto::fem::mesh::boxes::BoxMesh;
use femto::kernel::form::ScreenedPoisson;
use femto::kernel::scalar::Precision;
use femto::multigrid::MultigridError;
use femto::problem::{MultigridParams, PreconditionerKind, ProblemError};

/// Where fp32 is too coarse cycles are in fp64, unless fp32 is asked for: here for -Δu + 10⁻⁷ u = 1 without boundary values.
#[test]
fn cycles_are_in_double_precision_where_they_must_be() {
    let mesh = BoxMesh::unit_cube(4).build(|x| x).unwrap();
    let form = ScreenedPoisson::<3> { lambda: Some(1e-7) };
    let problem = Problem {
        source: vec![&1.0],
        preconditioner: PreconditionerKind::Multigrid,
        solver: SolverParams {
            relative_tolerance: Some(1e-6),
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, form)
    };
    let solution = solve(&problem);
    assert_eq!(solution.levels[0].precision, Precision::Fp64);
    let is_right = |u: &f64| (u * 1e-7 - 1.0).abs() < 1e-4;
    assert!(solution.u.values.iter().all(is_right));
    let asked = Problem {
        multigrid: MultigridParams {
            precision: Some(Precision::Fp32),
            ..MultigridParams::default()
        },
        ..problem
    };
    let error = asked.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    assert!(
        matches!(
            error,
            ProblemError::Multigrid(MultigridError::NotPositiveDefinite { .. })
        ),
        "{error}"
    );
}

/// Levels in either precision need the same iterations; so do solvers in single precision.
#[test]
fn the_precision_of_a_cycle_does_not_matter() {
    let mesh = refined(Cell::Hexahedron, MapKind::Curved, 5);
    let problem = poisson(&mesh, 3, 4);
    let [single, double] = [Precision::Fp32, Precision::Fp64].map(|precision| {
        let multigrid = MultigridParams {
            precision: Some(precision),
            ..MultigridParams::default()
        };
        let problem = Problem {
            multigrid,
            solver: accurate(),
            ..problem.clone()
        };
        solve(&problem)
    });
    assert_eq!(single.info.iterations(), double.info.iterations());
    assert!(single.memory.operator < double.memory.operator);
    let difference = crate::common::difference(&single.u.values, &double.u.values);
    assert!(difference < 1e-12, "{difference:.1e}");
    let coarse = Problem {
        solver: SolverParams {
            relative_tolerance: Some(1e-5),
            ..SolverParams::default()
        },
        ..problem
    };
    let found = coarse.solve::<f32, _>(&host(), &mut ()).unwrap();
    assert!(found.info.iterations() <= 6, "{}", found.info.iterations());
}
