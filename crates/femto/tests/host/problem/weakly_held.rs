//! Constants and motions that hardly anything holds, and parts of a mesh that nothing holds.

use super::null_space::{ALL, bar, solve};
use super::*;
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::form::{Form, LinearElasticity, Point, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use femto::problem::{AlongNormal, Given, Method, ProblemError, ProblemForm, Robin};
use femto::{DataLevel, OperatorParams};
use std::f64::consts::PI;

/// A Robin term that hardly holds the constant: ∫ u on its side is zero, as the loads balance.
#[test]
fn weak_robin_terms_decide_the_constant() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 4).build(|x| x).unwrap();
    let load = |[x, _, _]: [f64; 3]| x - 0.5;
    let exact = |[x, _, _]: [f64; 3]| x * x / 4.0 - x.powi(3) / 6.0;
    let weak = |alpha: &'static f64| Problem {
        source: vec![&load],
        robin: vec![Robin {
            tag: "xmin".to_owned(),
            alpha: Given::All(vec![alpha]),
            value: Given::All(vec![&0.0]),
        }],
        ..interpreted(&mesh, 3, Poisson::<2>)
    };
    for preconditioner in ALL {
        for alpha in [&1e-9, &1e-7, &1e-3, &1.0] {
            let problem = Problem {
                preconditioner,
                ..weak(alpha)
            };
            let solution = solve(&problem);
            assert_eq!(solution.free, None);
            let error = worst(&solution.u, exact);
            assert!(error < 1e-7, "{preconditioner:?} {alpha:e}: {error:e}");
            let undecided = solution.undecided.unwrap_or_default();
            assert!(undecided < 1e-5, "{alpha:e}: {undecided:e}");
            let with_gmres = Problem {
                solver: SolverParams {
                    method: Some(Method::Gmres),
                    restart: 200,
                    ..SolverParams::default()
                },
                ..problem.clone()
            };
            let with_newton = Problem {
                solver: SolverParams {
                    method: Some(Method::Newton),
                    ..SolverParams::default()
                },
                ..problem.clone()
            };
            for problem in [with_gmres, with_newton] {
                let solution = solve(&problem);
                let error = worst(&solution.u, exact);
                assert!(error < 1e-7, "{preconditioner:?} {alpha:e}: {error:e}");
                assert!(solution.undecided.unwrap_or_default() < 1e-5);
            }
            // The rounding of matrices is a stronger term.
            let with_matrices = [DataLevel::Element, DataLevel::Sparse].map(|data_level| Problem {
                operator: OperatorParams {
                    data_level,
                    ..problem.operator.clone()
                },
                ..problem.clone()
            });
            for problem in &with_matrices {
                let solution = solve(problem);
                assert_eq!(solution.undecided, None);
                let error = worst(&solution.u, exact);
                assert!(error < 0.1, "{preconditioner:?} {alpha:e}: {error:e}");
            }
        }
    }
    // Without symmetry it is only told: here the flow goes along y, and the load does not change along it.
    let flowing = Problem {
        form: ProblemForm::interpreted::<_, 2, 1>(&Flowing).unwrap(),
        ..weak(&1e-8)
    };
    assert!(solve(&flowing).undecided.unwrap() > 0.1);
    assert!(
        solve(&Problem {
            robin: weak(&1.0).robin,
            ..flowing
        })
        .undecided
        .unwrap_or_default()
            < 1e-5
    );
    // What single precision cannot decide.
    let problem = weak(&1e-6);
    let solution = problem.solve::<f32, _>(&host(), &mut ()).unwrap();
    assert!(solution.undecided.unwrap() > 1e-3);
}

/// ∂_y u - Δu.
#[derive(Clone)]
struct Flowing;

impl Form<2> for Flowing {
    fn f0<S: Scalar>(&self, point: &Point<S, 2>) -> [S; 1] {
        [point.grad_u[0][1]]
    }
    fn f1<S: Scalar>(&self, point: &Point<S, 2>) -> [[S; 2]; 1] {
        point.grad_u
    }
}

/// A bar on springs, which hold it weakly along all axes.
#[test]
fn weak_springs_decide_where_a_body_is() {
    let mesh = bar([4, 2, 2], [0.0; 3], [2.0, 1.0, 1.0]);
    let problem = |alpha: &'static f64| Problem {
        robin: vec![Robin {
            tag: "xmin".to_owned(),
            alpha: Given::All(vec![alpha; 3]),
            value: Given::All(vec![&0.0; 3]),
        }],
        neumann: vec![Boundary::vector("xmax", [&1e-6, &0.0, &0.0])],
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(1.0, 0.0))
    };
    // u = 1e-6 (1 / alpha + x).
    for alpha in [&1e-6, &1e-3, &1.0] {
        let solution = solve(&problem(alpha));
        for (u, x) in solution
            .u
            .values
            .chunks_exact(3)
            .zip(solution.u.node_positions())
        {
            let wanted = 1e-6 * (1.0 / alpha + x[0]);
            let error = (u[0] - wanted).abs() / wanted;
            assert!(error < 1e-6, "{alpha:e}: {error:e}");
        }
    }
}

/// A quarter of a ring that slides on its inner side: only the unevenness of the normals there keeps it from swinging. Springs,
/// or a fixed end, hold it.
#[test]
fn sliding_along_curved_walls_is_found() {
    let ring = |[r, s, z]: [f64; 3]| {
        let angle = 0.5 * PI * s * (1.0 + 0.3 * s) / 1.3;
        [(1.0 + r) * angle.cos(), (1.0 + r) * angle.sin(), z]
    };
    let mesh_of = |map: &(dyn Fn([f64; 3]) -> [f64; 3] + Sync)| {
        let mesh = AnyBox {
            geometry_degree: 2,
            ..AnyBox::unit(Cell::Quadrilateral, 6)
        };
        mesh.build(map).unwrap()
    };
    let mesh = mesh_of(&ring);
    let slides = Problem {
        source: vec![&1.0, &0.0],
        along_normal: vec![AlongNormal {
            tag: "xmin".to_owned(),
            value: &0.0,
        }],
        ..interpreted(&mesh, 2, LinearElasticity::<2>::from_young(10.0, 0.3))
    };
    let part = solve(&slides).barely_held.expect("hardly held");
    assert!((1e-6..2e-2).contains(&part), "{part}");
    let spring = Robin {
        tag: "xmax".to_owned(),
        alpha: Given::All(vec![&1.0, &1.0]),
        value: Given::All(vec![&0.0, &0.0]),
    };
    let springs = Problem {
        robin: vec![spring],
        ..slides.clone()
    };
    assert_eq!(solve(&springs).barely_held, None);
    let fixed = Problem {
        dirichlet: vec![Boundary {
            tag: "ymin".to_owned(),
            value: Given::All(vec![&0.0, &0.0]),
        }],
        ..slides
    };
    assert_eq!(solve(&fixed).barely_held, None);
    // Nor is what a small fixed hole holds only held by the wall.
    let disc = mesh_of(&|[r, s, z]| ring([0.95 * r - 0.95, s, z]));
    let hub = Problem {
        dirichlet: vec![Boundary {
            tag: "xmin".to_owned(),
            value: Given::All(vec![&0.0, &0.0]),
        }],
        along_normal: vec![AlongNormal {
            tag: "xmax".to_owned(),
            value: &0.0,
        }],
        ..interpreted(&disc, 2, LinearElasticity::<2>::from_young(10.0, 0.3))
    };
    assert_eq!(solve(&hub).barely_held, None);
}

/// Two squares apart, one of which is held: in the other a constant is free, unless a term or a condition holds it.
#[test]
fn loose_parts_are_found() {
    let long = AnyBox {
        cells: vec![5, 2],
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let mut mesh = long.build(|x| x).unwrap();
    let is_kept = |nodes: &[u32]| {
        let x = nodes
            .iter()
            .map(|&node| mesh.coordinates.at(node as usize)[0]);
        let x: Vec<f64> = x.collect();
        x.iter().all(|&x| x < 0.5) || x.iter().all(|&x| x > 0.5)
    };
    for block in &mut mesh.blocks {
        let cells = block.cells().zip(&block.tags);
        let kept: Vec<_> = cells.filter(|(nodes, _)| is_kept(nodes)).collect();
        (block.nodes, block.tags) = (
            kept.iter().flat_map(|(nodes, _)| nodes.to_vec()).collect(),
            kept.iter().map(|(_, tag)| **tag).collect(),
        );
    }
    let balanced: &dyn Function = &|[x, y, _]: [f64; 3]| if x > 0.5 { y - 0.5 } else { 1.0 };
    let problem = Problem {
        source: vec![balanced],
        dirichlet: vec![Boundary::new("xmin", &1.0)],
        ..interpreted(&mesh, 2, Poisson::<2>)
    };
    let found = solve(&problem).loose_parts.expect("one part");
    assert_eq!((found.count, found.of), (1, 2));
    let unbalanced = Problem {
        source: vec![&1.0],
        ..problem.clone()
    };
    match unbalanced.solve::<f64, _>(&host(), &mut ()) {
        Err(ProblemError::Unsolved(unsolved)) => assert_eq!(unsolved.loose_parts, Some(found)),
        other => panic!("{other:?}"),
    }
    let spring = Robin {
        tag: "xmax".to_owned(),
        alpha: Given::All(vec![&1e-3]),
        value: Given::All(vec![&0.0]),
    };
    let held = [
        Problem {
            robin: vec![spring.clone()],
            ..problem.clone()
        },
        Problem {
            dirichlet: ["xmin", "xmax"]
                .map(|side| Boundary::new(side, &1.0))
                .into(),
            ..problem.clone()
        },
        Problem {
            source: vec![balanced],
            ..interpreted(&mesh, 2, ScreenedPoisson::<2> { lambda: Some(1e-3) })
        },
    ];
    for problem in held {
        assert_eq!(solve(&problem).loose_parts, None);
    }
    // The other part, where nothing is given at all, is that of the null space.
    let free = Problem {
        dirichlet: vec![],
        source: vec![&|[_, y, _]: [f64; 3]| y - 0.5],
        ..problem.clone()
    };
    let solution = solve(&free);
    assert_eq!(solution.free.map(|free| free.count), Some(1));
    assert_eq!(
        solution.loose_parts.map(|it| (it.count, it.of)),
        Some((1, 2))
    );
    // Without its constant, which the spring holds.
    let other = Problem {
        dirichlet: vec![],
        robin: vec![spring],
        ..free
    };
    assert_eq!(
        solve(&other).loose_parts.map(|it| (it.count, it.cell)),
        Some((1, 0))
    );
}
