//! Components given along the boundary's normal, on planes and walls that no axis is normal to.

use super::*;
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::fem::space::SpaceError;
use femto::kernel::form::{Form, LinearElasticity, NeoHookean};
use femto::problem::{AlongNormal, Given, PreconditionerKind, ProblemError, Solution};
use std::f64::consts::PI;

/// A rotation that leaves no axis where it was; in the plane by its third row and column.
fn turn(dim: usize) -> [[f64; 3]; 3] {
    let (s, c) = 0.7_f64.sin_cos();
    let about_z = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
    if dim == 2 {
        return about_z;
    }
    let (s, c) = 0.4_f64.sin_cos();
    let about_x = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]];
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| about_x[i][k] * about_z[k][j]).sum()))
}

fn times(matrix: [[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
}

fn transposed(matrix: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| matrix[j][i]))
}

/// A box whose inside is bent, turned as a whole.
fn turned_box(cell: Cell, n: usize, turn: Option<[[f64; 3]; 3]>) -> Mesh {
    let dim = cell.dim();
    let mesh = AnyBox {
        cell,
        cells: [n, n + 1, n][..dim].to_vec(),
        lower: vec![0.0; dim],
        upper: [1.0, 1.2, 0.9][..dim].to_vec(),
        geometry_degree: 2,
        irregular: None,
    };
    let bent = |[x, y, z]: [f64; 3]| {
        let depth = if dim == 2 { 0.25 } else { z * (0.9 - z) };
        let bubble = 0.8 * x * (1.0 - x) * y * (1.2 - y) * depth;
        [
            x + bubble,
            y - bubble,
            if dim == 2 { z } else { z + 0.5 * bubble },
        ]
    };
    let place = |x: [f64; 3]| turn.map_or(bent(x), |turn| times(turn, bent(x)));
    mesh.build(place).unwrap()
}

fn solve(problem: &Problem<'_>) -> Solution {
    problem.solve::<f64, _>(&host(), &mut ()).unwrap()
}

/// The largest difference between a solution on a turned body and the turned one on the body as it was.
fn difference(turned: &Solution, upright: &Solution, turn: [[f64; 3]; 3], dim: usize) -> f64 {
    let back = transposed(turn);
    let sorted = |solution: &Solution, back: Option<[[f64; 3]; 3]>| {
        let positions = solution.u.node_positions().into_iter();
        let own = |x| back.map_or(x, |back| times(back, x));
        let vectors = solution.u.values.chunks_exact(dim);
        let mut nodes: Vec<([i64; 3], [f64; 3])> = positions
            .zip(vectors)
            .map(|(x, u)| {
                let mut vector = [0.0; 3];
                vector[..dim].copy_from_slice(u);
                (own(x).map(|x| (x * 1e6).round() as i64), own(vector))
            })
            .collect();
        nodes.sort_by_key(|node| node.0);
        nodes
    };
    let (one, other) = (sorted(turned, Some(back)), sorted(upright, None));
    assert_eq!(one.len(), other.len());
    let pairs = one.iter().zip(&other);
    let errors = pairs.flat_map(|(a, b)| {
        assert!((0..3).all(|c| (a.0[c] - b.0[c]).abs() <= 1), "{a:?} {b:?}");
        (0..dim).map(|c| (a.1[c] - b.1[c]).abs())
    });
    let largest = other
        .iter()
        .flat_map(|node| node.1)
        .fold(0.0, |m: f64, u| m.max(u.abs()));
    errors.fold(0.0, f64::max) / largest
}

/// A body on three planes of symmetry, pushed in at its end and under its own weight, upright and turned; the end
/// is `pushed` if given.
fn both_ways<F, const D: usize>(
    (cell, n, degree): (Cell, usize, usize),
    form: F,
    (preconditioner, pushed): (PreconditionerKind, &f64),
) -> [Solution; 2]
where
    F: Form<D, D> + Clone + 'static,
{
    let turn = turn(D);
    let weight = [0.1, -0.3, 0.2];
    let weight = [weight, times(turn, weight)];
    let sides = ["xmin", "ymin", "zmin"];
    let solution = |is_turned: bool| {
        let mesh = turned_box(cell, n, is_turned.then_some(turn));
        let problem = Problem {
            source: weight[usize::from(is_turned)][..D]
                .iter()
                .map(|component| component as &dyn Function)
                .collect(),
            preconditioner,
            solver: SolverParams {
                relative_tolerance: Some(1e-11),
                ..SolverParams::default()
            },
            ..interpreted(&mesh, degree, form.clone())
        };
        let tag = |side: &str| side.to_owned();
        solve(&match is_turned {
            true => Problem {
                along_normal: (sides[..D].iter().map(|&side| (side, &0.0)))
                    .chain([("xmax", pushed)])
                    .map(|(side, value)| AlongNormal {
                        tag: tag(side),
                        value,
                    })
                    .collect(),
                ..problem
            },
            false => Problem {
                dirichlet: (sides[..D]
                    .iter()
                    .enumerate()
                    .map(|(c, side)| (*side, c, &0.0)))
                .chain([("xmax", 0, pushed)])
                .map(|(side, component, value)| Boundary {
                    tag: tag(side),
                    value: Given::Some(vec![(component, value as &dyn Function)]),
                })
                .collect(),
                ..problem
            },
        })
    };
    [solution(true), solution(false)]
}

#[test]
fn a_turned_body_turns_its_solution() {
    use PreconditionerKind::{Jacobi, Multigrid};
    let solid = LinearElasticity::<3>::from_young(1.0, 0.3);
    let plane = LinearElasticity::<2>::from_young(1.0, 0.3);
    for (cell, n, degree) in [
        (Cell::Hexahedron, 3, 1),
        (Cell::Hexahedron, 2, 4),
        (Cell::Tetrahedron, 2, 2),
        (Cell::Quadrilateral, 5, 3),
        (Cell::Triangle, 5, 2),
    ] {
        for preconditioner in [Jacobi, Multigrid] {
            let how = (preconditioner, &-0.2);
            let [turned, upright] = match cell.dim() {
                3 => both_ways::<_, 3>((cell, n, degree), solid, how),
                _ => both_ways::<_, 2>((cell, n, degree), plane, how),
            };
            let found = difference(&turned, &upright, turn(cell.dim()), cell.dim());
            assert!(
                found < 1e-9,
                "{cell:?} {degree} {preconditioner:?}: {found:.1e}"
            );
            let [own, other] = [&turned, &upright].map(|it| it.info.iterations());
            let most = match preconditioner {
                // The diagonal is another one on a turned body.
                Jacobi => other * 3 / 2,
                _ => other + 3,
            };
            assert!(
                own <= most,
                "{cell:?} {degree} {preconditioner:?}: {own}, {other}"
            );
            assert_eq!(turned.preconditioner.kind, preconditioner);
        }
    }
}

/// With large deformations.
#[test]
fn a_turned_block_of_rubber_is_pressed_alike() {
    let rubber = NeoHookean::<3>::from_young(1.0, 0.3);
    for preconditioner in [PreconditionerKind::Jacobi, PreconditionerKind::Multigrid] {
        let how = (preconditioner, &-0.2);
        let [turned, upright] = both_ways::<_, 3>((Cell::Hexahedron, 2, 2), rubber, how);
        let found = difference(&turned, &upright, turn(3), 3);
        assert!(found < 1e-8, "{preconditioner:?}: {found:.1e}");
    }
}

/// A linear displacement with its normal component on all sides, and its traction, which only counts along them.
#[test]
fn a_linear_displacement_is_exact() {
    let (lambda, mu) = (0.4, 0.4);
    let slope = [[0.2, -0.1, 0.05], [0.03, 0.1, -0.2], [0.1, 0.07, -0.15]];
    let turn = turn(3);
    let mesh = turned_box(Cell::Hexahedron, 2, Some(turn));
    let trace = slope[0][0] + slope[1][1] + slope[2][2];
    let normal = |side: usize| {
        let mut normal = [0.0; 3];
        normal[side / 2] = if side.is_multiple_of(2) { -1.0 } else { 1.0 };
        times(turn, normal)
    };
    let along: Vec<_> = (0..6)
        .map(|side| {
            let n = normal(side);
            move |x| {
                times(slope, x)
                    .iter()
                    .zip(n)
                    .map(|(u, n)| u * n)
                    .sum::<f64>()
            }
        })
        .collect();
    let tractions: Vec<[f64; 3]> = (0..6)
        .map(|side| {
            let n = normal(side);
            [0, 1, 2].map(|i| {
                let shear = (0..3).map(|j| mu * (slope[i][j] + slope[j][i]) * n[j]);
                // What is along the normal does not count.
                lambda * trace * n[i] + shear.sum::<f64>() + 3.0 * n[i]
            })
        })
        .collect();
    let problem = Problem {
        along_normal: (SIDES.iter().zip(&along))
            .map(|(side, value)| AlongNormal {
                tag: (*side).to_owned(),
                value,
            })
            .collect(),
        neumann: (SIDES.iter().zip(&tractions))
            .map(|(&side, [x, y, z])| Boundary::vector(side, [x as &dyn Function, y, z]))
            .collect(),
        solver: accurate(),
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(1.0, 0.25))
    };
    for preconditioner in [PreconditionerKind::Jacobi, PreconditionerKind::Multigrid] {
        let solution = solve(&Problem {
            preconditioner,
            ..problem.clone()
        });
        assert!(solution.free.is_none());
        let positions = solution.u.node_positions().into_iter();
        let vectors = solution.u.values.chunks_exact(3);
        let errors = positions.zip(vectors).flat_map(|(x, u)| {
            let exact = times(slope, x);
            (0..3).map(move |c| (u[c] - exact[c]).abs())
        });
        let worst = errors.fold(0.0, f64::max);
        assert!(worst < 1e-9, "{preconditioner:?}: {worst:.1e}");
    }
}

/// A quarter of a thick pipe under pressure that also turns about its axis: u = (r + 1/r) e_r + r/2 e_φ, of which
/// r + 1/r is given on the curved walls, along normals that no cell has exactly.
#[test]
fn curved_walls_have_the_order_of_their_cells() {
    let radius = |x: [f64; 3]| x[0].hypot(x[1]);
    let radial = move |x: [f64; 3]| radius(x) + 1.0 / radius(x);
    let inwards = move |x: [f64; 3]| -radial(x);
    let exact = [0, 1].map(|c| {
        move |x: [f64; 3]| {
            let r = radius(x);
            radial(x) * x[c] / r + 0.5 * if c == 0 { -x[1] } else { x[0] }
        }
    });
    for (degree, order) in [(1, 1.8), (2, 2.8), (3, 2.8)] {
        let error = |n: usize| {
            let sector = AnyBox {
                cell: Cell::Quadrilateral,
                cells: vec![n, 2 * n],
                lower: vec![0.0; 2],
                upper: vec![1.0; 2],
                geometry_degree: 2,
                irregular: None,
            };
            let mesh = sector.build(|[x, y, _]| {
                let (sin, cos) = (0.5 * PI * y).sin_cos();
                [(1.0 + x) * cos, (1.0 + x) * sin, 0.0]
            });
            let mesh = mesh.unwrap();
            let wall = |tag: &str, value| AlongNormal {
                tag: tag.to_owned(),
                value,
            };
            let problem = Problem {
                along_normal: vec![wall("xmin", &inwards), wall("xmax", &radial)],
                dirichlet: vec![
                    Boundary::component("ymin", 1, &exact[1]),
                    Boundary::component("ymax", 0, &exact[0]),
                ],
                exact: Some(Exact {
                    value: vec![&exact[0], &exact[1]],
                    gradient: None,
                }),
                solver: accurate(),
                ..interpreted(&mesh, degree, LinearElasticity::<2>::from_young(1.0, 0.3))
            };
            solve(&problem).errors.unwrap().unwrap().l2
        };
        let errors = [4, 8, 16].map(error);
        let found = (errors[1] / errors[2]).log2();
        assert!(found > order, "degree {degree}: {errors:?}");
    }
}

/// A bar that slides between four walls: it is free along them, unless its load does not balance.
#[test]
fn a_bar_between_walls_slides() {
    let turn = turn(3);
    let mesh = turned_box(Cell::Hexahedron, 3, Some(turn));
    let along = times(turn, [0.0, 0.0, 1.0]);
    let push = along.map(|x| 0.1 * x);
    let pull = along.map(|x| -0.1 * x);
    let pressed = |is_balanced: bool| {
        let mut neumann = vec![Boundary::vector("zmin", [&push[0], &push[1], &push[2]])];
        if is_balanced {
            neumann.push(Boundary::vector("zmax", [&pull[0], &pull[1], &pull[2]]));
        }
        Problem {
            along_normal: (SIDES[..4].iter())
                .map(|side| AlongNormal {
                    tag: (*side).to_owned(),
                    value: &0.0,
                })
                .collect(),
            neumann,
            ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(1.0, 0.3))
        }
        .solve::<f64, _>(&host(), &mut ())
        .map_err(Box::new)
    };
    let solution = pressed(true).unwrap();
    assert_eq!(solution.free.unwrap().count, 1);
    // Pressed by 0.1 without room at the sides: strain 0.1 (1 + ν) (1 - 2ν)/((1 - ν) E).
    let strain = 0.1 * 1.3 * 0.4 / 0.7;
    let positions = solution.u.node_positions().into_iter();
    let vectors = solution.u.values.chunks_exact(3);
    for (x, u) in positions.zip(vectors) {
        let height = times(transposed(turn), x)[2] - 0.45;
        let expected = along.map(|e| -strain * height * e);
        assert!(
            (0..3).all(|c| (u[c] - expected[c]).abs() < 1e-6),
            "{u:?} {expected:?}"
        );
    }
    let error = pressed(false).unwrap_err();
    assert!(
        matches!(*error, ProblemError::Unbalanced { rigid: true, .. }),
        "{error}"
    );
}

#[test]
fn normals_need_vectors_and_groups() {
    let mesh = turned_box(Cell::Hexahedron, 2, None);
    let along = |tag: &str| {
        vec![AlongNormal {
            tag: tag.to_owned(),
            value: &0.0,
        }]
    };
    let scalar = Problem {
        along_normal: along("xmin"),
        ..interpreted(&mesh, 2, Poisson::<3>)
    };
    let error = scalar.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    assert!(
        matches!(&error, ProblemError::Space(SpaceError::NoNormal { tag, .. }) if tag == "xmin")
    );
    assert_eq!(
        error.to_string(),
        "boundary group `xmin`: the component along the normal was given, but it needs a vector with as many components as \
         dimensions, and there are 1 in 3 dimensions"
    );
    let vector = Problem {
        along_normal: along("side"),
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(1.0, 0.3))
    };
    let error = vector.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("side"), "{error}");
    let twice = Problem {
        along_normal: along("xmin"),
        dirichlet: vec![Boundary::vector("xmin", [&0.0 as &dyn Function; 3])],
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(1.0, 0.3))
    };
    let error = twice.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    assert!(
        error.to_string().ends_with("but so are all components"),
        "{error}"
    );
}

/// A single slanted line leaves motions along it free, and Newton's method does not look for them.
#[test]
fn newtons_method_refuses_what_slides() {
    let mesh = turned_box(Cell::Quadrilateral, 3, Some(turn(2)));
    let problem = Problem {
        along_normal: vec![AlongNormal {
            tag: "xmin".to_owned(),
            value: &0.0,
        }],
        ..interpreted(&mesh, 2, NeoHookean::<2>::from_young(1.0, 0.3))
    };
    let error = problem.solve::<f64, _>(&host(), &mut ()).unwrap_err();
    assert!(
        matches!(error, ProblemError::Singular { component: Some(_) }),
        "{error}"
    );
}
