//! Multigrid as a preconditioner: iterations on every cell and degree, and what it refuses.

use super::*;
use crate::common::forms::Cubic;
use crate::common::interpreted;
use crate::common::meshes::{mixed, refined};
use femto::OperatorParams;
use femto::element::{Cell, MapKind};
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::fem::space::{Block, SpaceParams};
use femto::kernel::form::{Coefficient, ConvectionDiffusion, Diffusion, LinearElasticity};
use femto::multigrid::MultigridError;
use femto::operator::Auxiliary;
use femto::problem::{
    Given, LevelMethod, MultigridParams, PreconditionerKind, PreconditionerReason, ProblemError,
    ProblemForm, Robin, SmootherKind, Solution,
};
use femto::solve::Method;

/// -Δu = 1 with u = 0 on all sides.
pub(super) fn poisson(mesh: &Mesh, dim: usize, degree: usize) -> Problem<'_> {
    let problem = match dim {
        2 => interpreted(mesh, degree, Poisson::<2>),
        _ => interpreted(mesh, degree, Poisson::<3>),
    };
    Problem {
        source: vec![&1.0],
        dirichlet: SIDES[..2 * dim]
            .iter()
            .map(|&side| Boundary::new(side, &0.0))
            .collect(),
        preconditioner: PreconditionerKind::Multigrid,
        ..problem
    }
}

pub(super) fn solve(problem: &Problem<'_>) -> Solution {
    problem.solve::<f64, _>(&host(), &mut ()).unwrap()
}

fn iterations(problem: &Problem<'_>) -> usize {
    solve(problem).info.iterations()
}

/// The largest difference from the solution with Jacobi's preconditioner, relative to its largest value.
pub(super) fn difference_from_jacobi(problem: &Problem<'_>, found: &Solution) -> f64 {
    let jacobi = solve(&Problem {
        preconditioner: PreconditionerKind::Jacobi,
        ..problem.clone()
    });
    assert!(jacobi.levels.is_empty());
    assert_eq!(jacobi.preconditioner.reason, PreconditionerReason::Asked);
    crate::common::difference(&found.u.values, &jacobi.u.values)
}

/// On cubes and on a deformed box, at most 9 iterations to 1e-8, hardly more on finer meshes.
#[test]
fn iterations_hardly_depend_on_mesh_and_degree() {
    for (degree, cells) in [(2, [4, 8]), (3, [4, 8]), (4, [3, 6]), (8, [2, 4])] {
        for map in [MapKind::Affine, MapKind::Curved] {
            let counts = cells.map(|n| {
                let mesh = refined(Cell::Hexahedron, map, n);
                iterations(&poisson(&mesh, 3, degree))
            });
            assert!(
                counts[1] <= 9 && counts[1] <= counts[0] + 2,
                "{degree} {map:?} {counts:?}"
            );
        }
    }
}

/// Whatever the units of coefficients, beside unknowns that are held.
#[test]
fn iterations_do_not_depend_on_units() {
    let mesh = refined(Cell::Hexahedron, MapKind::Affine, 10);
    let counts = [1.0, 1e-20, 1e20].map(|unit| {
        let form = Diffusion::<3> {
            kappa: Coefficient::Constant(unit),
        };
        let problem = Problem {
            source: vec![&unit],
            ..interpreted(&mesh, 2, form)
        };
        let dirichlet = ["zmin", "zmax"].map(|side| Boundary::new(side, &0.0));
        iterations(&Problem {
            dirichlet: dirichlet.into(),
            preconditioner: PreconditionerKind::Multigrid,
            ..problem
        })
    });
    assert!(counts[0] <= 8 && counts == [counts[0]; 3], "{counts:?}");
}

/// Aggregates alone, on 8000 and on 64 000 cubes.
#[test]
fn aggregation_takes_few_iterations_on_trilinear_elements() {
    for n in [20, 40] {
        let mesh = refined(Cell::Hexahedron, MapKind::Affine, n);
        let solution = solve(&poisson(&mesh, 3, 1));
        assert!(
            solution.info.iterations() <= 9,
            "{n}: {}",
            solution.info.iterations()
        );
        assert_eq!(solution.levels[0].degree, Some(1.into()));
        let unknowns: Vec<usize> = solution.levels.iter().map(|level| level.unknowns).collect();
        assert_eq!(unknowns[0], (n + 1).pow(3));
        // Aggregates of a node and its neighbours: 27 nodes, but fewer on the sides.
        assert!(
            unknowns.windows(2).all(|pair| 15 * pair[1] < pair[0]),
            "{unknowns:?}"
        );
    }
}

#[test]
fn simplices_and_mixed_shapes_take_few_iterations_too() {
    for (cell, cells) in [(Cell::Triangle, [8, 16]), (Cell::Tetrahedron, [3, 6])] {
        for map in [MapKind::Affine, MapKind::Curved] {
            let counts = cells.map(|n| {
                let mesh = refined(cell, map, n);
                iterations(&poisson(&mesh, cell.dim(), 3))
            });
            assert!(
                counts[1] <= 14 && counts[1] <= counts[0] + 3,
                "{cell:?} {map:?} {counts:?}"
            );
        }
    }
    for n in [8, 16] {
        let problem_mesh = mixed(n, 2);
        let problem = poisson(&problem_mesh, 2, 4);
        let solution = solve(&problem);
        assert!(
            solution.info.iterations() <= 13,
            "{n}: {}",
            solution.info.iterations()
        );
        assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    }
}

#[test]
fn solutions_have_the_same_bits_for_any_number_of_threads() {
    let mesh = refined(Cell::Hexahedron, MapKind::Curved, 9);
    let problem = poisson(&mesh, 3, 2);
    let values = [1, 2, 3].map(|threads| {
        let host = Host::with_threads(threads).unwrap();
        problem.solve::<f64, _>(&host, &mut ()).unwrap().u.values
    });
    assert!(values[0] == values[1] && values[0] == values[2]);
}

/// A bar of 5 × 1 × 1, clamped at one end: rotations are needed as much as translations.
#[test]
fn rigid_motions_are_kept_on_aggregates() {
    let counts = [4, 6].map(|n| {
        let mesh = AnyBox {
            cell: Cell::Hexahedron,
            cells: vec![5 * n, n, n],
            lower: vec![0.0; 3],
            upper: vec![5.0, 1.0, 1.0],
            geometry_degree: 1,
            irregular: None,
        };
        let mesh = mesh.build(|x| x).unwrap();
        let problem = Problem {
            source: vec![&0.0, &0.0, &-1.0],
            dirichlet: vec![Boundary::vector("xmin", [&0.0, &0.0, &0.0])],
            preconditioner: PreconditionerKind::Multigrid,
            ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(2.0, 0.3))
        };
        let solution = solve(&problem);
        assert!(difference_from_jacobi(&problem, &solution) < 1e-5);
        assert_eq!(solution.levels[2].degree, None);
        solution.info.iterations()
    });
    assert!(counts.iter().all(|&count| count <= 24), "{counts:?}");
}

/// Coefficients per cell and at nodes, and a Robin side instead of given values.
#[test]
fn coefficients_and_facets_are_those_of_each_level() {
    let mesh = refined(Cell::Hexahedron, MapKind::Curved, 5);
    let kappa = Diffusion::<3> {
        kappa: Coefficient::Auxiliary(0),
    };
    let geometries = femto::fem::geometry::Geometry::of_shapes(&mesh).unwrap();
    let params = SpaceParams {
        degree: 4.into(),
        ..SpaceParams::default()
    };
    let blocks = Block::all(&mesh, geometries, params).unwrap();
    let nodes = Block::node_positions(&blocks);
    let smooth = nodes.iter().map(|[x, y, _]| (2.0 * x - y).exp()).collect();
    // Cells of 1 and 1000, without order.
    let jumps = (0..blocks[0].space.elements())
        .map(|cell| [1.0, 1e3][cell * 7 % 5 % 2])
        .collect();
    for field in [Auxiliary::Nodal(smooth), Auxiliary::PerCell(jumps)] {
        let problem = Problem {
            operator: OperatorParams {
                auxiliary: vec![field],
                ..OperatorParams::default()
            },
            form: ProblemForm::interpreted::<_, 3, 1>(&kappa).unwrap(),
            dirichlet: Vec::new(),
            robin: vec![Robin {
                tag: "zmin".to_owned(),
                alpha: Given::All(vec![&2.0]),
                value: Given::All(vec![&1.0]),
            }],
            ..poisson(&mesh, 3, 4)
        };
        let solution = solve(&problem);
        assert!(
            solution.info.iterations() <= 13,
            "{}",
            solution.info.iterations()
        );
        assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    }
}

/// At each linearisation the levels have its state.
#[test]
fn newton_directions_take_few_iterations() {
    let mesh = refined(Cell::Hexahedron, MapKind::Curved, 4);
    let problem = Problem {
        form: ProblemForm::interpreted::<_, 3, 1>(&Cubic).unwrap(),
        source: vec![&2000.0],
        dirichlet: vec![Boundary::new("xmin", &5.0), Boundary::new("xmax", &-5.0)],
        ..poisson(&mesh, 3, 4)
    };
    let solution = solve(&problem);
    let steps = &solution.info.history.newton_steps;
    let most = steps.iter().map(|step| step.linear_iterations).max();
    assert!(steps.len() >= 3 && most <= Some(8), "{steps:?}");
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
    let degrees = solution.levels.iter().map(|level| level.degree);
    assert!(degrees.eq([4, 2, 1].map(|degree: usize| Some(degree.into()))));
}

/// The measure of convection is 3.75 h for these cubes, and less for rows with neighbours that are held.
#[test]
fn convection_takes_a_few_iterations_more() {
    for (n, degree) in [(12, 1), (6, 2), (4, 4)] {
        let mesh = BoxMesh::unit_cube(n).build(|x| x).unwrap();
        let wind = ConvectionDiffusion::<3> {
            kappa: 0.1.into(),
            velocity: [1.0, 0.0, 0.0].map(Coefficient::Constant),
        };
        let problem = Problem {
            form: ProblemForm::interpreted::<_, 3, 1>(&wind).unwrap(),
            ..poisson(&mesh, 3, degree)
        };
        let solution = solve(&problem);
        assert_eq!(solution.info.history.method, Method::Gmres);
        let iterations = solution.info.iterations();
        assert!(iterations <= 13, "{degree}: {iterations}");
        assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
        let mut convection = solution.levels.iter().filter_map(|level| level.convection);
        let found = convection.next().unwrap() * n as f64;
        assert!((1.5..3.75).contains(&found), "{found}");
    }
}

#[test]
fn forms_and_fields_without_a_cycle_are_refused() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).unwrap();
    let refusal = |problem: Problem<'_>| {
        let error = problem.solve::<f64, _>(&host(), &mut ()).unwrap_err();
        assert!(error.is_of_input());
        match error {
            ProblemError::Multigrid(error) => error,
            other => panic!("{other}"),
        }
    };
    let kappa = Diffusion::<3> {
        kappa: Coefficient::Auxiliary(0),
    };
    let error = refusal(Problem {
        form: ProblemForm::interpreted::<_, 3, 1>(&kappa).unwrap(),
        operator: OperatorParams {
            auxiliary: vec![Auxiliary::AtPoints(vec![1.0; 8 * 64])],
            ..OperatorParams::default()
        },
        ..poisson(&mesh, 3, 2)
    });
    assert_eq!(error, MultigridError::FieldAtPoints { field: 0 });
    for order in [0, 7] {
        let error = refusal(Problem {
            multigrid: MultigridParams {
                order: Some(order),
                ..MultigridParams::default()
            },
            ..poisson(&mesh, 3, 2)
        });
        assert_eq!(error, MultigridError::Order { found: order });
    }
    for safety in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refusal(Problem {
            multigrid: MultigridParams {
                safety,
                ..MultigridParams::default()
            },
            ..poisson(&mesh, 3, 2)
        });
        assert!(matches!(error, MultigridError::Safety { .. }), "{error}");
    }
    let schwarz = MultigridParams {
        smoother: SmootherKind::Schwarz,
        ..MultigridParams::default()
    };
    let tetrahedra = refined(Cell::Tetrahedron, MapKind::Affine, 2);
    let error = refusal(Problem {
        multigrid: schwarz,
        ..poisson(&tetrahedra, 3, 2)
    });
    assert_eq!(error, MultigridError::NoSchwarz);
}

/// A plate one cell thick, held on all sides: on many nodes of degree 1 nothing is left to solve.
#[test]
fn aggregates_may_be_impossible() {
    let mesh = AnyBox {
        cells: vec![20, 20, 1],
        upper: vec![1.0, 1.0, 0.05],
        ..AnyBox::unit(Cell::Hexahedron, 1)
    };
    let mesh = mesh.build(|x| x).unwrap();
    let problem = poisson(&mesh, 3, 2);
    let solution = solve(&problem);
    assert!(
        solution.info.iterations() <= 6,
        "{}",
        solution.info.iterations()
    );
    let levels = solution.levels.iter();
    let levels = levels.map(|level| (level.degree, level.method));
    // Smoothing is all there is for degree 1.
    let wanted = [2, 1].map(|degree: usize| (Some(degree.into()), Some(LevelMethod::Diagonal)));
    assert!(levels.eq(wanted));
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
}

/// Spaces of degree 1 on few cells, and elements whose nodes of degree 1 are all held.
#[test]
fn levels_may_be_tiny() {
    for (n, degree, levels) in [(1, 2, 2), (1, 1, 1), (2, 3, 2)] {
        let mesh = BoxMesh::unit_cube(n).build(|x| x).unwrap();
        let problem = Problem {
            dirichlet: on_all_sides(&linear),
            ..poisson(&mesh, 3, degree)
        };
        let solution = solve(&problem);
        assert!(
            solution.info.iterations() <= 3 + degree,
            "{:?}",
            solution.info
        );
        let unknowns = (degree * n + 1).pow(3);
        let method = match levels {
            1 => LevelMethod::Inverse,
            _ => LevelMethod::Diagonal,
        };
        let finest = &solution.levels[0];
        assert_eq!(solution.levels.len(), levels);
        assert_eq!(
            (finest.degree, finest.unknowns),
            (Some(degree.into()), unknowns)
        );
        assert_eq!((finest.method, finest.set_up_seconds), (Some(method), None));
        assert!(finest.bytes > 0 && finest.convection.is_none());
    }
}
