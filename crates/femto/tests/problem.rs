//! Boundary value problems: boundary conditions, coefficients, failures, interruption.

mod common;

use common::{SHAPES, Shape, mesh};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::box_mesh::BoxMesh;
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::expr::{Graph, Input, Symbols, parse};
use femto::kernel::form::{Mass, Poisson, ScreenedPoisson};
use femto::platform::device::null::Null;
use femto::problem::{
    Boundary, Discretization, Exact, Expression, Function, GridFunction, LagrangeGrid, Observer,
    OutputField, PreconditionerKind, Problem, ProblemError, Stage, by_group, write_solution,
};
use femto::solve::cg::{CgFailure, CgParams, Iteration};
use femto::{Host, Number, OperatorParams, Quadrature};

const SIDES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
const RULES: [Quadrature; 2] = [Quadrature::Gauss, Quadrature::Collocated];

/// A linear function, which every space has on every mesh.
fn linear([x, y, z]: [f64; 3]) -> f64 {
    1.0 + 2.0 * x - 3.0 * y + 0.5 * z
}

fn host() -> Host {
    Host::with_threads(2).expect("two threads")
}

fn on_all_sides<'a>(value: &'a dyn Function) -> Vec<Boundary<'a>> {
    SIDES.map(|side| Boundary::new(side, value)).into()
}

fn accurate() -> CgParams {
    CgParams {
        relative_tolerance: 1e-13,
        ..CgParams::default()
    }
}

/// The largest difference from `exact` at the nodes.
fn worst(u: &GridFunction, exact: impl Fn([f64; 3]) -> f64) -> f64 {
    let positions = u.space.node_positions(&u.geometry);
    let errors = positions
        .iter()
        .zip(&u.values)
        .map(|(&x, u)| (u - exact(x)).abs());
    errors.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) })
}

/// The least degree at which the patch test holds on hex27: 2 so that the space has x, y and z
/// themselves; for the N + 1 GLL points, which are exact to degree 2 N - 1, the integrand's degree
/// N + 3 asks for more.
fn least_on_curved(quadrature: Quadrature) -> usize {
    if quadrature == Quadrature::Collocated {
        4
    } else {
        2
    }
}

fn patch_test<T: Number>(tolerance: f64) {
    for shape in SHAPES {
        let mesh = mesh(shape, [3, 2, 2]);
        for degree in [1, 2, 3, 5] {
            for quadrature in RULES {
                if shape == Shape::Curved && degree < least_on_curved(quadrature) {
                    continue;
                }
                let problem = Problem {
                    dirichlet: on_all_sides(&linear),
                    operator: OperatorParams {
                        quadrature,
                        ..OperatorParams::default()
                    },
                    solver: CgParams {
                        relative_tolerance: tolerance / 100.0,
                        ..accurate()
                    },
                    ..Problem::new(&mesh, degree, Poisson)
                };
                let solution = problem.solve::<T, _>(&host(), &mut ()).expect("solved");
                let error = worst(&solution.u, linear);
                assert!(
                    error < tolerance,
                    "{shape:?} degree {degree} {quadrature:?}: {error:e}"
                );
            }
        }
    }
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
        ..Problem::new(&mesh, 1, Poisson)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert_eq!(solution.info.iterations, 0);
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
                source: &-2.0,
                neumann: vec![Boundary::new("zmax", &2.0)],
                dirichlet: vec![Boundary::new("zmin", &0.0)],
                operator: OperatorParams {
                    quadrature,
                    ..OperatorParams::default()
                },
                solver: accurate(),
                ..Problem::new(&mesh, degree, Poisson)
            };
            let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
            assert!(worst(&solution.u, |[_, _, z]| z * z) < 1e-12);
        }
    }
}

/// The flux of a linear function through each of the sheared box's sides, which are flat.
#[test]
fn fluxes_on_slanted_faces_are_per_area() {
    let mesh = mesh(Shape::Affine, [2, 2, 2]);
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
            ..Problem::new(&mesh, degree, Poisson)
        };
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        let error = worst(&solution.u, linear);
        assert!(error < 1e-11, "degree {degree}: {error:e}");
    }
}

#[test]
fn where_boundary_groups_meet_the_first_listed_holds() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let solve = |tags: [&str; 2]| {
        let values: [&dyn Function; 2] = [&1.0, &2.0];
        let dirichlet = tags
            .iter()
            .zip(values)
            .map(|(&tag, value)| Boundary::new(tag, value));
        let problem = Problem {
            dirichlet: dirichlet.collect(),
            ..Problem::new(&mesh, 2, Poisson)
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let positions = u.space.node_positions(&u.geometry);
        let on_edge = |x: &[f64; 3]| x[0] == 0.0 && x[2] == 0.0;
        let edge = positions.iter().zip(&u.values).filter(|(x, _)| on_edge(x));
        edge.map(|(_, &u)| u).collect::<Vec<_>>()
    };
    assert_eq!(solve(["xmin", "zmin"]), [1.0; 5]);
    assert_eq!(solve(["zmin", "xmin"]), [1.0; 5]);
    assert_eq!(solve(["6", "xmin"]), [2.0; 5], "groups by number");
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
        source: &source,
        operator: OperatorParams {
            auxiliary: vec![lambda],
            ..OperatorParams::default()
        },
        solver: accurate(),
        ..Problem::new(&mesh, 2, ScreenedPoisson { lambda: None })
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    assert!(worst(&solution.u, |_| 3.0) < 1e-11);

    let error = by_group(&mesh, &[("right", 5.0)]).expect_err("the left half has no value");
    assert_eq!(
        error.to_string(),
        "2 of 4 hexahedra are in none of the volume groups with a value (right); the first is mesh \
         cell 0, of group number 7"
    );
    let error = by_group(&mesh, &[("wrong", 5.0)]).expect_err("no such group");
    assert!(
        error.to_string().contains("`right` = 8 (dimension 3)"),
        "{error}"
    );
}

/// The norms of the difference of known functions: u_h = 0 and u = x y² on the unit cube.
#[test]
fn error_norms_are_integrals() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let value = |[x, y, _]: [f64; 3]| x * y * y;
    let along_x = |[_, y, _]: [f64; 3]| y * y;
    let along_y = |[x, y, _]: [f64; 3]| 2.0 * x * y;
    let exact = Exact {
        value: &value,
        gradient: Some([&along_x, &along_y, &0.0]),
    };
    let problem = Problem {
        exact: Some(exact),
        ..Problem::new(&mesh, 1, Mass)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("zero");
    let errors = solution.errors.expect("the exact solution is given");
    let (l2, h1) = ((1.0f64 / 15.0).sqrt(), (1.0f64 / 5.0 + 4.0 / 9.0).sqrt());
    for (found, expected) in [
        (errors.l2, l2),
        (errors.l2_exact, l2),
        (errors.h1_seminorm.expect("a gradient is given"), h1),
        (errors.h1_seminorm_exact.expect("a gradient is given"), h1),
        (errors.l2_relative(), 1.0),
        (errors.h1_relative().expect("a gradient is given"), 1.0),
    ] {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    // A function of the space has no error.
    let on = solution.u.discretization(Quadrature::Gauss, 0.0);
    let positions = solution.u.space.node_positions(&solution.u.geometry);
    let nodal: Vec<f64> = positions.iter().map(|&x| linear(x)).collect();
    let gradient: [&dyn Function; 3] = [&2.0, &-3.0, &0.5];
    let exact = Exact {
        value: &linear,
        gradient: Some(gradient),
    };
    let errors = on.errors(&nodal, exact).expect("legal");
    assert!(
        errors.l2 < 1e-14 && errors.h1_seminorm < Some(1e-13),
        "{errors:?}"
    );
}

/// Σ ∫ φ = volume or area, the same bits for any number of threads, on a curved mesh.
#[test]
fn loads_are_repeatable() {
    let mesh = mesh(Shape::Curved, [5, 4, 3]);
    let mut graph = Graph::new();
    let text = parse(&mut graph, "sin(3*x) + y*z^2", &Symbols::position()).expect("legal");
    let expression = Expression::new(&graph, text).expect("a function of position");
    let closure = |[x, y, z]: [f64; 3]| (3.0 * x).sin() + y * z * z;
    for degree in [1, 4] {
        let b = |threads, f: &dyn Function| {
            let problem = Problem {
                source: f,
                neumann: vec![Boundary::new("ymax", f)],
                dirichlet: vec![Boundary::new("xmin", f)],
                ..Problem::new(&mesh, degree, Poisson)
            };
            let host = Host::with_threads(threads).expect("threads");
            let system = problem.assemble::<f64, _>(&host, &mut ()).expect("legal");
            system.right_hand_side().to_vec()
        };
        let wanted = b(1, &closure);
        for threads in [2, 3, 4] {
            assert_eq!(b(threads, &closure), wanted, "{threads} threads");
        }
        let difference = common::difference(&b(2, &expression), &wanted);
        assert!(
            difference < 1e-14,
            "an expression is a closure: {difference:e}"
        );
    }
}

#[test]
fn expressions_with_other_inputs_are_refused() {
    let mut graph = Graph::new();
    let parameter = graph.input(Input::Parameter(0));
    assert!(Expression::new(&graph, parameter).is_err());
    let time = graph.input(Input::Time);
    let time = Expression::new(&graph, time).expect("time is given");
    let mut value = [0.0];
    time.evaluate(&[[0.0; 3]], 4.5, &mut value);
    assert_eq!(value, [4.5]);
}

#[test]
fn a_solution_up_to_a_constant_is_an_error() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let singular = |error: ProblemError| {
        assert!(matches!(error, ProblemError::Singular), "{error}");
        assert!(
            error
                .to_string()
                .contains("give the solution on a part of the boundary")
        );
    };
    let solve = Problem::new(&mesh, 2, Poisson).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("no Dirichlet boundary"));
    let form = ScreenedPoisson { lambda: Some(0.0) };
    let solve = Problem::new(&mesh, 2, form).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("λ = 0"));
    let per_element = |lambda: Vec<f64>| Problem {
        operator: OperatorParams {
            auxiliary: vec![lambda],
            ..OperatorParams::default()
        },
        ..Problem::new(&mesh, 2, ScreenedPoisson { lambda: None })
    };
    let solve = per_element(vec![0.0; 8]).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("λ = 0 everywhere"));
    let mut lambda = vec![0.0; 8];
    lambda[5] = 1.0;
    let solve = per_element(lambda).solve::<f64, _>(&host(), &mut ());
    assert!(solve.is_ok(), "one cell fixes the constant");
}

#[test]
fn unknown_tags_list_the_known_ones() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).expect("legal");
    let form = ScreenedPoisson { lambda: Some(1.0) };
    let inlet = vec![Boundary::new("inlet", &0.0)];
    let dirichlet = Problem {
        dirichlet: inlet.clone(),
        ..Problem::new(&mesh, 1, form)
    };
    let neumann = Problem {
        neumann: inlet,
        ..Problem::new(&mesh, 1, form)
    };
    for problem in [dirichlet, neumann] {
        let error = problem
            .solve::<f64, _>(&host(), &mut ())
            .expect_err("no inlet");
        let message = error.to_string();
        assert!(
            message.contains("`inlet`") && message.contains("`zmax` = 6"),
            "{message}"
        );
    }
}

#[test]
fn values_that_are_none_are_named() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let bad = |[x, _, z]: [f64; 3]| (x - 0.5 * z).sqrt();
    let zero = vec![Boundary::new("ymin", &0.0)];
    let good = Problem {
        dirichlet: zero,
        ..Problem::new(&mesh, 1, Poisson)
    };
    let exact = Exact {
        value: &bad,
        gradient: None,
    };
    for (problem, what) in [
        (
            Problem {
                source: &bad,
                ..good.clone()
            },
            "the source",
        ),
        (
            Problem {
                neumann: vec![Boundary::new("ymax", &bad)],
                ..good.clone()
            },
            "the flux on `ymax`",
        ),
        (
            Problem {
                dirichlet: vec![Boundary::new("ymin", &bad)],
                ..good.clone()
            },
            "the boundary value on `ymin`",
        ),
        (
            Problem {
                exact: Some(exact),
                ..good.clone()
            },
            "the exact solution",
        ),
    ] {
        let solve = problem.solve::<f64, _>(&host(), &mut ());
        let message = solve.expect_err("not a number").to_string();
        assert!(
            message.starts_with(&format!("{what} is NaN at [")),
            "{message}"
        );
    }
}

#[test]
fn inverted_cells_are_named() {
    let mesh = BoxMesh::unit_cube(2)
        .build(|[x, y, z]| [-x, y, z])
        .expect("legal");
    let problem = Problem::new(&mesh, 1, Mass);
    let error = problem
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("inverted");
    assert!(
        error.to_string().contains("mesh cell 0 is inverted"),
        "{error}"
    );
}

/// Notes what it is told, and stops where it is asked to.
#[derive(Default)]
struct Notes {
    begun: Vec<Stage>,
    ended: Vec<Stage>,
    iterations: Vec<usize>,
    dofs: usize,
    stop_before: Option<Stage>,
    stop_at_iteration: Option<usize>,
}

impl Observer for Notes {
    fn begin(&mut self, stage: Stage) {
        self.begun.push(stage);
    }
    fn end(&mut self, stage: Stage) {
        self.ended.push(stage);
    }
    fn space(&mut self, space: &femto::fem::space::Space) {
        self.dofs = space.dofs();
    }
    fn iteration(&mut self, iteration: Iteration) {
        self.iterations.push(iteration.number);
    }
    fn stop(&mut self) -> bool {
        let stages = [
            Stage::Geometry,
            Stage::Space,
            Stage::Operator,
            Stage::Loads,
            Stage::Lifting,
            Stage::Preconditioner,
            Stage::Solve,
        ];
        let here = self.iterations.last().copied();
        here.is_some() && here >= self.stop_at_iteration && self.stop_at_iteration.is_some()
            || self.begun.len() == self.ended.len()
                && stages.get(self.begun.len()) == self.stop_before.as_ref()
                && self.stop_before.is_some()
    }
}

/// A problem that takes some iterations.
fn bump(mesh: &Mesh) -> Problem<'_, Poisson> {
    Problem {
        source: &1.0,
        dirichlet: on_all_sides(&linear),
        exact: Some(Exact {
            value: &linear,
            gradient: None,
        }),
        ..Problem::new(mesh, 3, Poisson)
    }
}

#[test]
fn observers_see_every_stage_and_iteration() {
    let mesh = mesh(Shape::Trilinear, [3, 3, 3]);
    let mut notes = Notes::default();
    let solution = bump(&mesh)
        .solve::<f64, _>(&host(), &mut notes)
        .expect("solved");
    assert!(
        notes.begun.is_sorted() && notes.begun.len() == 9,
        "{:?}",
        notes.begun
    );
    assert_eq!(notes.begun, notes.ended);
    assert!(
        notes
            .iterations
            .iter()
            .copied()
            .eq(0..=solution.info.iterations)
    );
    assert_eq!(notes.dofs, solution.u.values.len());
    let total = solution.memory.total();
    assert!(total > 8 * 8 * notes.dofs, "{total} bytes");
}

#[test]
fn stopping_before_a_stage_is_clean() {
    let mesh = mesh(Shape::Trilinear, [3, 3, 3]);
    for stage in [
        Stage::Geometry,
        Stage::Operator,
        Stage::Preconditioner,
        Stage::Solve,
    ] {
        let mut notes = Notes {
            stop_before: Some(stage),
            ..Notes::default()
        };
        let error = bump(&mesh)
            .solve::<f64, _>(&host(), &mut notes)
            .expect_err("stopped");
        assert!(
            matches!(error, ProblemError::Interrupted { stage: at } if at == stage),
            "{error}"
        );
        assert!(error.is_interruption());
        assert_eq!(notes.begun, notes.ended);
        assert!(notes.begun.iter().all(|&begun| begun < stage));
    }
}

#[test]
fn what_was_reached_is_kept() {
    let mesh = mesh(Shape::Trilinear, [3, 3, 3]);
    let converged = bump(&mesh)
        .solve::<f64, _>(&host(), &mut ())
        .expect("solved");
    let mut notes = Notes {
        stop_at_iteration: Some(5),
        ..Notes::default()
    };
    let stopped = bump(&mesh)
        .solve::<f64, _>(&host(), &mut notes)
        .expect_err("stopped");
    assert!(stopped.is_interruption());
    assert_eq!(stopped.to_string().split(' ').next(), Some("interrupted"));
    let tired = Problem {
        solver: CgParams {
            max_iterations: 5,
            ..CgParams::default()
        },
        ..bump(&mesh)
    };
    let tired = tired
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("5 iterations are too few");
    assert!(!tired.is_interruption());
    let ProblemError::Unsolved(stopped) = stopped else {
        panic!("{stopped}")
    };
    let ProblemError::Unsolved(tired) = tired else {
        panic!("{tired}")
    };
    assert!(matches!(
        tired.error.failure,
        CgFailure::NotConverged { .. }
    ));
    assert_eq!(
        tired.u.values, stopped.u.values,
        "the fifth iterate of both"
    );
    assert_eq!(
        tired.error.residual_history,
        converged.info.residual_history[..6]
    );
    assert_eq!(tired.error.residual_history, stopped.error.residual_history);
    assert_eq!(tired.errors, stopped.errors);
    // The iterate carries the boundary values, and is no solution yet.
    let free = tired.u.space.free_nodes();
    assert_eq!(tired.u.values[free..], converged.u.values[free..]);
    assert_ne!(tired.u.values[..free], converged.u.values[..free]);
}

#[test]
fn the_diagonal_helps_where_cells_differ() {
    let stretched = |[x, y, z]: [f64; 3]| [x * x * x + 0.05 * x, y, z];
    let mesh = BoxMesh::unit_cube(6).build(stretched).expect("legal");
    let iterations = |preconditioner| {
        let problem = Problem {
            preconditioner,
            degree: 2,
            ..bump(&mesh)
        };
        problem
            .solve::<f64, _>(&host(), &mut ())
            .expect("solved")
            .info
            .iterations
    };
    let [jacobi, none] = [PreconditionerKind::Jacobi, PreconditionerKind::None].map(iterations);
    assert!(3 * jacobi < 2 * none, "{jacobi} with, {none} without");
}

#[test]
fn the_null_device_goes_all_the_way() {
    let mesh = mesh(Shape::Trilinear, [2, 2, 2]);
    let null = Null::default();
    let solver = CgParams {
        max_iterations: 3,
        ..CgParams::default()
    };
    let problem = Problem {
        solver,
        ..bump(&mesh)
    };
    assert!(problem.assemble::<f64, _>(&null, &mut ()).is_ok());
    assert!(problem.assemble::<f32, _>(&null, &mut ()).is_ok());
}

/// The points of an output grid are where the geometry has them, and carry the function.
#[test]
fn output_grids_are_equispaced_and_carry_the_solution() {
    for shape in SHAPES {
        let mesh = mesh(shape, [3, 2, 2]);
        for degree in [2, 5] {
            let problem = Problem {
                degree,
                source: &0.0,
                ..bump(&mesh)
            };
            let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
            let grid = LagrangeGrid::new(&u);
            assert_eq!(grid.cells.len(), u.space.element_dofs());
            assert_eq!(grid.points.len(), u.values.len(), "neighbours share points");
            let n = degree + 1;
            let mut points = Vec::new();
            let nodes = femto::fem::io::vtu::equispaced(degree);
            for (cell, &number) in grid.cells.chunks_exact(n * n * n).zip(u.space.cells()) {
                u.geometry
                    .node_positions(number as usize, &nodes, &mut points);
                for (&point, expected) in cell.iter().zip(&points) {
                    let found = grid.points[point as usize];
                    let far = (0..3)
                        .map(|c| (found[c] - expected[c]).abs())
                        .fold(0.0, f64::max);
                    assert!(far < 1e-14, "{shape:?} degree {degree}: {far:e}");
                    let error = (grid.values[point as usize] - linear(found)).abs();
                    assert!(error < 1e-6, "{shape:?} degree {degree}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn solutions_are_written_with_fields_and_tags() {
    let mesh = mesh(Shape::Curved, [2, 2, 2]);
    let u = bump(&mesh)
        .solve::<f64, _>(&host(), &mut ())
        .expect("solved")
        .u;
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("problem.vtu");
    let fields = [
        ("u", OutputField::Solution),
        ("exact", OutputField::Function(&linear)),
        ("error", OutputField::Error(&linear)),
    ];
    write_solution(&path, &mesh, &u, &fields, 0.0).expect("written");
    let bytes = std::fs::read(&path).expect("readable");
    let xml = String::from_utf8_lossy(&bytes);
    for name in ["u", "exact", "error", "tag", "cell"] {
        assert!(xml.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    let twice = [fields[0], fields[0]];
    assert!(write_solution(&path, &mesh, &u, &twice, 0.0).is_err());
}

#[test]
fn loads_of_several_components_are_refused() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let params = SpaceParams {
        components: 3,
        dirichlet: vec!["xmin".to_owned()],
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).unwrap();
    let on = Discretization {
        space: &space,
        geometry: &geometry,
        quadrature: Quadrature::default(),
        time: 0.0,
    };
    let one = &1.0;
    let mut b = vec![0.0; space.dofs()];
    let exact = Exact {
        value: one,
        gradient: None,
    };
    let refused = [
        on.source(one).err(),
        on.neumann("xmax", one, &mut b).err(),
        on.boundary_values(&[("xmin", one)]).err(),
        on.errors(&b, exact).err(),
    ];
    for error in refused {
        assert!(
            matches!(error, Some(ProblemError::Components { components: 3 })),
            "{error:?}"
        );
    }
}
