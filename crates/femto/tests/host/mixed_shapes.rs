//! Meshes of triangles and quadrilaterals: orders of convergence, exact polynomials, and problems with every feature
//! of single-shape meshes. The battery has their operators.

use crate::common::{blocks, cut_quadrilaterals, interpreted, mixed, mixed_like, random_cuts};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{AnyBox, SolidBox, Solids};
use femto::fem::space::{Block, SpaceParams};
use femto::kernel::form::{Form, NonlinearDiffusion, Point, Poisson};
use femto::kernel::scalar::Scalar;
use femto::operator::{OperatorError, Typed};
use femto::platform::device::Device;
use femto::problem::{
    Boundary, Discretization, Exact, Given, LagrangeGrid, Problem, Robin, SolverParams, by_group,
    cell_tags,
};
use femto::{Host, Operator, OperatorParams, Quadrature, Scatter};
use femto_element::Cell;

#[test]
fn blocks_belong_together() {
    let mesh = mixed(3, 1);
    let all = blocks(&mesh, SpaceParams::default());
    let host = Host::with_threads(1).unwrap();
    let form = Typed::<_, 2, 1>(Poisson);
    let bind = |blocks: &[Block]| {
        Operator::<f64, _>::of_blocks(&host, blocks, &form, OperatorParams::default())
    };
    let reversed = [all[1].clone(), all[0].clone()];
    for (wrong, count) in [(&all[..1], 2), (&all[1..], 2), (&reversed[..], 2), (&[], 0)] {
        match bind(wrong) {
            Err(OperatorError::OtherBlocks { found, blocks }) => {
                assert_eq!((found, blocks), (wrong.len(), count));
            }
            other => panic!("{other:?}"),
        }
    }
    for blocks in [&all[..1], &[]] {
        let on = Discretization {
            blocks,
            quadrature: Quadrature::Gauss,
            time: 0.0,
            scatter: Scatter::Deterministic,
        };
        let mut b = host.zeros(all[0].space.dofs()).unwrap();
        let refused = on.neumann(&host, "xmin", &[&1.0], &mut b).unwrap_err();
        let expected = "that are not all those of one space";
        assert!(refused.to_string().contains(expected), "{refused}");
        assert!(on.source(&host, &[&1.0]).is_err());
    }
    let operator = bind(&all).unwrap();
    let (u, mut v) = (
        host.zeros(operator.element_dofs()),
        host.zeros(operator.element_dofs()),
    );
    let refused = operator.apply_elements(u.as_ref().unwrap(), v.as_mut().unwrap());
    assert!(matches!(
        refused,
        Err(OperatorError::ElementsOfShapes { blocks: 2 })
    ));
    let words = operator.explain(None, None);
    assert_eq!(words.family, "sum_factorization and affine_simplex");
    assert_eq!(words.elements, Block::elements(&all));
    for shape in ["quadrilaterals", "triangles"] {
        assert!(words.schedule.iter().any(|line| line.contains(shape)));
    }
}

/// u = sin(3 x + y + 0.3) cos(1.5 y - 0.4 x).
fn exact([x, y, _]: [f64; 3]) -> f64 {
    (3.0 * x + y + 0.3).sin() * (1.5 * y - 0.4 * x).cos()
}

fn slope(axis: usize) -> impl Fn([f64; 3]) -> f64 + Send + Sync {
    move |[x, y, _]| {
        let (a, b) = (3.0 * x + y + 0.3, 1.5 * y - 0.4 * x);
        let (da, db) = ([3.0, 1.0][axis], [-0.4, 1.5][axis]);
        da * a.cos() * b.cos() - db * a.sin() * b.sin()
    }
}

/// -Δu, with a·a = 10, b·b = 2.41, a·b = 0.3.
fn source([x, y, z]: [f64; 3]) -> f64 {
    let (a, b) = (3.0 * x + y + 0.3, 1.5 * y - 0.4 * x);
    (10.0 + 2.41) * exact([x, y, z]) + 2.0 * 0.3 * a.cos() * b.sin()
}

fn accurate() -> SolverParams {
    SolverParams {
        relative_tolerance: Some(1e-13),
        ..SolverParams::default()
    }
}

/// The side x = 0 is straight and has one Robin condition, fulfilled by the exact solution: -∂u/∂x + 2 u =
/// g.
#[test]
fn orders_are_those_of_the_degree() {
    let host = Host::with_threads(2).unwrap();
    let [dx, dy] = [0, 1].map(slope);
    let flux = |x: [f64; 3]| 2.0 * exact(x) - slope(0)(x);
    for degree in 1..=3 {
        let coarse = [12, 8, 5][degree - 1];
        let cuts = random_cuts(coarse);
        let [low, high] = [coarse, 2 * coarse].map(|n| {
            // With maps of the degree, refined deformed cells get smaller but no straighter; order 2
            // resolves the curves.
            let mesh = mixed_like(&cuts, n, 2);
            let problem = Problem {
                source: vec![&source],
                dirichlet: ["xmax", "ymin", "ymax"]
                    .map(|side| Boundary::new(side, &exact))
                    .into(),
                robin: vec![Robin {
                    tag: "xmin".into(),
                    alpha: Given::All(vec![&2.0]),
                    value: Given::All(vec![&flux]),
                }],
                exact: Some(Exact {
                    value: vec![&exact],
                    gradient: Some(vec![vec![&dx, &dy]]),
                }),
                solver: accurate(),
                ..interpreted(&mesh, degree, Poisson::<2>)
            };
            let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
            let errors = solution
                .errors
                .expect("the exact solution is given")
                .expect("finite");
            [errors.l2, errors.h1_seminorm.expect("with its gradient")]
        });
        let [l2, h1] = [0, 1].map(|norm: usize| (low[norm] / high[norm]).log2());
        let n = degree as f64;
        let all = format!("degree {degree}: {l2:.2} {h1:.2} {high:?}");
        assert!(l2 > n + 0.6 && h1 > n - 0.35, "{all}");
        assert!(high[0] < 2e-3, "{all}");
    }
}

/// Hexahedra, pyramids, tetrahedra and prisms, with a flux through triangles and quadrilaterals.
#[test]
fn orders_on_all_solids_are_those_of_the_degree() {
    let host = Host::with_threads(2).unwrap();
    let exact = |[x, y, z]: [f64; 3]| (2.0 * x + y + 0.3).sin() * (1.5 * z - y).cos();
    let slope = |axis: usize| {
        move |[x, y, z]: [f64; 3]| {
            let (a, b) = (2.0 * x + y + 0.3, 1.5 * z - y);
            let (da, db) = ([2.0, 1.0, 0.0][axis], [0.0, -1.0, 1.5][axis]);
            da * a.cos() * b.cos() - db * a.sin() * b.sin()
        }
    };
    // -Δu, with a·a = 5, b·b = 3.25, a·b = -1.
    let source = |[x, y, z]: [f64; 3]| {
        let (a, b) = (2.0 * x + y + 0.3, 1.5 * z - y);
        8.25 * exact([x, y, z]) - 2.0 * a.cos() * b.sin()
    };
    let [dx, dy, dz] = [0, 1, 2].map(slope);
    for degree in 1..=2 {
        let [low, high] = [4, 8].map(|n| {
            let of = SolidBox {
                geometry_degree: 2,
                ..SolidBox::unit_cube(Solids::All, n)
            };
            let mesh = of.build(|[x, y, z]| {
                [
                    x + 0.1 * (1.0 - x) * x * y,
                    y + 0.1 * y * z,
                    z + 0.1 * y * x,
                ]
            });
            let mesh = mesh.unwrap();
            let sides = ["xmin", "ymin", "ymax", "zmin", "zmax"];
            let problem = Problem {
                source: vec![&source],
                dirichlet: sides.map(|side| Boundary::new(side, &exact)).into(),
                neumann: vec![Boundary::new("xmax", &dx)],
                exact: Some(Exact {
                    value: vec![&exact],
                    gradient: Some(vec![vec![&dx, &dy, &dz]]),
                }),
                solver: accurate(),
                ..interpreted(&mesh, degree, Poisson::<3>)
            };
            let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
            assert_eq!(solution.u.blocks.len(), 4);
            let errors = solution
                .errors
                .expect("the exact solution is given")
                .expect("finite");
            [errors.l2, errors.h1_seminorm.expect("with its gradient")]
        });
        let [l2, h1] = [0, 1].map(|norm: usize| (low[norm] / high[norm]).log2());
        let n = degree as f64;
        let all = format!("degree {degree}: {l2:.2} {h1:.2} {high:?}");
        assert!(l2 > n + 0.7 && h1 > n - 0.3, "{all}");
        assert!(high[0] < [1e-2, 1e-3][degree - 1], "{all}");
    }
}

/// The unit square, sheared: all maps are affine, so that the space contains polynomials of its degree.
fn sheared(n: usize) -> Mesh {
    let mesh = AnyBox::unit(Cell::Quadrilateral, n);
    let mesh = mesh.build(|[x, y, z]| [x + 0.3 * y, y - 0.1 * x, z]);
    cut_quadrilaterals(&mesh.unwrap(), |cell| cell % 3 == 0)
}

#[test]
fn polynomials_of_the_degree_are_exact() {
    let host = Host::with_threads(2).unwrap();
    for degree in 1..=3 {
        let n = degree as i32;
        let exact = move |[x, y, _]: [f64; 3]| (x + 0.5 * y + 0.2).powi(n);
        let curvature = f64::from(n * (n - 1)) * 1.25;
        let source = move |[x, y, _]: [f64; 3]| match n {
            1 => 0.0,
            _ => -curvature * (x + 0.5 * y + 0.2).powi(n - 2),
        };
        let mesh = sheared(6);
        let problem = Problem {
            source: vec![&source],
            dirichlet: ["xmin", "xmax", "ymin", "ymax"]
                .map(|side| Boundary::new(side, &exact))
                .into(),
            exact: Some(Exact {
                value: vec![&exact],
                gradient: None,
            }),
            solver: accurate(),
            ..interpreted(&mesh, degree, Poisson::<2>)
        };
        let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
        let errors = solution
            .errors
            .expect("the exact solution is given")
            .expect("finite");
        assert!(errors.l2 < 1e-12, "degree {degree}: {errors:?}");
    }
}

/// −∇·(a ∇u), with a of each cell.
#[derive(Clone)]
struct Layers;

impl Form<2> for Layers {
    fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
        [p.grad_u[0].map(|slope| slope * p.a[0])]
    }
}

/// Two layers, κ = 1 below y = 1/2 and 4 above, with u = 0 at the bottom and 1 at the top: u is linear in each.
#[test]
fn coefficients_go_with_their_groups() {
    let mut mesh = AnyBox::unit(Cell::Quadrilateral, 6).build(|x| x).unwrap();
    let groups = mesh.groups.clone();
    let inside = groups.iter().find(|group| group.dimension == 2).unwrap();
    mesh.groups.push(femto::fem::mesh::PhysicalGroup {
        number: inside.number + 1,
        name: "upper".into(),
        ..inside.clone()
    });
    let coordinates = mesh.coordinates.clone();
    for block in mesh
        .blocks
        .iter_mut()
        .filter(|it| it.cell_type.dimension() == 2)
    {
        for (cell, tag) in block.tags.iter_mut().enumerate() {
            let nodes = block.nodes.cell(cell, 4).each();
            let y = nodes.map(|node| coordinates.at(node as usize)[1]);
            if y.sum::<f64>() > 2.0 {
                *tag = inside.number + 1;
            }
        }
    }
    let mesh = cut_quadrilaterals(&mesh, |cell| cell % 4 < 2);
    let kappa = by_group(&mesh, &[(&inside.name[..], 1.0), ("upper", 4.0)]).unwrap();
    assert_eq!(kappa.len(), cell_tags(&mesh).len());
    let exact = |[_, y, _]: [f64; 3]| match y < 0.5 {
        true => 1.6 * y,
        false => 0.8 + 0.4 * (y - 0.5),
    };
    let host = Host::with_threads(2).unwrap();
    for degree in [1, 2] {
        let problem = Problem {
            dirichlet: ["ymin", "ymax"]
                .map(|side| Boundary::new(side, &exact))
                .into(),
            operator: OperatorParams {
                auxiliary: vec![kappa.clone().into()],
                ..OperatorParams::default()
            },
            exact: Some(Exact {
                value: vec![&exact],
                gradient: None,
            }),
            solver: accurate(),
            ..interpreted(&mesh, degree, Layers)
        };
        let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
        let errors = solution
            .errors
            .expect("the exact solution is given")
            .expect("finite");
        assert!(errors.l2 < 1e-12, "degree {degree}: {errors:?}");

        let grid = LagrangeGrid::new(&solution.u).unwrap();
        let shapes: Vec<Cell> = grid.cells.iter().map(|(cell, _)| *cell).collect();
        assert_eq!(shapes, [Cell::Quadrilateral, Cell::Triangle]);
        for (&x, u) in grid.points.iter().zip(&grid.values[0]) {
            assert!((u - exact(x)).abs() < 1e-12);
        }
    }
}

/// Newton's method converges quadratically only if residual and Jacobian have the same rule on each shape.
#[test]
fn newton_solves_on_both() {
    let host = Host::with_threads(2).unwrap();
    let mesh = mixed(8, 2);
    let problem = Problem {
        source: vec![&|[x, y, _]: [f64; 3]| 10.0 * x * y],
        dirichlet: vec![Boundary::new("xmin", &0.0), Boundary::new("xmax", &1.0)],
        solver: SolverParams {
            relative_tolerance: Some(1e-11),
            ..SolverParams::default()
        },
        ..interpreted(&mesh, 2, NonlinearDiffusion::<2>::default())
    };
    let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
    assert!(
        solution.info.iterations() < 9,
        "{}",
        solution.info.iterations()
    );
}

/// Fields of cells are by mesh cells, whatever the order of the blocks.
#[test]
fn fields_of_cells_do_not_depend_on_the_order_of_blocks() {
    let mesh = mixed(3, 1);
    let host = Host::with_threads(1).unwrap();
    let geometries = || Geometry::of_shapes(&mesh).unwrap();
    let sums = [false, true].map(|is_reversed| {
        let mut all = geometries();
        if is_reversed {
            all.reverse();
        }
        let cells: usize = all.iter().map(Geometry::len).sum();
        let params = OperatorParams {
            auxiliary: vec![
                (0..cells)
                    .map(|cell| cell as f64)
                    .collect::<Vec<_>>()
                    .into(),
            ],
            ..OperatorParams::default()
        };
        let all = Block::all(&mesh, all, SpaceParams::default()).unwrap();
        let form = Typed::<_, 2, 1>(Weighted);
        let operator = Operator::<f64, _>::of_blocks(&host, &all, &form, params).unwrap();
        let ones = host.upload(&vec![1.0; operator.dofs()]).unwrap();
        let mut sums = host.zeros(operator.dofs()).unwrap();
        operator.apply(&ones, &mut sums).unwrap();
        sums.iter().sum::<f64>()
    });
    assert!((sums[0] - sums[1]).abs() < 1e-12 * sums[0], "{sums:?}");
}

#[derive(Clone, Copy)]
struct Weighted;

impl Form<2> for Weighted {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0] * p.a[0]]
    }
}
