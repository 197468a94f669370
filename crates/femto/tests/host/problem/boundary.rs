//! Boundary conditions and coefficients, checked with solutions in the space.

use super::{RULES, SIDES, accurate, bump, host, linear, on_all_sides, worst};
use crate::common::meshes::maps;
use crate::common::{hexahedra, interpreted};
use femto::element::{Cell, MapKind};
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::kernel::form::{LinearElasticity, Poisson, ScreenedPoisson};
use femto::problem::{
    AlongNormal, Boundary, Function, GroupSource, Method, PreconditionerKind, Problem,
    ProblemError, SolverParams, by_group,
};
use femto::solve::StopReason;
use femto::{Number, OperatorParams, Quadrature};

/// The lowest degree at which the patch test holds. On hex27 it is 2, so that the space contains x, y and
/// z; for the N + 1 GLL points, exact to degree 2 N - 1, the integrand's degree (N + 1 on trilinear cells,
/// N + 3 on hex27) requires more.
fn least(map: MapKind, quadrature: Quadrature) -> usize {
    match (map, quadrature) {
        (MapKind::Affine, _) => 1,
        (MapKind::Multilinear, Quadrature::Collocated) | (MapKind::Curved, Quadrature::Gauss) => 2,
        (MapKind::Multilinear, _) => 1,
        (MapKind::Extruded | MapKind::Curved, _) => 4,
    }
}

fn patch_test<T: Number>(tolerance: f64) {
    for &map in maps(Cell::Hexahedron) {
        let mesh = hexahedra(map, [3, 2, 2]);
        for degree in [1, 2, 3, 5] {
            for quadrature in RULES {
                if degree < least(map, quadrature) {
                    continue;
                }
                let problem = Problem {
                    dirichlet: on_all_sides(&linear),
                    operator: OperatorParams {
                        quadrature,
                        ..OperatorParams::default()
                    },
                    solver: SolverParams {
                        relative_tolerance: Some(tolerance / 100.0),
                        ..accurate()
                    },
                    ..interpreted(&mesh, degree, Poisson::<3>)
                };
                let solution = problem.solve::<T, _>(&host(), &mut ()).expect("solved");
                let error = worst(&solution.u, linear);
                assert!(
                    error < tolerance,
                    "{map:?} degree {degree} {quadrature:?}: {error:e}"
                );
            }
        }
    }
}

/// The tolerance is relative to what changes, not to the distance of boundary values from zero: 10⁷ + x on a bar between two
/// values, and a bar that is moved far away and stretched, with a plane of symmetry that is not an axis's.
#[test]
fn constants_of_boundary_values_do_not_count() {
    let mesh = BoxMesh::unit_cube(3).build(|x| x).unwrap();
    let far = |[x, _, _]: [f64; 3]| 1e7 + x;
    for start in [None, Some(vec![&1e7 as &dyn Function])] {
        let problem = Problem {
            dirichlet: ["xmin", "xmax"]
                .map(|side| Boundary::new(side, &far))
                .into(),
            start,
            ..interpreted(&mesh, 2, Poisson::<3>)
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        let error = worst(&solution.u, far);
        assert!(error < 1e-7, "{error:e}");
        let sums = problem.reactions(&host(), &solution.u).unwrap();
        assert!((sums[1].sum[0] - 1.0).abs() < 1e-6, "{sums:?}");
    }
    let problem = Problem {
        dirichlet: ["xmin", "xmax"]
            .map(|side| Boundary::new(side, &far))
            .into(),
        solver: SolverParams {
            relative_tolerance: Some(1e-5),
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, Poisson::<3>)
    };
    let solution = problem.solve::<f32, _>(&host(), &mut ()).expect("solved");
    let error = worst(&solution.u, far);
    assert!(error < 1e-4, "{error:e}");
    // Newton's method keeps the constant: what rounding leaves of u is far above the tolerance.
    let farther = |[x, _, _]: [f64; 3]| 1e9 + x;
    let problem = Problem {
        dirichlet: ["xmin", "xmax"]
            .map(|side| Boundary::new(side, &farther))
            .into(),
        solver: SolverParams {
            method: Some(Method::Newton),
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, Poisson::<3>)
    };
    let error = problem.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    let is_rounding = matches!(&error, ProblemError::Unsolved(unsolved)
        if matches!(unsolved.error.reason, StopReason::Stagnated { .. })
            && worst(&unsolved.u, farther) < 1e-5);
    assert!(is_rounding, "{error}");
    // Turned by 45 degrees about z.
    let turned = BoxMesh::unit_cube(3);
    let half = 0.5_f64.sqrt();
    let turned = turned.build(|[x, y, z]| [half * (x - y), half * (x + y), z]);
    // Stretched along its own x.
    let moved = |x: [f64; 3]| {
        let stretch = 0.5e-3 * (x[0] + x[1]);
        [1000.0 + stretch, 2000.0 + stretch, 3000.0]
    };
    let along = |x: [f64; 3]| half * (moved(x)[0] - moved(x)[1]);
    let parts = [0, 1, 2].map(|c| move |x: [f64; 3]| moved(x)[c]);
    let functions = || parts.each_ref().map(|part| part as &dyn Function);
    let turned = turned.unwrap();
    let problem = Problem {
        dirichlet: vec![
            Boundary::vector("xmin", functions()),
            Boundary::vector("xmax", functions()),
            Boundary::component("zmin", 2, &parts[2]),
        ],
        along_normal: vec![AlongNormal {
            tag: "ymin".to_owned(),
            value: &along,
        }],
        ..interpreted(&turned, 2, LinearElasticity::<3>::from_young(1.0, 0.0))
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let nodes = solution.u.node_positions();
    let errors = nodes.iter().zip(solution.u.values.chunks_exact(3));
    let error = errors.fold(0.0, |most: f64, (&x, u)| {
        let differences = u.iter().zip(moved(x)).map(|(u, wanted)| (u - wanted).abs());
        differences.fold(most, f64::max)
    });
    assert!(error < 1e-10, "{error:e}");
}

#[test]
fn linear_solutions_are_exact_on_any_mesh() {
    patch_test::<f64>(1e-11);
    patch_test::<f32>(1e-4);
}

/// One cell of degree 1 with all its nodes on the boundary.
#[test]
fn a_problem_may_have_no_unknown_left() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).expect("legal");
    let problem = Problem {
        dirichlet: on_all_sides(&linear),
        ..interpreted(&mesh, 1, Poisson::<3>)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert_eq!(solution.info.iterations(), 0);
    assert!(worst(&solution.u, linear) < 1e-15);
}

/// u = z² has -Δu = -2 and the flux 2 at z = 1; the other sides are insulated. On a sheared box the
/// fluxes are those of its slanted sides.
#[test]
fn fluxes_and_sources_meet() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    for quadrature in RULES {
        for degree in [2, 3] {
            let problem = Problem {
                source: vec![&-2.0],
                neumann: vec![Boundary::new("zmax", &2.0)],
                dirichlet: vec![Boundary::new("zmin", &0.0)],
                operator: OperatorParams {
                    quadrature,
                    ..OperatorParams::default()
                },
                solver: accurate(),
                ..interpreted(&mesh, degree, Poisson::<3>)
            };
            let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
            assert!(worst(&solution.u, |[_, _, z]| z * z) < 1e-12);
        }
    }
}

/// The flux of a linear function through each of the sheared box's sides, which are flat.
#[test]
fn fluxes_on_slanted_faces_are_per_area() {
    let mesh = hexahedra(MapKind::Affine, [2, 2, 2]);
    // Columns of the shear x + 0.2 y, y - 0.1 z, 0.9 z + 0.1 x.
    let edges = [[1.0, 0.0, 0.1], [0.2, 1.0, 0.0], [0.0, -0.1, 0.9]];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let fluxes: Vec<f64> = (0..6)
        .map(|side| {
            let (axis, sign) = (side / 2, if side % 2 == 0 { -1.0 } else { 1.0 });
            let normal = cross(edges[(axis + 1) % 3], edges[(axis + 2) % 3]);
            sign * dot([2.0, -3.0, 0.5], normal) / dot(normal, normal).sqrt()
        })
        .collect();
    for degree in [1, 4] {
        let neumann = SIDES[1..].iter().zip(&fluxes[1..]);
        let problem = Problem {
            neumann: neumann
                .map(|(&side, flux)| Boundary::new(side, flux))
                .collect(),
            dirichlet: vec![Boundary::new("xmin", &linear)],
            solver: accurate(),
            ..interpreted(&mesh, degree, Poisson::<3>)
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        let error = worst(&solution.u, linear);
        assert!(error < 1e-11, "degree {degree}: {error:e}");
    }
}

#[test]
fn the_first_listed_group_wins_where_groups_meet() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let solve = |tags: [&str; 2]| {
        let values: [&dyn Function; 2] = [&1.0, &2.0];
        let dirichlet = tags
            .iter()
            .zip(values)
            .map(|(&tag, value)| Boundary::new(tag, value));
        let problem = Problem {
            dirichlet: dirichlet.collect(),
            ..interpreted(&mesh, 2, Poisson::<3>)
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let positions = u.node_positions();
        let on_edge = |x: &[f64; 3]| x[0] == 0.0 && x[2] == 0.0;
        let edge = positions.iter().zip(&u.values).filter(|(x, _)| on_edge(x));
        edge.map(|(_, &u)| u).collect::<Vec<_>>()
    };
    assert_eq!(solve(["xmin", "zmin"]), [1.0; 5]);
    assert_eq!(solve(["zmin", "xmin"]), [1.0; 5]);
    assert_eq!(solve(["6", "xmin"]), [2.0; 5], "groups by number");
}

/// Different components on groups that meet are all held; of the same component the first in the list.
#[test]
fn all_conditions_on_components_hold_where_groups_meet() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let form = LinearElasticity::<3>::from_young(1.0, 0.3);
    let problem = Problem {
        dirichlet: vec![
            Boundary::component("xmin", 0, &1.0),
            Boundary::component("zmin", 2, &2.0),
            Boundary::vector("zmin", [&3.0; 3]),
        ],
        ..interpreted(&mesh, 2, form)
    };
    let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
    let positions = u.node_positions();
    for (x, u) in positions.iter().zip(u.values.chunks_exact(3)) {
        match (x[0] == 0.0, x[2] == 0.0) {
            (true, true) => assert_eq!(u, [1.0, 3.0, 2.0]),
            (false, true) => assert_eq!(u, [3.0, 3.0, 2.0]),
            (true, false) => assert_eq!(u[0], 1.0),
            (false, false) => (),
        }
    }
}

/// Uniaxial tension of an eighth of a block with three planes of symmetry.
#[test]
fn planes_of_symmetry_hold_their_normal_component() {
    for &map in maps(Cell::Hexahedron) {
        let mesh = BoxMesh {
            geometry_degree: if map == MapKind::Curved { 2 } else { 1 },
            ..BoxMesh::unit_cube(2)
        };
        let bend = |x: [f64; 3]| match map {
            MapKind::Affine => x,
            _ => [
                x[0],
                x[1] + 0.1 * (x[1] - x[1] * x[1]) * (3.0 * x[0]).sin(),
                x[2],
            ],
        };
        let mesh = mesh.build(bend).expect("legal");
        let exact = [
            |[x, _, _]: [f64; 3]| 0.5 * x,
            |[_, y, _]: [f64; 3]| -0.15 * y,
            |[_, _, z]: [f64; 3]| -0.15 * z,
        ];
        let problem = Problem {
            dirichlet: vec![
                Boundary::component("xmin", 0, &0.0),
                Boundary::component("ymin", 1, &0.0),
                Boundary::component("zmin", 2, &0.0),
            ],
            neumann: vec![Boundary::component("xmax", 0, &1.0)],
            solver: accurate(),
            ..interpreted(&mesh, 3, LinearElasticity::<3>::from_young(2.0, 0.3))
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let positions = u.node_positions();
        for (x, u) in positions.iter().zip(u.values.chunks_exact(3)) {
            for (exact, u) in exact.iter().zip(u) {
                let error = (u - exact(*x)).abs();
                assert!(error < 1e-11, "{map:?}: {error:e} at {x:?}");
            }
        }
    }
}

/// Two halves of a bar with their own λ: λ u = f pointwise has the solution f/λ, whatever the mesh.
#[test]
fn lambda_per_group() {
    let mut mesh = BoxMesh {
        cells: [4, 1, 1],
        ..BoxMesh::unit_cube(1)
    }
    .build(|x| x)
    .expect("legal");
    mesh.blocks[0].tags = vec![7, 7, 8, 8];
    let mut group = mesh.groups.last().expect("the domain").clone();
    (group.number, group.name) = (8, "right".into());
    mesh.groups.push(group);
    let lambda = by_group(&mesh, &[("right", 5.0), ("7", 2.0)]).expect("both groups are there");
    assert_eq!(lambda, [2.0, 2.0, 5.0, 5.0]);

    // A constant 3 solves -Δu + λ u = 3 λ with insulated sides.
    let source = |[x, _, _]: [f64; 3]| if x < 0.5 { 6.0 } else { 15.0 };
    let problem = Problem {
        source: vec![&source],
        operator: OperatorParams {
            auxiliary: vec![lambda.into()],
            ..OperatorParams::default()
        },
        solver: accurate(),
        ..interpreted(&mesh, 2, ScreenedPoisson::<3> { lambda: None })
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(worst(&solution.u, |_| 3.0) < 1e-11);

    // The same source by group: a number, and a function that is not finite in the other half.
    let right = |[x, _, _]: [f64; 3]| 15.0 + (x - 0.5).sqrt().mul_add(0.0, 0.0);
    let of = |tag: &str, f| GroupSource {
        tag: tag.to_owned(),
        value: vec![f],
    };
    let by_groups = Problem {
        source: vec![&1.0],
        group_sources: vec![of("7", &5.0), of("right", &right), of("right", &-1.0)],
        ..problem.clone()
    };
    let solution = by_groups.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(worst(&solution.u, |_| 3.0) < 1e-11);
    let wrong = Problem {
        group_sources: vec![of("7", &right)],
        ..problem.clone()
    };
    let error = wrong
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("√ of less than 0");
    assert!(error.to_string().contains("the source in `7`"), "{error}");

    let error = by_group(&mesh, &[("right", 5.0)]).expect_err("the left half has no value");
    assert_eq!(
        error.to_string(),
        "2 of 4 cells are in none of the groups with a value (right); the first is mesh cell 0, of group \
         `domain` = 7 (dimension 3)"
    );
    let error = by_group(&mesh, &[("wrong", 5.0)]).expect_err("no such group");
    assert!(
        error.to_string().contains("`right` = 8 (dimension 3)"),
        "{error}"
    );
}

#[test]
fn the_diagonal_helps_where_cells_differ() {
    let stretched = |[x, y, z]: [f64; 3]| [x * x * x + 0.05 * x, y, z];
    let mesh = BoxMesh::unit_cube(6).build(stretched).expect("legal");
    let iterations = |preconditioner| {
        let problem = Problem {
            preconditioner,
            degree: 2.into(),
            ..bump(&mesh)
        };
        problem
            .solve::<f64, _>(&host(), &mut ())
            .expect("solved")
            .info
            .iterations()
    };
    let [jacobi, none] = [PreconditionerKind::Jacobi, PreconditionerKind::None].map(iterations);
    assert!(3 * jacobi < 2 * none, "{jacobi} with, {none} without");
}

/// A solution given on a side that periodic sides meet must be the same on both.
#[test]
fn given_solutions_are_periodic() {
    for cell in [Cell::Quadrilateral, Cell::Triangle] {
        let mut mesh = AnyBox::unit(cell, 4).build(|x| x).expect("legal");
        mesh.join_sides("xmin", "xmax").expect("alike");
        let wave = |[x, ..]: [f64; 3]| (2.0 * std::f64::consts::PI * x).sin();
        let error = |value: &dyn Function| {
            let problem = Problem {
                dirichlet: vec![Boundary::new("ymin", value)],
                ..interpreted(&mesh, 3, Poisson::<2>)
            };
            problem.solve::<f64, _>(&host(), &mut ()).err()
        };
        assert!(error(&wave).is_none());
        assert!(error(&2.0).is_none());
        // Only rounding at all nodes of degree 3, and zero between them.
        assert!(
            error(&|[x, ..]: [f64; 3]| 1e-3 * (12.0 * std::f64::consts::PI * x).sin()).is_none()
        );
        match error(&|[x, ..]: [f64; 3]| x) {
            Some(ProblemError::NotPeriodic { values, .. }) => {
                assert_eq!((values[0] - values[1]).abs(), 1.0);
            }
            other => panic!("{other:?}"),
        }
    }
}
