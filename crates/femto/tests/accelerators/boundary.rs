//! Boundary values and Neumann integrals on accelerators against the host: hexahedra, tetrahedra and
//! triangles, scalars and vectors, functions of time.

use crate::accelerator;
use crate::common::{Random, Shape, difference, mesh};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::simplex_box::SimplexBox;
use femto::fem::space::{Constraints, Space, SpaceParams};
use femto::kernel::expr::{Graph, Program, Symbols, parse};
use femto::kernel::form::{NonlinearDiffusion, Poisson};
use femto::operator::Backend;
use femto::problem::{Boundary, Discretization, Expression, Function, Problem, ProblemError};
use femto::vector::VectorOps;
use femto::{Host, OperatorParams, Quadrature};
use std::sync::atomic::{AtomicUsize, Ordering};

fn expression(text: &str) -> Expression {
    let mut graph = Graph::new();
    let value = parse(&mut graph, text, &Symbols::position().and_time()).unwrap();
    Expression::new(&graph, value).unwrap()
}

/// Functions of everything; random times make them different in every run.
const FUNCTIONS: [&str; 3] = [
    "sin(3*t*x)*exp(-y) + t*z^2",
    "sqrt(x^2 + y^2 + t) - cos(t*z)",
    "tanh(t*x)/(1 + y*z) - ln(t + y)",
];

/// An expression that notes how many values are asked of it on the host.
struct Noted(Expression, AtomicUsize);

impl Function for Noted {
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]) {
        self.1.fetch_add(positions.len(), Ordering::Relaxed);
        self.0.evaluate(positions, time, values);
    }

    fn as_program(&self) -> Option<Program> {
        self.0.as_program()
    }
}

/// The same function without a program, which only the host can evaluate.
struct Closed<'a>(&'a Expression);

impl Function for Closed<'_> {
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]) {
        self.0.evaluate(positions, time, values);
    }
}

fn meshes() -> [(&'static str, Mesh); 4] {
    let triangles = SimplexBox {
        geometry_degree: 2,
        irregular: Some(7),
        ..SimplexBox::<2>::unit_square(5)
    };
    let tetrahedra = SimplexBox {
        geometry_degree: 2,
        irregular: Some(5),
        ..SimplexBox::<3>::unit_cube(3)
    };
    let bent = |[x, y]: [f64; 2]| [x + 0.02 * (3.0 * y).sin(), 1.3 * y];
    let wavy = |[x, y, z]: [f64; 3]| [x, y + 0.02 * (3.0 * z).sin(), z];
    [
        ("trilinear hexahedra", mesh(Shape::Trilinear, [3, 2, 2])),
        ("curved hexahedra", mesh(Shape::Curved, [2, 3, 2])),
        ("triangles", triangles.build(bent).unwrap()),
        ("tetrahedra", tetrahedra.build(wavy).unwrap()),
    ]
}

/// What a device makes of functions on the sides x = 0 (and y = 0) and x = 1 (and y = 1).
fn on_sides<B: Backend + VectorOps<f64>>(
    device: &B,
    on: &Discretization<'_>,
    f: &[&dyn Function],
) -> [Vec<f64>; 2] {
    let mut b = vec![0.0; on.space.dofs()];
    for side in ["xmax", "ymax"] {
        on.neumann(device, side, f, &mut b).unwrap();
    }
    let given: Vec<_> = f.iter().copied().map(Some).collect();
    let groups = [("xmin", &given[..]), ("ymin", &given[..])];
    let held = Constraints::of_all_components(on.space, &["xmin", "ymin"]).unwrap();
    [b, on.boundary_values(device, &held, &groups).unwrap()]
}

#[test]
fn boundary_data_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mut random = Random::new();
    for (what, mesh) in meshes() {
        let geometry = Geometry::new(&mesh).unwrap();
        for (degree, components) in [(1, 1), (2, 3), (3, 2)] {
            let params = SpaceParams {
                degree,
                components,
                ..SpaceParams::default()
            };
            let space = Space::new(&mesh, &geometry, params).unwrap();
            let on = Discretization {
                space: &space,
                geometry: &geometry,
                quadrature: Quadrature::default(),
                time: 1.5 + random.next(),
            };
            let functions = FUNCTIONS[..components].iter();
            let functions = functions.map(|text| Noted(expression(text), AtomicUsize::new(0)));
            let noted: Vec<Noted> = functions.collect();
            let closed: Vec<Closed<'_>> = noted.iter().map(|f| Closed(&f.0)).collect();
            let noted_f: Vec<&dyn Function> = noted.iter().map(|f| f as _).collect();
            let closed_f: Vec<&dyn Function> = closed.iter().map(|f| f as _).collect();
            let wanted = on_sides(&host, &on, &closed_f);
            let found = on_sides(&device, &on, &noted_f);
            let asked = noted.iter().map(|f| f.1.load(Ordering::Relaxed));
            assert_eq!(asked.sum::<usize>(), 0, "the device evaluates");
            for (found, wanted) in found.iter().zip(&wanted) {
                let error = difference(found, wanted);
                assert!(error < 1e-13, "{what}, degree {degree}: {error:e}");
            }
            assert_eq!(on_sides(&device, &on, &noted_f), found, "deterministic");
            // Where the host evaluates, the device integrates all the same.
            let closed = on_sides(&device, &on, &closed_f);
            let error = difference(&closed[0], &wanted[0]);
            assert!(error < 1e-13, "{what}, degree {degree}: {error:e}");
            assert_eq!(closed[1], wanted[1]);
        }
    }
}

/// A number, an expression and a closure are components of one vector.
#[test]
fn components_may_be_of_any_kind() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mesh = mesh(Shape::Trilinear, [2, 2, 2]);
    let geometry = Geometry::new(&mesh).unwrap();
    let params = SpaceParams {
        degree: 2,
        components: 4,
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).unwrap();
    let on = Discretization {
        space: &space,
        geometry: &geometry,
        quadrature: Quadrature::default(),
        time: 0.25,
    };
    let moving = expression("x*t + cos(y)");
    let closure = |[x, _, z]: [f64; 3]| x - z;
    let f: [&dyn Function; 4] = [&2.5, &moving, &closure, &0.0];
    let (found, wanted) = (on_sides(&device, &on, &f), on_sides(&host, &on, &f));
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!(difference(found, wanted) < 1e-13);
        assert!(found.iter().skip(3).step_by(4).all(|&value| value == 0.0));
        assert!(found.iter().step_by(4).any(|&value| value != 0.0));
    }
}

/// A problem with a value on y = 0, a flux on y = 1, a start.
fn given<'a>(mesh: &'a Mesh, values: [Option<&'a dyn Function>; 3]) -> Problem<'a> {
    let [dirichlet, neumann, start] = values;
    let neumann = neumann.map(|g| Boundary::new("ymax", g));
    Problem {
        dirichlet: vec![Boundary::new("ymin", dirichlet.unwrap_or(&0.0))],
        neumann: neumann.into_iter().collect(),
        start: start.map(|start| vec![start]),
        ..Problem::new(mesh, 2, Poisson)
    }
}

#[test]
fn values_that_are_none_are_named_as_on_the_host() {
    let Some(device) = accelerator() else { return };
    let mesh = mesh(Shape::Trilinear, [2, 2, 2]);
    // In the middle of the sides y = 0 and y = 1.
    let bad = expression("1/(t - 1) + ln((x - 0.5)^2 - 0.01)");
    for (values, what) in [
        (
            [Some(&bad as &dyn Function), None, None],
            "the boundary value on `ymin`",
        ),
        ([None, Some(&bad), None], "the flux on `ymax`"),
        ([None, None, Some(&bad)], "the start"),
    ] {
        let problem = given(&mesh, values);
        let host = Host::with_threads(1).unwrap();
        let wanted = problem.assemble::<f64, _>(&host, &mut ()).err().unwrap();
        let found = problem.assemble::<f64, _>(&device, &mut ()).err().unwrap();
        assert!(matches!(found, ProblemError::NotFinite { .. }), "{found}");
        let message = found.to_string();
        assert!(
            message.starts_with(&format!("{what} is NaN at [")),
            "{message}"
        );
        assert_eq!(message, wanted.to_string());
    }
}

/// Problems with moving boundary data, linear and not: their equations and their solutions.
#[test]
fn problems_with_boundary_data_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let (wall, flux) = (expression("sin(x + t)*z"), expression("t*y - exp(z)"));
    let mesh = mesh(Shape::Curved, [3, 2, 2]);
    for time in [0.5, 0.75] {
        let operator = OperatorParams {
            time,
            ..OperatorParams::default()
        };
        let linear = Problem {
            neumann: vec![Boundary::new("zmax", &flux)],
            dirichlet: vec![Boundary::new("xmin", &wall)],
            operator: operator.clone(),
            ..Problem::new(&mesh, 2, Poisson)
        };
        let right_hand_sides = [
            linear
                .assemble::<f64, _>(&host, &mut ())
                .unwrap()
                .right_hand_side()
                .to_vec(),
            linear
                .assemble::<f64, _>(&device, &mut ())
                .unwrap()
                .right_hand_side()
                .to_vec(),
        ];
        let error = difference(&right_hand_sides[1], &right_hand_sides[0]);
        assert!(error < 1e-13, "{error:e}");
        let nonlinear = Problem {
            neumann: vec![Boundary::new("zmax", &flux)],
            dirichlet: vec![Boundary::new("xmin", &wall)],
            start: Some(vec![&wall]),
            operator,
            ..Problem::new(&mesh, 2, NonlinearDiffusion::default())
        };
        let on_host = nonlinear.solve::<f64, _>(&host, &mut ()).unwrap();
        let there = nonlinear.solve::<f64, _>(&device, &mut ()).unwrap();
        let error = difference(&there.u.values, &on_host.u.values);
        assert!(error < 1e-7, "{error:e}");
    }
}
