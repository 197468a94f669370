//! Columns of prisms of another degree vertically than horizontally.

use super::facets::robin;
use super::multigrid::{difference_from_jacobi, poisson, solve};
use super::*;
use femto::Degree;
use femto::fem::mesh::Layers;
use femto::fem::mesh::boxes::SimplexBox;
use femto::problem::{LevelMethod, PreconditionerKind};

const DEGREES: [[usize; 2]; 5] = [[1, 3], [3, 1], [2, 4], [4, 2], [1, 2]];

fn degree([horizontal, vertical]: [usize; 2]) -> Degree {
    Degree::new(horizontal, vertical)
}

/// Layers over `n` by `n` squares, each of two triangles.
fn layers(n: usize, count: usize, top: f64) -> Mesh {
    let plane = SimplexBox {
        irregular: Some(7),
        ..SimplexBox::unit_square(n)
    };
    let plane = plane.build(|x| x).unwrap();
    let solids = plane.extrude(&Layers::uniform(count), |_| 0.0, |_| top);
    solids.unwrap()
}

/// A polynomial of full degree each way is found exactly, with its values, fluxes and Robin conditions on facets of both
/// shapes.
#[test]
fn polynomials_of_either_degree_are_found() {
    let mesh = layers(3, 2, 1.0);
    for along in DEGREES {
        let [h, v] = along.map(|degree| degree as i32);
        // Of the place in the plane and of the height, with their derivatives of each order.
        let power = |x: f64, n: i32, order: i32| {
            let factors: f64 = (0..order).map(|m| f64::from(n - m)).product();
            if order > n {
                0.0
            } else {
                factors * x.powi(n - order)
            }
        };
        let place = |[x, y, _]: [f64; 3], order| power(1.0 + x - 0.5 * y, h, order);
        let height = |[_, _, z]: [f64; 3], order| power(0.3 + z, v, order);
        let u = move |x: [f64; 3]| place(x, 0) * height(x, 0);
        let along_x = move |x: [f64; 3]| place(x, 1) * height(x, 0);
        let along_y = move |x: [f64; 3]| -0.5 * along_x(x);
        let upwards = move |x: [f64; 3]| place(x, 0) * height(x, 1);
        let source =
            move |x: [f64; 3]| -1.25 * place(x, 2) * height(x, 0) - place(x, 0) * height(x, 2);
        let on_robin = move |x: [f64; 3]| 0.7 * u(x) - along_x(x);
        let problem = Problem {
            source: vec![&source],
            dirichlet: ["bottom", "ymin"]
                .map(|side| Boundary::new(side, &u))
                .into(),
            neumann: vec![
                Boundary::new("xmax", &along_x),
                Boundary::new("ymax", &along_y),
                Boundary::new("top", &upwards),
            ],
            robin: vec![robin("xmin", &0.7, &on_robin)],
            exact: Some(Exact {
                value: vec![&u],
                gradient: Some(vec![vec![&along_x, &along_y, &upwards]]),
            }),
            solver: accurate(),
            preconditioner: PreconditionerKind::Multigrid,
            ..crate::common::interpreted(&mesh, degree(along), Poisson::<3>)
        };
        let solution = solve(&problem);
        let error = worst(&solution.u, u);
        assert!(error < 1e-10, "{along:?}: {error:e}");
        let errors = solution.errors.unwrap().unwrap();
        assert!(
            errors.l2 < 1e-10 && errors.h1_seminorm.unwrap() < 1e-9,
            "{along:?}"
        );
    }
}

/// -Δu = 1 with u = 0 on all sides of layers.
fn on_layers(mesh: &Mesh, along: [usize; 2]) -> Problem<'_> {
    let mut problem = poisson(mesh, 3, 1);
    problem.degree = degree(along);
    for (boundary, side) in problem.dirichlet[4..].iter_mut().zip(["bottom", "top"]) {
        boundary.tag = side.to_owned();
    }
    problem
}

/// A higher horizontal degree is halved first, and thin layers are solved along lines.
#[test]
fn levels_halve_both_degrees() {
    let levels: [&[[usize; 2]]; 5] = [
        &[[1, 3], [1, 2], [1, 1]],
        &[[3, 1], [2, 1], [1, 1]],
        &[[2, 4], [1, 2], [1, 1]],
        &[[4, 2], [2, 2], [1, 1]],
        &[[6, 2], [3, 2], [2, 2], [1, 1]],
    ];
    for wanted in levels {
        for top in [1.0, 0.03] {
            let mesh = layers(6, 4, top);
            let problem = on_layers(&mesh, wanted[0]);
            let solution = solve(&problem);
            let found = solution.levels.iter().map_while(|level| level.degree);
            let all = wanted.iter().copied().map(degree);
            assert!(found.eq(all), "{:?}", solution.levels);
            let iterations = solution.info.iterations();
            assert!(iterations <= 12, "{wanted:?} {top}: {iterations}");
            if top < 1.0 {
                let method = solution.levels[0].method;
                assert_eq!(method, Some(LevelMethod::Lines), "{wanted:?}");
            }
            assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
        }
    }
}

/// Cells as wide as high, whose nodes are much nearer to each other upwards.
#[test]
fn nodes_near_each_other_upwards_are_solved_along_lines() {
    let mesh = layers(4, 4, 0.5);
    for (along, wanted) in [
        ([2, 6], LevelMethod::Lines),
        ([2, 2], LevelMethod::Diagonal),
    ] {
        let solution = solve(&on_layers(&mesh, along));
        assert_eq!(solution.levels[0].method, Some(wanted), "{along:?}");
        assert!(solution.info.iterations() <= 10, "{along:?}");
    }
}
