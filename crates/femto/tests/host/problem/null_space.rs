//! Equations whose boundary conditions leave constants or rigid motions free.

use super::*;
use crate::common::{interpreted, meshes::refined};
use femto::element::{Cell, MapKind};
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::form::{LinearElasticity, ScreenedPoisson};
use femto::problem::{
    AlongNormal, FreeFunctions, Given, Method, PreconditionerKind, ProblemError, Robin, Solution,
};
use femto::{DataLevel, OperatorParams};
use std::f64::consts::PI;

pub(super) const ALL: [PreconditionerKind; 3] = [
    PreconditionerKind::Multigrid,
    PreconditionerKind::Jacobi,
    PreconditionerKind::None,
];

pub(super) fn solve(problem: &Problem<'_>) -> Solution {
    problem.solve::<f64, _>(&host(), &mut ()).unwrap()
}

fn cosine([x, _, _]: [f64; 3]) -> f64 {
    (PI * x).cos()
}

/// A box of hexahedra.
pub(super) fn bar(cells: [usize; 3], lower: [f64; 3], size: [f64; 3]) -> Mesh {
    let mesh = AnyBox {
        cell: Cell::Hexahedron,
        cells: cells.to_vec(),
        lower: lower.to_vec(),
        upper: [0, 1, 2].map(|axis| lower[axis] + size[axis]).to_vec(),
        geometry_degree: 1,
        irregular: None,
    };
    mesh.build(|x| x).unwrap()
}

/// -Δu = cos πx on the unit cube, without flux.
#[test]
fn an_insulated_body_is_warm_up_to_a_constant() {
    let mesh = bar([10, 10, 10], [0.0; 3], [1.0; 3]);
    let problem = Problem {
        source: vec![&cosine],
        // Its constant does not count.
        start: Some(vec![&7.0]),
        ..interpreted(&mesh, 2, Poisson::<3>)
    };
    for preconditioner in ALL {
        for method in [Method::Cg, Method::Gmres] {
            let problem = Problem {
                preconditioner,
                solver: SolverParams {
                    method: Some(method),
                    ..SolverParams::default()
                },
                ..problem.clone()
            };
            let solution = solve(&problem);
            let free = solution.free.unwrap();
            assert_eq!((free.count, free.rigid), (1, false));
            assert!(free.imbalance < 1e-12, "{free:?}");
            let text = free.to_string();
            assert_eq!(text, "a constant: the solution's mean is zero");
            let error = worst(&solution.u, |x| cosine(x) / PI.powi(2));
            assert!(error < 1e-5, "{preconditioner:?} {method:?} {error:e}");
            if preconditioner == PreconditionerKind::Multigrid {
                assert!(
                    solution.info.iterations() <= 9,
                    "{:?}",
                    solution.info.history
                );
                assert_eq!(solution.levels[2].degree, None);
            }
        }
    }
    let loose = Problem {
        solver: SolverParams {
            relative_tolerance: Some(1e-5),
            ..SolverParams::default()
        },
        ..problem
    };
    let single = loose.solve::<f32, _>(&host(), &mut ()).unwrap();
    let error = worst(&single.u, |x| cosine(x) / PI.powi(2));
    assert!(error < 1e-4, "{error:e}");
}

/// Of the free motions of a bar on springs along x only rounding meets a load along x.
#[test]
fn loads_that_meet_only_rounding_of_free_motions_balance() {
    let mesh = AnyBox::unit(Cell::Tetrahedron, 2).build(|x| x).unwrap();
    let problem = Problem {
        robin: vec![Robin {
            tag: "xmin".to_owned(),
            alpha: Given::Some(vec![(0, &1.0)]),
            value: Given::Some(vec![(0, &0.0)]),
        }],
        neumann: vec![Boundary::vector("xmax", [&2.0, &0.0, &0.0])],
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(10.0, 0.3))
    };
    for preconditioner in ALL {
        let problem = Problem {
            preconditioner,
            ..problem.clone()
        };
        let solution = solve(&problem);
        assert_eq!(solution.free.unwrap().count, 3);
        // The springs are 2 long, and the bar 0.2 longer.
        let values = solution.u.values.chunks_exact(3).map(|u| u[0]);
        let (low, high) = values.fold((9.0, 0.0), |(low, high): (f64, f64), u| {
            (low.min(u), high.max(u))
        });
        assert!(
            (low - 2.0).abs() < 1e-6 && (high - 2.2).abs() < 1e-6,
            "{low} {high}"
        );
        let single = problem.solve::<f32, _>(&host(), &mut ());
        assert!(single.is_ok());
    }
}

/// Rounding is told from the weakest terms on all cells and degrees, in both precisions.
#[test]
fn the_operator_says_what_is_free() {
    let cells = [
        (Cell::Hexahedron, 8),
        (Cell::Tetrahedron, 5),
        (Cell::Prism, 4),
    ];
    for (cell, most) in cells {
        let mesh = refined(cell, MapKind::Curved, 3);
        for degree in [1, 2, most] {
            let count = |problem: &Problem<'_>| {
                let double = problem.assemble::<f64, _>(&host(), &mut ()).unwrap();
                let single = problem.assemble::<f32, _>(&host(), &mut ()).unwrap();
                [double.free(), single.free()].map(|free| free.map_or(0, |free| free.count))
            };
            let poisson = interpreted(&mesh, degree, Poisson::<3>);
            for data_level in DataLevel::ALL {
                let poisson = poisson.clone();
                let operator = OperatorParams {
                    data_level,
                    ..poisson.operator
                };
                let poisson = Problem {
                    operator,
                    ..poisson
                };
                assert_eq!(count(&poisson), [1, 1], "{cell:?} {degree} {data_level:?}");
            }
            let lambda = Some(1e-5);
            let screened = interpreted(&mesh, degree, ScreenedPoisson::<3> { lambda });
            assert_eq!(count(&screened), [0, 0], "{cell:?} {degree}");
            let held = Problem {
                robin: vec![Robin {
                    tag: "zmin".to_owned(),
                    alpha: Given::All(vec![&1e-5]),
                    value: Given::All(vec![&0.0]),
                }],
                ..poisson
            };
            assert_eq!(count(&held), [0, 0], "{cell:?} {degree}");
            let body = LinearElasticity::<3>::from_young(200e9, 0.3);
            let body = interpreted(&mesh, degree, body);
            // On curved cells the space of degree 1 does not have the rotations.
            let motions = if degree > 1 { 6 } else { 3 };
            assert_eq!(count(&body), [motions; 2], "{cell:?} {degree}");
        }
    }
}

#[test]
fn loads_that_do_not_balance_are_an_error() {
    let mesh = bar([3, 3, 3], [0.0; 3], [2.0; 3]);
    let problem = |source: &'static f64| Problem {
        source: vec![source],
        neumann: SIDES.map(|side| Boundary::new(side, &-1.0)).into(),
        ..interpreted(&mesh, 2, Poisson::<3>)
    };
    for preconditioner in ALL {
        let problem = Problem {
            preconditioner,
            ..problem(&1.0)
        };
        let error = problem.solve::<f64, _>(&host(), &mut ()).unwrap_err();
        assert!(error.is_of_input());
        // 8 from the volume, -24 from the sides.
        let text = error.to_string();
        let wanted = "the loads do not balance: a constant of the solution is free, and against it they add up to \
                      -1.600e1, ";
        assert!(text.starts_with(wanted), "{text}");
    }
    assert!(solve(&problem(&3.0)).free.unwrap().imbalance < 1e-12);
    // Nearly: f is changed to balance, by what is reported.
    let nearly = solve(&problem(&3.0003)).free.unwrap();
    assert!((1e-5..1e-3).contains(&nearly.imbalance), "{nearly:?}");
    let text = nearly.to_string();
    assert!(
        text.ends_with("of the loads was taken off so that they balance"),
        "{text}"
    );
}

/// A bar far from the origin, pulled at both ends: u = σ/E (x, -ν y, -ν z) from its middle.
#[test]
fn a_floating_bar_has_six_rigid_motions() {
    let lower = [1000.0, -300.0, 50.0];
    let mesh = bar([12, 4, 4], lower, [3.0, 1.0, 1.0]);
    let middle = [1001.5, -299.5, 50.5];
    for preconditioner in ALL {
        let problem = Problem {
            neumann: vec![
                Boundary::vector("xmin", [&-2.0, &0.0, &0.0]),
                Boundary::vector("xmax", [&2.0, &0.0, &0.0]),
            ],
            preconditioner,
            ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(100.0, 0.25))
        };
        let solution = solve(&problem);
        let free: FreeFunctions = solution.free.unwrap();
        assert_eq!((free.count, free.rigid), (6, true));
        let positions = solution.u.node_positions();
        for (x, u) in positions.iter().zip(solution.u.values.chunks_exact(3)) {
            for axis in 0..3 {
                let slope = [0.02, -0.005, -0.005][axis];
                let wanted = slope * (x[axis] - middle[axis]);
                assert!(
                    (u[axis] - wanted).abs() < 1e-7,
                    "{preconditioner:?} {x:?} {u:?}"
                );
            }
        }
        if preconditioner == PreconditionerKind::Multigrid {
            assert!(
                solution.info.iterations() <= 16,
                "{:?}",
                solution.info.history
            );
            assert_eq!(solution.levels[2].degree, None);
        }
        let turned = Problem {
            neumann: vec![
                Boundary::vector("xmin", [&0.0, &-2.0, &0.0]),
                Boundary::vector("xmax", [&0.0, &2.0, &0.0]),
            ],
            ..problem
        };
        let error = turned.solve::<f64, _>(&host(), &mut ()).unwrap_err();
        let is_of_motion = matches!(error, ProblemError::Unbalanced { rigid: true, .. });
        assert!(is_of_motion, "{error}");
    }
}

/// Rollers on one side leave the motions in its plane, on two sides one translation. A side that may only warp
/// still tilts.
#[test]
fn conditions_on_components_leave_what_they_do_not_hold() {
    let mesh = bar([3, 3, 3], [0.0; 3], [1.0; 3]);
    let rollers = |sides: &[(&str, usize)]| Problem {
        dirichlet: sides
            .iter()
            .map(|&(side, component)| Boundary::component(side, component, &0.0))
            .collect(),
        ..interpreted(&mesh, 1, LinearElasticity::<3>::from_young(1.0, 0.3))
    };
    for (sides, count) in [
        (&[("xmin", 0)][..], 3),
        (&[("xmin", 0), ("ymin", 1)], 1),
        (&[("xmin", 0), ("ymin", 1), ("zmax", 2)], 0),
        (&[("zmin", 0), ("zmin", 1)], 3),
    ] {
        let problem = rollers(sides);
        let found = solve(&problem).free;
        assert_eq!(found.map_or(0, |free| free.count), count, "{sides:?}");
    }
    let pulled = |value: [&'static f64; 2]| {
        let ends = ["zmin", "zmax"].into_iter().zip(value);
        let ends = ends.map(|(side, value)| Boundary::component(side, 2, value));
        Problem {
            neumann: ends.collect(),
            preconditioner: PreconditionerKind::Multigrid,
            ..rollers(&[("xmin", 0), ("ymin", 1)])
        }
    };
    let error = pulled([&0.0, &1.0]).solve::<f64, _>(&host(), &mut ());
    assert!(
        matches!(error, Err(ProblemError::Unbalanced { part, .. }) if (part - 1.0).abs() < 1e-12)
    );
    let solution = solve(&pulled([&-1.0, &1.0]));
    let stretch = worst_along_z(&solution.u, |z| z - 0.5);
    assert!(stretch < 1e-7, "{stretch:e}");
}

/// What is taken off loads so that they balance has no part at entries that are held, where motions vanish at nodes but not
/// between them.
#[test]
fn loads_that_hardly_balance_are_taken_off_where_nothing_is_held() {
    let mesh = bar([3, 3, 3], [0.0; 3], [1.0; 3]);
    let tilting = |[x, _, _]: [f64; 3]| 1.0 + 0.002 * (x - 0.5);
    for preconditioner in ALL {
        let problem = Problem {
            dirichlet: vec![
                Boundary::component("zmin", 0, &0.0),
                Boundary::component("zmin", 1, &0.0),
            ],
            neumann: vec![
                Boundary::component("zmax", 2, &tilting),
                Boundary::component("zmin", 2, &-1.0),
            ],
            preconditioner,
            ..interpreted(&mesh, 1, LinearElasticity::<3>::from_young(1.0, 0.3))
        };
        let free = solve(&problem).free.unwrap();
        assert_eq!(free.count, 3);
        assert!((1e-6..1e-3).contains(&free.imbalance), "{free:?}");
    }
}

fn worst_along_z(u: &GridFunction, wanted: impl Fn(f64) -> f64) -> f64 {
    let positions = u.node_positions();
    let along = positions.iter().zip(u.values.chunks_exact(3));
    let errors = along.map(|(x, u)| (u[2] - wanted(x[2])).abs());
    errors.fold(0.0, f64::max)
}

/// Positions far from the origin are rounded, which must not hold rotations.
#[test]
fn bodies_far_from_the_origin_are_free_to_rotate() {
    for (cell, degree) in [
        (Cell::Hexahedron, 2),
        (Cell::Tetrahedron, 3),
        (Cell::Prism, 1),
    ] {
        for offset in [0.0, 1e4, 5e5, 6e6] {
            let place =
                |[x, y, z]: [f64; 3]| [x + 0.1 * x * y + offset, y - offset, z + 0.2 * y * y * z];
            let mesh = AnyBox::unit(cell, 3).build(place).unwrap();
            let problem = Problem {
                neumann_along_normal: SIDES
                    .map(|side| AlongNormal {
                        tag: side.to_owned(),
                        value: &-1.0,
                    })
                    .into(),
                ..interpreted(&mesh, degree, LinearElasticity::<3>::from_young(1.0, 0.2))
            };
            let assembled = problem.assemble::<f64, _>(&host(), &mut ()).unwrap();
            assert_eq!(
                assembled.free().map(|free| free.count),
                Some(6),
                "{cell:?} at {offset}"
            );
        }
    }
}

/// Prescribed displacements do no work on free motions, however large the forces that they take.
#[test]
fn loads_balance_by_themselves() {
    let mesh = bar([3, 3, 3], [0.0; 3], [1.0; 3]);
    for push in [0.0, -1e-3, -1e-1] {
        let pulled = |sides: &[(&'static str, &'static f64)]| Problem {
            dirichlet: vec![
                Boundary::component("zmin", 2, &0.0),
                Boundary::component("zmax", 2, &push),
            ],
            neumann: (sides.iter())
                .map(|&(side, force)| Boundary::vector(side, [force as &dyn Function, &0.0, &0.0]))
                .collect(),
            ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(2e6, 0.3))
        };
        let unbalanced = pulled(&[("xmax", &1.0)]);
        let double = unbalanced.solve::<f64, _>(&host(), &mut ());
        let single = unbalanced.solve::<f32, _>(&host(), &mut ());
        for error in [double, single] {
            let Err(ProblemError::Unbalanced { part, .. }) = error else {
                panic!("{push}: solved")
            };
            // Which functions span the free motions depends on rounding.
            assert!(part > 0.1, "{push}: {part:e}");
        }
        let free = solve(&pulled(&[("xmax", &1.0), ("xmin", &-1.0)]))
            .free
            .unwrap();
        assert!(free.imbalance < 1e-9, "{push}: {free:?}");
    }
}
